"""Heuristics on random subsets, and local entropy: against the definitions in plain words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.strategies.players as subset_module
from bnmind.errors import BnmindError, InvalidArgumentError, UnknownNameError
from bnmind.lab import CodeMaker, Revealed, play_game
from bnmind.mastermind import (
    Board,
    Channel,
    Reply,
    SampledBelief,
    Turn,
    parse_noise,
    reply,
)
from bnmind.strategies import (
    Among,
    EntropyLeft,
    LocalEntropy,
    MostParts,
    Myopic,
    RandomCode,
    Subset,
    Ties,
    average_games,
    measure_games,
    open_aabb,
    open_aabc,
    strategy_by_name,
)
from bnmind.strategies.best_guess import class_sizes
from bnmind.strategies.players import MAX_SUBSET, SUBSET_SCORES, random_subset
from tests.mastermind.generators import all_boards, boards, codes
from tests.modes import UNCOMPILED, examples
from tests.strategies.test_myopic import SCORES, judged

Code = tuple[int, ...]


def possible_codes(board: Board, history: Sequence[Turn]) -> list[Code]:
    """Return the codes that agree with all replies."""
    every = [board.code(index) for index in range(board.n_codes)]
    return [c for c in every if all(reply(turn.guess, c) == turn.reply for turn in history)]


@given(boards(64), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_the_guess_is_the_best_of_the_subset(board: Board, data: st.DataObject) -> None:
    score = data.draw(st.sampled_from(SCORES))
    size, seed = data.draw(st.integers(1, 12)), data.draw(st.integers(0, 2**32 - 1))
    strategy = Subset(score=score, size=size)
    belief = strategy.start(Channel.exact(board).revealed())
    opening, _ = strategy.choose(belief, np.random.default_rng(seed))
    assert board.code(opening) == open_aabc(board)
    secret = data.draw(codes(board).filter(lambda code: code != open_aabc(board)))
    belief = belief.update(board.code(opening), reply(board.code(opening), secret))
    guess, info = strategy.choose(belief, np.random.default_rng(seed))
    subset = random_subset(belief, size, np.random.default_rng(seed))
    listed = [tuple(int(color) for color in code) for code in subset]
    possible = possible_codes(board, belief.history)
    assert len(set(listed)) == len(listed) == min(size, len(possible)) == info.evaluated
    assert set(listed) <= set(possible)
    keys = {code: judged(score, code, listed) for code in listed}
    tied = [code for code in listed if keys[code] == min(keys.values())]
    assert board.code(guess) in tied
    assert info.tied == len(tied)


@given(boards(), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_class_sizes_are_counted_one_by_one(board: Board, data: st.DataObject) -> None:
    some = data.draw(st.lists(codes(board), min_size=1, max_size=9, unique=True))
    sizes = class_sizes(board, np.array(some, dtype=np.uint8))
    for guess, row in zip(some, sizes, strict=True):
        counts = Counter(reply(guess, code) for code in some)
        assert row.tolist() == [counts[answer] for answer in board.true_replies]


def test_all_subsets_are_equally_probable() -> None:
    strategy = Subset(score=MostParts())
    belief = strategy.start(Channel.exact(Board(2, 4)).revealed()).update((1, 1), Reply(1, 0))
    drawn = Counter(
        tuple(sorted(map(tuple, random_subset(belief, 2, np.random.default_rng(seed)).tolist())))
        for seed in range(900)
    )
    assert len(drawn) == math.comb(6, 2)  # six codes are possible
    assert max(abs(n - 60) for n in drawn.values()) < 5 * 60**0.5


def test_a_subset_of_all_codes_is_the_heuristic_on_all() -> None:
    board = Board(3, 4)
    everything = Subset(score=EntropyLeft(), size=64)
    exact = average_games(strategy_by_name("subset:all:entropy"), board)
    games = 100 if UNCOMPILED else 400
    played = measure_games(everything, board, games=games, seed=2)
    assert abs(played.mean - exact.mean) < 4 * exact.sd / games**0.5


@pytest.mark.parametrize(
    "board", [Board(6, 9), pytest.param(Board(6, 12), marks=pytest.mark.slow)], ids=str
)
def test_a_large_board_is_played_from_samples(
    board: Board, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subset_module, "MAX_LISTED", 1000)
    strategy = Subset(score=EntropyLeft(), size=30)
    belief = strategy.start(Channel.exact(board).revealed())
    assert isinstance(belief, SampledBelief)
    secret = (7, 1, 8, 3, 3, 9)
    guesses = []
    for _ in range(3):
        guess, info = strategy.choose(belief, np.random.default_rng(5))
        code = board.code(guess)
        guesses.append(code)
        assert all(reply(turn.guess, code) == turn.reply for turn in belief.history)
        belief = belief.update(code, reply(code, secret))
    assert len(set(guesses)) == 3
    assert info.evaluated == 30


def test_the_family_is_parsed() -> None:
    strategy = strategy_by_name("subset:30:most-parts")
    assert strategy == Subset(score=MostParts(), size=30, name="subset:30:most-parts")
    assert strategy_by_name("subset") == Subset(score=EntropyLeft(), size=20)
    heuristic = strategy_by_name("subset:all:neuwirth")
    assert isinstance(heuristic, Myopic)
    assert (heuristic.among, heuristic.ties) == (Among.POSSIBLE, Ties.RANDOM)
    assert heuristic.first_guess(Board(4, 6)) == (1, 1, 2, 3)
    for score in SUBSET_SCORES:
        assert strategy_by_name(f"subset:7:{score}").name == f"subset:7:{score}"
    assert strategy_by_name("random-consistent") == RandomCode("random-consistent")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("subset:0:entropy", "size to be a whole number from 1 to 1,000, got 0"),
        (f"subset:{MAX_SUBSET + 1}:entropy", "got 1001"),
        ("subset:20:entrpy", "got 'entrpy'; did you mean entropy"),
        ("subset:20:", "expected a score among entropy, most-parts"),
        ("subset:20", "a number of codes, or all, and a score, such as 20:entropy"),
        ("subset:x:entropy", "a number of codes, or all, and a score"),
        ("subset:-5:entropy", "a number of codes, or all, and a score"),
        (f"subset:{'9' * 5000}:entropy", "a number of codes, or all, and a score"),
        ("subset:nothing", "a number of codes, or all, and a score"),
        ("subset:", "did you mean subset"),
        ("subset:20:entropy:more", "got 'entropy:more'"),
    ],
)
def test_wrong_names_of_subsets_say_what_is_wrong(name: str, message: str) -> None:
    with pytest.raises(BnmindError) as caught:
        strategy_by_name(name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_modules_of_the_same_name_are_still_found(
    tmp_path: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "subset.py").write_text("from bnmind.strategies import Knuth as Mine\n")  # type: ignore[operator]
    monkeypatch.chdir(str(tmp_path))
    assert strategy_by_name("subset:Mine").name == "knuth"
    assert strategy_by_name("subset:20:entropy").name == "subset:20:entropy"
    with pytest.raises(UnknownNameError):
        strategy_by_name("subset:Other")


def test_sizes_out_of_range_are_refused() -> None:
    for size in (0, -1, MAX_SUBSET + 1):
        with pytest.raises(InvalidArgumentError, match=f"got {size}"):
            Subset(score=MostParts(), size=size)


def shannon(pegs: Sequence[int]) -> float:
    """Return the entropy of a color drawn from some pegs, in bits."""
    shares = [count / len(pegs) for count in Counter(pegs).values()]
    return -sum(share * math.log2(share) for share in shares)


@given(boards(256), st.data())
@settings(max_examples=examples(40), deadline=None)
def test_local_entropy_is_that_of_all_pegs(board: Board, data: st.DataObject) -> None:
    strategy = LocalEntropy()
    belief = strategy.start(Channel.exact(board).revealed())
    secret = data.draw(codes(board))
    guesses = data.draw(st.lists(codes(board).filter(lambda c: c != secret), max_size=3))
    for guess in (open_aabc(board), *guesses):
        if guess != secret:
            belief = belief.update(guess, reply(guess, secret))
    if not belief.history:
        return
    index, info = strategy.choose(belief, np.random.default_rng(0))
    before = [color for turn in belief.history for color in turn.guess]
    possible = possible_codes(board, belief.history)
    entropies = {code: shannon([*before, *code]) for code in possible}
    best = max(entropies.values())
    assert entropies[board.code(index)] == pytest.approx(best, abs=1e-9)
    assert info.score == pytest.approx(best, abs=1e-7)
    assert info.tied == sum(best - entropy < 1e-9 for entropy in entropies.values())
    assert info.evaluated == len(possible)


def test_games_of_local_entropy_have_the_exact_mean() -> None:
    board, games = Board(3, 4), 100 if UNCOMPILED else 400
    for opening in (open_aabc, open_aabb):
        strategy = LocalEntropy(opening=opening)
        exact = average_games(strategy, board)
        played = measure_games(strategy, board, games=games, seed=8)
        assert abs(played.mean - exact.mean) < 4 * exact.sd / games**0.5


@pytest.mark.parametrize("name", ["subset:5:entropy", "subset:all:worst-case", "local-entropy"])
@pytest.mark.parametrize("noise", ["false:0.3", "independent:0.3"])
def test_noisy_games_end(name: str, noise: str) -> None:
    channel = parse_noise(Board(3, 4), noise).revealed()
    won = [
        play_game(strategy_by_name(name), CodeMaker.from_seed(channel, seed)).won
        for seed in range(5)
    ]
    assert all(won)
    assert Revealed().limit > 20


@pytest.mark.parametrize(("opening", "most"), [(open_aabb, 2), (open_aabc, 3)])
def test_openings_fit_every_board(opening: Callable[[Board], Code], most: int) -> None:
    for board in [*all_boards(10**6), Board(8, 12), Board(12, 4)]:
        code, left = board.checked(opening(board)), board.pegs
        assert list(code) == sorted(code)
        for color in range(1, most) if board.repeats else ():
            # Each color takes half of the pegs that are left, and the last one all of them.
            taken = left if color == board.colors else math.ceil(left / 2)
            assert code.count(color) == taken
            left -= taken
        assert code.count(most) == left if board.repeats else len(set(code)) == board.pegs
