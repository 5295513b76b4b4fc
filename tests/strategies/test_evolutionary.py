"""Evolutionary players: their parts by definition, their play, and published figures."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.errors import InvalidArgumentError
from bnmind.lab.reproductions import published
from bnmind.mastermind import Belief, Board, Channel, HistoryBelief, Reply, Turn, reply
from bnmind.mastermind.random_moves import seeded_state
from bnmind.strategies import (
    STRATEGIES,
    Annealing,
    BernierGenetic,
    BernierRandom,
    Collection,
    ColorRemoval,
    Cooling,
    Effort,
    FixedOpening,
    Genetic,
    GeneticElitist,
    GuessInfo,
    MonochromeProbing,
    Opening,
    PatternOpening,
    Population,
    RandomOpening,
    Rates,
    Selection,
    Setup,
    Situation,
    Strategy,
    annealing_tuned,
    genetic_tuned,
)
from bnmind.strategies.best_guess import reply_classes
from bnmind.strategies.evolutionary import allowed_colors, next_probe
from bnmind.strategies.genetic_operators import (
    PLAYED,
    Choices,
    add_code,
    all_choices,
    breed,
    choices_of,
    code_costs,
    draw_code,
    draw_parent,
    empty_keys,
    fill_distinct,
    invert,
    mutate,
    one_point_crossover,
    permute,
    replies_of,
    selection_weights,
    two_point_crossover,
)
from tests.mastermind.generators import boards, codes, histories
from tests.modes import examples

# --- Colors that true replies exclude, and guesses of a single color ------------------------------


@settings(max_examples=examples(60))
@given(st.data())
def test_only_colors_that_no_possible_code_has_are_removed(data: st.DataObject) -> None:
    board = data.draw(boards(100))
    secret = data.draw(codes(board))
    guesses = data.draw(st.lists(codes(board), max_size=4))
    history = [Turn(guess, reply(guess, secret)) for guess in guesses]
    removal = ColorRemoval(*(data.draw(st.booleans()) for _ in range(3)))
    allowed = allowed_colors(board, history, removal)
    for code in map(board.code, range(board.n_codes)):
        if all(reply(turn.guess, code) == turn.reply for turn in history):
            assert all(allowed[i, color] for i, color in enumerate(code))


def test_each_fact_removes_its_colors() -> None:
    board = Board(3, 5)
    history = [Turn((1, 1, 2), Reply(0, 0)), Turn((3, 4, 4), Reply(0, 1))]
    none = ColorRemoval(absent=False, positions=False)
    assert allowed_colors(board, history, none)[:, 1:].all()
    allowed = allowed_colors(board, history, ColorRemoval())
    assert [list(row.nonzero()[0]) for row in allowed] == [[4, 5], [3, 5], [3, 5]]
    complete = ColorRemoval(absent=False, positions=False, complete=True)
    allowed = allowed_colors(board, [Turn((1, 2, 5), Reply(0, 3))], complete)
    assert [list(row.nonzero()[0]) for row in allowed] == [[1, 2, 5]] * 3


def test_contradictions_remove_nothing() -> None:
    board = Board(2, 3)
    history = [Turn((1, 2), Reply(0, 0)), Turn((3, 3), Reply(0, 0))]
    assert allowed_colors(board, history, ColorRemoval())[:, 1:].all()


@settings(max_examples=examples(50))
@given(st.data())
def test_probing_finds_the_number_of_pegs_of_each_color(data: st.DataObject) -> None:
    board = data.draw(boards(100).filter(lambda board: board.repeats))
    secret = data.draw(codes(board))
    history: list[Turn] = []
    while (probe := next_probe(board, history)) is not None:
        history.append(Turn(probe, reply(probe, secret)))
    assert len(history) < board.colors
    known = {turn.guess[0]: turn.reply.black for turn in history}
    assert all(secret.count(color) == n for color, n in known.items())
    assert len(set(secret) - set(known)) <= 1


def test_probing_is_for_large_boards() -> None:
    probing = MonochromeProbing()
    assert probing.applies_to(Board(15, 20))
    assert not probing.applies_to(Board(14, 20))
    assert not probing.applies_to(Board(15, 19))
    assert not probing.applies_to(Board(15, 20, repeats=False))


# --- Costs compared with the replies of the library, turn by turn ---------------------------------


def plain_cost(code: tuple[int, ...], history: tuple[Turn, ...], *, ends: bool) -> int:
    """Return the cost by its definition."""
    cost, was_played = 0, False
    for turn in history:
        black, white = reply(turn.guess, code)
        cost += abs(black - turn.reply.black) + abs(white - turn.reply.white)
        was_played |= ends and turn.guess == code
    return cost + PLAYED * was_played


@settings(max_examples=examples(60))
@given(st.data())
def test_the_cost_is_the_sum_over_all_turns(data: st.DataObject) -> None:
    board = data.draw(boards())
    history = data.draw(histories(board))
    listed = data.draw(st.lists(codes(board), min_size=1, max_size=5))
    ends = data.draw(st.booleans())
    arrays = replies_of(board, history, ends=ends)
    costs = code_costs(np.array(listed, dtype=np.uint8), arrays)
    assert costs.tolist() == [plain_cost(code, history, ends=ends) for code in listed]


def test_codes_of_cost_zero_agree_with_all_replies() -> None:
    board = Board(3, 5)
    history = [Turn(guess, reply(guess, (3, 1, 5))) for guess in ((1, 1, 2), (4, 1, 1))]
    costs = code_costs(board.codes, replies_of(board, history))
    possible = [
        all(reply(turn.guess, code) == turn.reply for turn in history)
        for code in map(board.code, range(board.n_codes))
    ]
    assert ((costs == 0) == possible).all()


# --- Operators compared with the list of everything that they may return --------------------------


Code = tuple[int, ...]


def state(seed: int) -> NDArray[np.uint64]:
    return seeded_state(np.random.default_rng(seed))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Board, Choices, Code, Code, int]:
    """A board, allowed colors, two codes of allowed colors, and a seed."""
    board = draw(boards())
    mother, father = draw(codes(board)), draw(codes(board))
    allowed = np.zeros((board.pegs, board.colors + 1), dtype=np.bool_)
    if board.repeats:
        extra = draw(st.lists(st.tuples(*[st.integers(0, n - 1) for n in (board.pegs,)])))
        for (position,) in extra:
            allowed[position, draw(st.integers(1, board.colors))] = True
        for i in range(board.pegs):
            allowed[i, [mother[i], father[i]]] = True
    else:
        allowed[:, [*mother, *father]] = True
    return board, choices_of(board, allowed), mother, father, draw(st.integers(0, 2**32))


def changed(code: Code, operator: Callable[..., Any], choices: Choices, seed: int) -> Code:
    result = np.array(code, dtype=np.uint8)
    operator(result, choices, state(seed))
    return tuple(result.tolist())


def child_of(
    mother: Code, father: Code, crossover: Callable[..., Any], choices: Choices, seed: int
) -> Code:
    child = np.zeros(len(mother), dtype=np.uint8)
    crossover(*(np.array(p, dtype=np.uint8) for p in (mother, father)), child, choices, state(seed))
    return tuple(child.tolist())


def is_valid(board: Board, choices: Choices, code: Code) -> bool:
    board.checked(code)
    return all(choices.allowed[i, color] for i, color in enumerate(code))


@settings(max_examples=examples(60))
@given(cases())
def test_random_codes_have_allowed_colors(case: tuple[Board, Choices, Code, Code, int]) -> None:
    board, choices, mother, _, seed = case
    assert is_valid(board, choices, changed(mother, draw_code, choices, seed))


@settings(max_examples=examples(60))
@given(cases())
def test_a_permutation_exchanges_two_pegs(case: tuple[Board, Choices, Code, Code, int]) -> None:
    board, choices, code, _, seed = case
    possible = {exchanged(code, *pair) for pair in combinations(range(board.pegs), 2)} or {code}
    # Where a color is not allowed in its new position, nothing happens.
    possible = {other if is_valid(board, choices, other) else code for other in possible}
    assert changed(code, permute, choices, seed) in possible


def exchanged(code: Code, i: int, j: int) -> Code:
    """Return the code with the colors of two pegs exchanged."""
    pegs = list(code)
    pegs[i], pegs[j] = code[j], code[i]
    return tuple(pegs)


def test_permutations_exchange_every_pair_of_pegs_equally_often() -> None:
    board, n = Board(4, 6), 3000
    choices, random = all_choices(board), state(2)
    counts: Counter[Code] = Counter()
    for _ in range(n):
        code = np.array([1, 2, 3, 4], dtype=np.uint8)
        permute(code, choices, random)
        counts[tuple(code.tolist())] += 1
    expected = {exchanged((1, 2, 3, 4), i, j) for i, j in combinations(range(4), 2)}
    assert set(counts) == expected
    for count in counts.values():
        assert abs(count / n - 1 / 6) < 4 * np.sqrt(5 / 36 / n)


@settings(max_examples=examples(60))
@given(cases())
def test_an_inversion_reverses_some_pegs(case: tuple[Board, Choices, Code, Code, int]) -> None:
    board, choices, code, _, seed = case
    possible = {
        code[:i] + code[i:j][::-1] + code[j:] for j in range(board.pegs + 1) for i in range(j + 1)
    }
    result = changed(code, invert, choices, seed)
    assert result in possible
    assert is_valid(board, choices, result)


@settings(max_examples=examples(60))
@given(cases())
def test_a_mutation_changes_one_peg_or_exchanges_two(
    case: tuple[Board, Choices, Code, Code, int],
) -> None:
    board, choices, code, _, seed = case
    result = changed(code, mutate, choices, seed)
    assert is_valid(board, choices, result)
    differing = sum(a != b for a, b in zip(code, result, strict=True))
    assert differing <= (1 if board.repeats else 2)
    assert board.repeats or differing != 2 or sorted(code) == sorted(result)


def crossed(mother: Code, father: Code) -> tuple[set[Code], set[Code]]:
    """Return all children of one cut, and of two."""
    n = len(mother)
    one = {mother[:cut] + father[cut:] for cut in range(1, max(n, 2))}
    two = {mother[:i] + father[i : j + 1] + mother[j + 1 :] for j in range(n) for i in range(j + 1)}
    return one, two


@settings(max_examples=examples(60))
@given(cases())
def test_a_crossover_takes_every_peg_from_a_parent(
    case: tuple[Board, Choices, Code, Code, int],
) -> None:
    board, choices, mother, father, seed = case
    kinds = (one_point_crossover, two_point_crossover)
    for crossover, possible in zip(kinds, crossed(mother, father), strict=True):
        child = child_of(mother, father, crossover, choices, seed)
        assert is_valid(board, choices, child)
        if board.repeats:
            assert child in possible
        else:
            # The first peg of each color stays; only later ones are repaired.
            assert any(
                all(
                    made == took or took in raw[:i]
                    for i, (made, took) in enumerate(zip(child, raw, strict=True))
                )
                for raw in possible
            )


@settings(max_examples=examples(60))
@given(cases())
def test_children_are_codes_of_allowed_colors(
    case: tuple[Board, Choices, Code, Code, int],
) -> None:
    board, choices, mother, father, seed = case
    rates = Rates(0.5, 0.5, 0.5, 0.5)
    parents = (np.array(mother, dtype=np.uint8), np.array(father, dtype=np.uint8))
    child = np.zeros(board.pegs, dtype=np.uint8)
    breed(parents, child, rates, choices, state(seed))
    assert is_valid(board, choices, tuple(child.tolist()))


def test_rates_are_the_shares_of_the_operators() -> None:
    board = Board(6, 9)
    choices, random = all_choices(board), state(1)
    parent = np.array([1, 2, 3, 4, 5, 6], dtype=np.uint8)
    child = np.zeros(6, dtype=np.uint8)
    n, moved, recolored = 4000, 0, 0
    for _ in range(n):
        breed((parent, parent), child, Rates(0.5, 0.2, 0.1, 0.0), choices, random)
        changed_kind = not np.array_equal(np.sort(child), parent)
        recolored += changed_kind
        moved += not changed_kind and not np.array_equal(child, parent)
    # A mutation leaves the color one time in nine, and a permutation always moves two colors.
    assert abs(recolored / n - 0.2 * 8 / 9) < 4 * np.sqrt(0.16 / n)
    assert abs(moved / n - 0.1 * (1 - 0.2 * 8 / 9)) < 4 * np.sqrt(0.09 / n)


# --- Sets of codes, and chances of parents --------------------------------------------------------


@settings(max_examples=examples(50))
@given(st.data())
def test_a_set_holds_each_code_once(data: st.DataObject) -> None:
    board = data.draw(boards())
    listed = data.draw(st.lists(codes(board), max_size=30))
    keys = empty_keys(30)
    added = [code for code in listed if add_code(keys, np.array(code, dtype=np.uint8))]
    assert added == list(dict.fromkeys(listed))


def test_random_populations_are_distinct_where_the_board_is_large() -> None:
    rows = np.zeros((150, 4), dtype=np.uint8)
    state = seeded_state(np.random.default_rng(0))
    fill_distinct(rows, 0, empty_keys(150), all_choices(Board(4, 6)), state)
    assert len({tuple(row) for row in rows.tolist()}) == 150


def test_parents_are_drawn_with_the_chances_of_the_selection() -> None:
    costs, top = np.array([6, 0, 3, 1], dtype=np.int64), 8
    expected = {
        Selection.UNIFORM: [0.25, 0.25, 0.25, 0.25],
        Selection.PROPORTIONAL: [2 / 22, 8 / 22, 5 / 22, 7 / 22],
        Selection.RANKED: [0.1, 0.4, 0.2, 0.3],
        Selection.BEST_HALF: [0.0, 0.5, 0.0, 0.5],
        Selection.INVERSE: list(np.array([1 / 7, 1, 1 / 4, 1 / 2]) / (1 / 7 + 1.75)),
    }
    for selection, chances in expected.items():
        weights = selection_weights(costs, selection.value, top)
        assert np.allclose(np.diff(weights, prepend=0) / weights[-1], chances)
        state = seeded_state(np.random.default_rng(1))
        drawn = np.bincount([draw_parent(weights, state) for _ in range(2000)], minlength=4)
        assert (np.abs(drawn / 2000 - chances) < 4 * np.sqrt(0.25 / 2000)).all()


# --- Players that search: their guesses, their memory, and their options --------------------------


SMALL = Effort(population=40, generations=30, eligible=20, restarts=3)
PLAYERS: tuple[Strategy, ...] = (
    Genetic(effort=SMALL),
    Genetic(effort=SMALL, keeps=True),
    GeneticElitist(population=40, generations=30),
    BernierRandom(max_codes=20_000),
    BernierGenetic(population=40, max_generations=60),
    Annealing(cooling=Cooling(2.0, 0.3, 500), runs=4),
    Annealing(
        cooling=Cooling(2.0, 0.3, 500),
        runs=40,
        collection=Collection(codes=20, patience=10, keeps=True),
    ),
)
names = pytest.mark.parametrize("player", PLAYERS, ids=lambda player: player.name)


def turns(
    player: Strategy, board: Board, secret: tuple[int, ...], seed: int, *, most: int = 20
) -> list[tuple[tuple[int, ...], GuessInfo]]:
    """Return the guesses of a game with true replies."""
    belief: Belief = player.start(Channel.exact(board).revealed())
    rng, memory = np.random.default_rng(seed), None
    played: list[tuple[tuple[int, ...], GuessInfo]] = []
    while len(played) < most and (not played or played[-1][0] != secret):
        index, info = player.choose(belief, rng, Situation(memory=memory))
        memory = info.memory
        played.append((board.code(index), info))
        if played[-1][0] != secret:
            belief = belief.update(played[-1][0], reply(played[-1][0], secret))
    return played


@pytest.mark.slow
@names
def test_a_guess_of_score_zero_agrees_with_all_replies(player: Strategy) -> None:
    board = Board(4, 5)
    for secret in ((2, 5, 5, 1), (3, 3, 4, 4), (1, 2, 3, 4)):
        played = turns(player, board, secret, 1)
        assert played[-1][0] == secret
        for number, (code, info) in enumerate(played):
            earlier = [guess for guess, _ in played[:number]]
            agrees = all(reply(guess, code) == reply(guess, secret) for guess in earlier)
            assert agrees == (info.score == 0) == (not info.note)
            assert info.evaluated is not None
            assert (info.evaluated > 0) == (number > 0)
            assert code not in earlier


@names
def test_a_seed_determines_the_game(player: Strategy) -> None:
    board = Board(4, 6)
    games = [[guess for guess, _ in turns(player, board, (6, 1, 4, 4), 3)] for _ in range(2)]
    assert games[0] == games[1]


@names
def test_boards_without_repeats_are_played(player: Strategy) -> None:
    board = Board(3, 5, repeats=False)
    assert turns(player, board, (5, 1, 3), 1)[-1][0] == (5, 1, 3)


@names
def test_contradictions_are_played_without_repeating_a_guess(player: Strategy) -> None:
    board = Board(3, 3)
    belief: Belief = HistoryBelief(Channel.false_reply(board, 0.3).revealed())
    rng = np.random.default_rng(2)
    guesses = []
    for number in range(8):
        index, info = player.choose(belief, rng)
        guesses.append(index)
        belief = belief.update(board.code(index), board.true_replies[number % 3])
    assert len(set(guesses)) == len(guesses)
    assert info.score > 0
    assert "agrees with all replies" in info.note


def test_the_population_is_a_frozen_value() -> None:
    codes = np.array([[1, 2, 3], [3, 2, 1]], dtype=np.uint8)
    population = Population.of(Board(3, 3), codes)
    codes[0, 0] = 9
    assert population.codes().tolist() == [[1, 2, 3], [3, 2, 1]]
    assert pickle.loads(pickle.dumps(population)) == population
    with pytest.raises(ValueError, match="read-only"):
        population.codes()[0, 0] = 1


@pytest.mark.parametrize("memory", ["other", Population(Board(3, 9), bytes([9] * 450)), None])
def test_a_foreign_memory_is_ignored(memory: object) -> None:
    for player in (PLAYERS[1], PLAYERS[4], PLAYERS[6]):
        belief: Belief = player.start(Channel.exact(Board(3, 4)).revealed())
        belief = belief.update((1, 1, 2), reply((1, 1, 2), (3, 2, 4)))
        index, _ = player.choose(belief, np.random.default_rng(0), Situation(memory=memory))
        assert reply((1, 1, 2), belief.board.code(index)) == reply((1, 1, 2), (3, 2, 4))


def test_openings() -> None:
    rng = np.random.default_rng(0)
    pattern = PatternOpening()
    assert pattern.guess(Board(4, 6), rng) == (1, 1, 2, 3)
    assert pattern.guess(Board(8, 12), rng) == (1, 1, 2, 2, 3, 3, 4, 5)
    assert pattern.guess(Board(10, 12), rng) == (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    assert pattern.guess(Board(1, 2), rng) == (1,)
    assert pattern.guess(Board(7, 2), rng) == (1, 1, 1, 1, 2, 2, 2)
    assert pattern.guess(Board(3, 4, repeats=False), rng) == (1, 2, 3)
    for board in (Board(3, 3), Board(3, 3, repeats=False)):
        opened = {RandomOpening().guess(board, rng) for _ in range(300)}
        assert len(opened) == board.n_codes
    opening = FixedOpening((2, 2, 1))
    assert opening.guess(Board(3, 3), rng) == (2, 2, 1)
    with pytest.raises(InvalidArgumentError):
        FixedOpening(3)  # type: ignore[arg-type]


def test_large_boards_are_probed_color_by_color() -> None:
    setup = Setup(probing=MonochromeProbing(pegs=4, colors=5))
    player = GeneticElitist(population=60, generations=40, setup=setup)
    played = turns(player, Board(4, 5), (4, 2, 2, 4), 0)
    assert [code for code, _ in played[:4]] == [(n,) * 4 for n in (1, 2, 3, 4)]
    assert played[-1][0] == (4, 2, 2, 4)
    noisy = player.start(Channel.false_reply(Board(4, 5), 0.2).revealed())
    assert noisy.board.code(player.choose(noisy, np.random.default_rng(0))[0]) == (1, 1, 2, 3)


def test_reply_classes_are_counts_of_replies() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(1, 6, size=(30, 4)).astype(np.uint8)
    classes = reply_classes(codes, 7, 5)
    for guess, row in zip(codes.tolist(), classes, strict=False):
        expected = np.zeros(25, dtype=np.int64)
        for code in codes.tolist():
            black, white = reply(guess, code)
            expected[(black + white) * 5 + black] += 1
        assert row.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            lambda: Effort(population=0, eligible=-1),
            "population .* 0; .* eligible .* -1",
        ),
        (lambda: Genetic(rates=Rates(mutation=1.5)), "rate of mutation from 0 to 1, got 1.5"),
        (lambda: GeneticElitist(elite=-0.1), "elite to be a number from 0 to 1"),
        (lambda: GeneticElitist(generations=0), "generations .* at least 1, got 0"),
        (lambda: BernierRandom(max_codes=0), "max_codes .* at least 1, got 0"),
        (lambda: BernierGenetic(patience=0), "patience .* at least 1, got 0"),
        (lambda: Annealing(runs=0), "runs .* at least 1, got 0"),
        (lambda: Collection(codes=0, guesses=0), "codes .* 1, got 0; expected guesses .* 1, got 0"),
        (lambda: Cooling(1.0, 2.0, 5), "temperatures that fall"),
        (lambda: MonochromeProbing(pegs=0), "pegs .* at least 1, got 0"),
    ],
)
def test_invalid_options_are_rejected(wrong: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        wrong()


def test_tuned_players_have_their_own_names() -> None:
    assert genetic_tuned().name == "genetic-tuned"
    assert annealing_tuned().name == "annealing-tuned"
    assert replace(genetic_tuned(), name="genetic") != Genetic()
    assert {"genetic", "genetic-elitist", "bernier-random", "annealing"} <= set(STRATEGIES)


# --- Published means of genetic players, within three standard errors of the difference -----------


PUBLISHED = published("evolutionary")
OPENINGS: dict[str, Opening] = {
    "AABB": FixedOpening((1, 1, 2, 2)),
    "AABC": FixedOpening((1, 1, 2, 3)),
    "random": RandomOpening(),
}


def guesses(player: Strategy, board: Board, games: int) -> list[int]:
    """Return the numbers of guesses of games against random codes."""
    lengths = []
    for rng in np.random.default_rng(1).spawn(games):
        secret = tuple(rng.integers(1, board.colors + 1, size=board.pegs).tolist())
        belief: Belief = player.start(Channel.exact(board).revealed())
        code: tuple[int, ...] = ()
        number, memory = 0, None
        while code != secret:
            index, info = player.choose(belief, rng, Situation(memory=memory))
            code, number, memory = board.code(index), number + 1, info.memory
            if code != secret:
                belief = belief.update(code, reply(code, secret))
        lengths.append(number)
    return lengths


def is_within_error(lengths: list[int], published: float, games: float) -> bool:
    """Return whether the means differ by at most three standard errors of the difference."""
    deviation = float(np.std(lengths, ddof=1))
    error = deviation * np.sqrt(1 / len(lengths) + 1 / games)
    return bool(abs(np.mean(lengths) - published) <= 3 * error)


@pytest.mark.slow
def test_the_genetic_player_takes_the_published_number_of_guesses() -> None:
    lengths = guesses(Genetic(), Board(4, 6), 200)
    assert is_within_error(lengths, PUBLISHED["berghman"]["4x6"], np.inf)


@pytest.mark.slow
@pytest.mark.parametrize("opening", OPENINGS)
def test_the_elitist_player_takes_the_published_number_of_guesses(opening: str) -> None:
    player = GeneticElitist()
    player = replace(player, setup=replace(player.setup, opening=OPENINGS[opening]))
    published = PUBLISHED["elitist"]["4x6"]
    lengths = guesses(player, Board(4, 6), 60)
    assert is_within_error(lengths, published[opening], published["games"])


@pytest.mark.slow
def test_ten_generations_take_the_published_number_of_guesses_on_a_large_board() -> None:
    # With 150 generations, as the paper prints above the table, they are about twelve.
    published = PUBLISHED["elitist"]["10x12"]
    player = GeneticElitist(generations=10)
    player = replace(player, setup=replace(player.setup, opening=RandomOpening()))
    lengths = guesses(player, Board(10, 12), 60)
    assert is_within_error(lengths, published["random"], published["games"])
