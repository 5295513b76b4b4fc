"""Myopic scores: keys by definition, terms as whole numbers, and weights."""

from __future__ import annotations

import json
import math
import pickle
from collections import Counter
from decimal import Decimal, localcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import BnmindError, ImpossibleEvidenceError, InvalidArgumentError, ModelFileError
from bnmind.information import information
from bnmind.mastermind import (
    Board,
    Channel,
    Method,
    Reply,
    Turn,
    parse_history,
    plan_masses,
    reply,
    reply_masses,
)
from bnmind.strategies import (
    ClassTerms,
    Combination,
    EntropyLeft,
    ExpectedSize,
    Larmouth,
    MostParts,
    Myopic,
    WeightedEntropy,
    WorstCase,
    build_tree,
    equal_weights,
    fit_weights,
    read_weights,
    regrets,
    strategy_by_name,
    weighted_entropy,
    write_weights,
)
from bnmind.strategies.scores import (
    entropy_terms,
    expected_sizes,
    fixed_point_bits,
    parts,
    worst_cases,
)
from tests.mastermind.generators import codes
from tests.modes import examples

# --- Scores as whole numbers: logarithms to the last bit, and what keys refuse --------------------


@pytest.mark.parametrize("bits", [20, 32, 40])
def test_logarithms_of_primes_are_rounded_correctly(bits: int) -> None:
    table = entropy_terms(2000, bits)
    with localcontext() as context:
        context.prec = 60
        for p in (2, 3, 5, 7, 11, 13, 97, 101, 641, 997, 1999):
            exact = Decimal(p).ln() / Decimal(2).ln() * 2**bits
            assert table[p] == p * int(exact.to_integral_value())


def test_a_doubtful_logarithm_is_computed_digit_by_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = entropy_terms(300, 38).tolist()
    entropy_terms.cache_clear()
    monkeypatch.setattr("bnmind.strategies.scores.math.ldexp", lambda x, n: 0.5)
    assert entropy_terms(300, 38).tolist() == expected
    monkeypatch.undo()
    entropy_terms.cache_clear()


@given(st.lists(st.integers(1, 60), min_size=1, max_size=14), st.data())
@settings(max_examples=examples(150))
def test_keys_compare_as_the_products_do(classes: list[int], data: st.DataObject) -> None:
    """Π nⁿ as whole numbers, of any two partitions of the same number."""
    left = sum(classes)
    other: list[int] = []
    while left:
        least = max(1, left - 60 * (13 - len(other)))  # the others take 60 at most
        other.append(data.draw(st.integers(least, min(60, left))))
        left -= other[-1]
    table = entropy_terms(60, fixed_point_bits(1296))
    products = [math.prod(n**n for n in each) for each in (classes, other)]
    keys = [int(table[each].sum()) for each in (classes, other)]
    assert (keys[0] < keys[1]) == (products[0] < products[1])
    assert (keys[0] == keys[1]) == (products[0] == products[1])


def test_equal_products_with_different_factors_tie() -> None:
    table = entropy_terms(12, 40)
    assert table[4] == 4 * table[2]  # 4⁴ = (2²)⁴
    # 12¹² = 2²⁴·3¹²: as 2² twelve times and 3³ four times.
    assert table[12] == 12 * table[2] + 4 * table[3]


@pytest.mark.parametrize("codes", [2, 1296, 32768, 2**17, 2**27])
@pytest.mark.parametrize("weight", [1, 9999])
def test_sums_fit_63_bits(codes: int, weight: int) -> None:
    bits = fixed_point_bits(codes, largest_weight=weight)
    assert bits >= 10
    assert codes * math.log2(codes) * weight * 2**bits < 2**62


def test_larmouths_correction_is_a_factor_of_four() -> None:
    board, n = Board(4, 6), len(Board(4, 6).true_replies)
    classes = np.zeros((2, n), dtype=np.int64)
    classes[0, :2], classes[1, [0, 1, -1]] = [2, 3], [2, 2, 1]
    keys = Larmouth().terms(board, 5).keys(classes, 0)
    plain = EntropyLeft().terms(board, 5).keys(classes, 0)
    assert keys[0] == plain[0]
    assert plain[1] - keys[1] == plain[1] // 2  # 2²·2² = 4²
    assert Larmouth().shown(board, int(keys[1]), 5) == 2 / 5


def test_cells_are_compared_one_after_the_other() -> None:
    classes = np.zeros((5, 5), dtype=np.int64)
    classes[:, :3] = [[3, 3, 2], [3, 4, 1], [2, 3, 3], [3, 5, 0], [4, 1, 3]]
    board = Board(2, 3)
    terms = WorstCase(next_largest=True).terms(board, 8)
    assert terms.combination is Combination.SORTED
    assert terms.best(classes, 0).tolist() == [0, 2]
    assert terms.best(classes[[1, 3, 4]], 0).tolist() == [0, 2]
    assert WorstCase().terms(board, 8).best(classes[[1, 4]], 0).tolist() == [0, 1]


def test_uninformative_guesses_are_not_best() -> None:
    board = Board(1, 3)
    terms = ClassTerms(np.zeros(4, dtype=np.int64), equal_weights(board))
    assert terms.best(np.array([[3, 0], [2, 1], [0, 3]]), 0).tolist() == [1]
    assert terms.best(np.array([[3, 0], [0, 3]]), 0).tolist() == [0, 1]


def test_terms_are_values_and_checked() -> None:
    ones = np.ones((1, 3), dtype=np.int64)
    terms = ClassTerms(np.array([0, 0, 2]), ones, -1)
    again = pickle.loads(pickle.dumps(terms))
    assert again.sizes.tolist() == [0, 0, 2]
    with pytest.raises(ValueError, match="read-only"):
        terms.sizes[0] = 1
    with pytest.raises(BnmindError, match=r"weights to be .* of at least 0, got -1 in it"):
        ClassTerms(np.array([0, 1, 0]), -ones)
    with pytest.raises(BnmindError, match=r"by turn and reply.*never decrease"):
        ClassTerms(np.array([0, 1, 0]), ones[0])


# --- The myopic scores of all guesses at once, against their definitions on cells of codes --------


@settings(max_examples=examples(25))
@given(
    st.sampled_from([Board(2, 3), Board(3, 3), Board(3, 4, repeats=False)]),
    st.sampled_from([Method.BRUTE_FORCE, Method.ELIMINATION]),
    st.integers(0, 2**32 - 1),
)
def test_scores_are_those_of_the_cells(board: Board, method: Method, seed: int) -> None:
    possible = np.random.default_rng(seed).random(board.n_codes) < 0.5
    possible[0] = True
    counts = possible.astype(np.float64)
    masses = plan_masses(board, counts, method=method).run(counts)
    n = int(possible.sum())
    codes = [board.code(int(i)) for i in np.flatnonzero(possible)]
    told = information(masses / n, np.eye(masses.shape[1]))
    for guess in range(board.n_codes):
        cells = Counter(reply(board.code(guess), code) for code in codes).values()
        # Whole numbers, exact whatever the method.
        assert worst_cases(masses)[guess] == max(cells)
        assert expected_sizes(masses)[guess] == sum(size**2 for size in cells)
        assert parts(masses)[guess] == len(cells)
        entropy = -sum(size / n * math.log2(size / n) for size in cells)
        assert told[guess] == pytest.approx(entropy, abs=1e-12)


# --- Weighted entropy, its files, its fit; and the regrets of a game ------------------------------


BOARD = Board(3, 4)
N_REPLIES = len(BOARD.true_replies)


@given(st.lists(st.integers(0, 9999), min_size=N_REPLIES, max_size=N_REPLIES), st.data())
@settings(max_examples=examples(40))
def test_the_score_agrees_with_its_formula(weights: list[int], data: st.DataObject) -> None:
    score = WeightedEntropy(BOARD, (tuple(weights),))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    possible = rng.random(BOARD.n_codes) < 0.4
    possible[0] = True
    n = int(possible.sum())
    cells = reply_masses(BOARD, possible.astype(float))
    keys = score.terms(BOARD, BOARD.n_codes).keys(cells, 0)
    for row, key in zip(cells.tolist(), keys.tolist(), strict=True):
        both = zip(weights, row, strict=True)
        told = sum(w / 1000 * c / n * math.log2(n / c) for w, c in both if c)
        assert score.shown(BOARD, key, n) == pytest.approx(told, abs=1e-6)


def test_equal_weights_are_the_entropy() -> None:
    for board in (BOARD, Board(4, 6)):
        exact = Channel.exact(board)
        neuwirth = build_tree(Myopic(EntropyLeft()), exact)
        weights = ((500,) * len(board.true_replies),)
        assert build_tree(Myopic(WeightedEntropy(board, weights)), exact).total == neuwirth.total
    # Where there are no weights for a board.
    tree = build_tree(weighted_entropy(), Channel.exact(BOARD))
    assert tree.total == build_tree(Myopic(EntropyLeft()), Channel.exact(BOARD)).total
    key = 3 << 40
    left = EntropyLeft().shown(BOARD, key, 64)
    assert weighted_entropy().score.shown(BOARD, key, 64) == 6 - left


def test_the_weights_of_the_house() -> None:
    """The least totals known for 4x6 are 5646 with fixed weights and 5636 turn by turn."""
    tree = build_tree(strategy_by_name("weighted-entropy"), Channel.exact(Board(4, 6)))
    assert tree.total == 5635


def test_weights_are_kept_in_files(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    score = WeightedEntropy(BOARD, (tuple(range(N_REPLIES)), (1000,) * N_REPLIES))
    write_weights(score, path)
    assert read_weights(path) == score
    good = path.read_text()
    document = json.loads(good)
    for bad in (
        "{",
        "[]",
        good.replace('"version": 1', '"version": 3'),
        good.replace('"0b0w": 0', '"0b0w": -1'),
        good.replace('"0b0w": 0', '"0b0w": "x"'),
        good.replace('"0b0w"', '"9b0w"'),
        good.replace('"pegs": 3', '"pegs": 0'),
        json.dumps({**document, "weights": []}),
        json.dumps({**document, "weights": 3}),
        json.dumps({**document, "board": {}}),
    ):
        path.write_text(bad)
        with pytest.raises(ModelFileError, match=r"weights\.json"):
            read_weights(path)
    with pytest.raises(ModelFileError, match=r"none\.json"):
        read_weights(tmp_path / "none.json")


def test_weights_are_checked() -> None:
    with pytest.raises(BnmindError, match=f"expected {N_REPLIES} weights for each turn"):
        WeightedEntropy(BOARD, ((1, 2),))
    with pytest.raises(BnmindError, match=r"from 0 to 9,999, got \(\(10000"):
        WeightedEntropy(BOARD, ((10_000,) * N_REPLIES,))


def test_a_fit_respects_its_budget_and_never_gets_worse() -> None:
    told: list[tuple[int, int]] = []
    fitted = fit_weights(
        Board(3, 5),
        turns=2,
        evaluations=40,
        seed=3,
        progress=lambda n, best: told.append((n, best)),
    )
    assert [number for number, _ in told] == list(range(2, 41))
    bests = [best for _, best in told]
    assert bests == sorted(bests, reverse=True)
    assert fitted.total == bests[-1] <= fitted.start
    assert len(fitted.score.weights) == 2
    assert build_tree(Myopic(fitted.score), Channel.exact(Board(3, 5))).total == fitted.total
    assert fit_weights(Board(3, 5), turns=2, evaluations=40, seed=3) == fitted
    onwards = fit_weights(Board(3, 5), turns=3, evaluations=1, start=fitted.score)
    assert onwards.total == fitted.total
    with pytest.raises(BnmindError, match="at least one turn"):
        fit_weights(BOARD, turns=0)
    with pytest.raises(BnmindError, match="initial weights for the board 3x4"):
        fit_weights(BOARD, start=fitted.score)


def test_a_seed_gives_the_same_weights_for_ever() -> None:
    # This search accepts worse totals, and returns from them to the best. Without the one or the
    # other, and with other chances of them, it ends elsewhere.
    fitted = fit_weights(BOARD, turns=2, evaluations=150, seed=215)
    assert (fitted.start, fitted.total) == (208, 207)
    assert fitted.score.weights == (
        (1884, 1000, 916, 1575, 978, 1013, 1006, 908, 553),
        (1000, 989, 816, 885, 1000, 1000, 1000, 1003, 1230),
    )


@given(st.lists(codes(BOARD), min_size=1, max_size=4), codes(BOARD))
@settings(max_examples=examples(25))
def test_regrets_are_differences_of_scores(guesses: list[tuple[int, ...]], secret: object) -> None:
    assert isinstance(secret, tuple)
    turns = [Turn(guess, reply(guess, secret)) for guess in guesses]
    every = [BOARD.code(i) for i in range(BOARD.n_codes)]

    def size(guess: tuple[int, ...], possible: list[tuple[int, ...]]) -> float:
        cells = Counter(reply(guess, code) for code in possible).values()
        return sum(cell * cell for cell in cells) / len(possible)

    possible = every
    for turn, found in zip(turns, regrets(BOARD, turns, ExpectedSize()), strict=True):
        best = min(size(guess, possible) for guess in every)
        assert found.value == pytest.approx(size(turn.guess, possible))
        assert found.best_value == pytest.approx(best)
        assert found.regret == pytest.approx(found.value - best)
        assert found.codes == len(possible)
        assert found.is_possible == (turn.guess in possible)
        possible = [code for code in possible if reply(turn.guess, code) == turn.reply]


def test_regrets_by_each_score() -> None:
    board = Board(4, 6)
    game = parse_history(board, "1111 1b0w, 1234 1b1w, 6666 0b0w")
    for score in (WorstCase(), MostParts(), EntropyLeft(), weighted_entropy().score):
        found = regrets(board, game, score)
        assert all(turn.regret >= 0 for turn in found)
        assert found[0].regret > 0
    with pytest.raises(ImpossibleEvidenceError, match="1111 1b0w, 1111 2b0w"):
        regrets(board, parse_history(board, "1111 1b0w, 1111 2b0w, 1234 0b0w"), WorstCase())
    with pytest.raises(ImpossibleEvidenceError, match="1111 0b0w, 1111 4b0w"):
        regrets(board, parse_history(board, "1111 0b0w, 1111 4b0w"), WorstCase())
    odd = [Turn((1, 1, 1, 1), Reply(3, 1)), Turn((1, 1, 1, 1), Reply(0, 0))]
    with pytest.raises(ImpossibleEvidenceError):
        regrets(board, odd, WorstCase())
    with pytest.raises(InvalidArgumentError):
        regrets(board, [Turn((1, 1, 1), Reply(0, 0))], WorstCase())
