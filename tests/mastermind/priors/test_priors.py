"""Every prior of the registry, against the code-maker that it describes, step by step."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError, UnknownNameError
from bnmind.mastermind import (
    PRIORS,
    Board,
    ClosedFormPrior,
    CodeList,
    ColorPool,
    FixedColors,
    OnlyColors,
    parse_prior,
)
from bnmind.mastermind.prior import listed_distribution

Code = tuple[int, ...]
BOARDS = (Board(3, 4), Board(2, 3), Board(4, 3), Board(1, 2), Board(2, 3, repeats=False))
LARGE = Board(10, 12)


def texts() -> list[str]:
    """Return one text for each member, and one more for each optional argument."""
    plain = [name for name, member in PRIORS.items() if member.plain is not None]
    return [*plain, "fewer-colors:-0.5", "only-colors:1+2", "fixed:3,2,1"]


def made(board: Board, text: str) -> ClosedFormPrior | None:
    """Return a prior, or None if it does not fit the board."""
    if text.startswith("fixed:"):
        text = "fixed:" + ",".join(str(color) for color in range(1, board.colors + 1))
    try:
        return parse_prior(board, text)
    except InvalidArgumentError:
        return None


PAIRS = [
    pytest.param(board, text, id=f"{text} on {board}")
    for board in BOARDS
    for text in texts()
    if made(board, text) is not None
]


@pytest.mark.parametrize(("board", "text"), PAIRS)
def test_log_weights_draws_and_the_distribution_agree(board: Board, text: str) -> None:
    prior = made(board, text)
    assert prior is not None
    p = prior.distribution().probabilities
    logs = prior.log_probabilities(board.codes)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-12)
    assert np.exp(logs) == pytest.approx(p, abs=1e-12)
    assert prior.log_weights(board.codes) == pytest.approx(logs)
    assert listed_distribution(prior).probabilities == pytest.approx(p, abs=1e-12)
    draws = prior.draw(3000, np.random.default_rng(7))
    assert draws.dtype == np.uint8
    counts = np.bincount([board.index(code) for code in draws.tolist()], minlength=board.n_codes)
    assert not counts[p == 0].any()
    possible = p > 0
    statistic = float(((counts - 3000 * p)[possible] ** 2 / (3000 * p[possible])).sum())
    assert statistic <= stats.chi2.isf(1e-4, max(1, int(possible.sum()) - 1))


@pytest.mark.parametrize(("board", "text"), PAIRS[: len(PAIRS) // 2])
def test_priors_survive_pickling_and_draw_nothing_if_asked_to(board: Board, text: str) -> None:
    prior = made(board, text)
    assert prior is not None
    copied = pickle.loads(pickle.dumps(prior))
    assert copied.name == prior.name
    assert copied.log_weights(board.codes).tolist() == prior.log_weights(board.codes).tolist()
    assert prior.draw(0, np.random.default_rng(0)).shape == (0, board.pegs)


@pytest.mark.parametrize("text", texts())
def test_large_boards_have_weights_and_draws_but_no_list(text: str) -> None:
    prior = made(LARGE, text)
    assert prior is not None
    codes = prior.draw(20, np.random.default_rng(0))
    assert np.isfinite(prior.log_weights(codes)).all()
    with pytest.raises(TooLargeError):
        prior.distribution()


@pytest.mark.parametrize("text", [text for text in texts() if ":" not in text])
def test_the_name_is_a_text_of_the_prior(text: str) -> None:
    prior = parse_prior(Board(4, 6), text)
    assert prior.name == text
    again = parse_prior(Board(4, 6), prior.name)
    assert again.name == text


def made_by_hand(board: Board, name: str) -> Iterator[tuple[Code, float]]:
    """Yield the codes that a code-maker may make, with the probability of each way to make it."""
    n, colors = board.pegs, range(1, board.colors + 1)

    def pools(m: int, p: float) -> Iterator[tuple[Code, float]]:
        m = min(m, board.colors)
        every = list(itertools.combinations(colors, m))
        for pool in every:
            for code in itertools.product(pool, repeat=n):
                yield code, p / len(every) / m**n

    if name == "two-color":
        yield from pools(2, 1.0)
    elif name == "usually-fewer":
        for m, p in ((2, 0.45), (3, 0.45), (board.colors, 0.1)):
            yield from pools(m, p)
    elif name == "prefer-fewer":
        more = range(6, max(6, board.colors) + 1)
        sizes = [(1, 0.5), (2, 0.25), (3, 0.13), (4, 0.08), (5, 0.03)]
        for m, p in [*sizes, *((m, 0.01 / len(more)) for m in more)]:
            yield from pools(m, p)
    elif name == "alternating":
        for pair in itertools.permutations(colors, 2):
            yield (pair * n)[:n], 1 / math.perm(board.colors, 2)
    elif name == "only-once":
        for code in itertools.permutations(colors, n):
            yield code, 1 / math.perm(board.colors, n)
    elif name == "first-last-equal":
        for code in itertools.product(colors, repeat=n - 1):
            yield (*code, code[0]), float(board.colors) ** (1 - n)
    elif name == "fewer-colors":
        codes = list(itertools.product(colors, repeat=n))
        total = sum(math.exp(-len(set(code))) for code in codes)
        for code in codes:
            yield code, math.exp(-len(set(code))) / total
    elif name == "fixed:1,2,3,4":
        for code in itertools.product(colors, repeat=n):
            yield code, math.prod(color / 10 for color in code)


@pytest.mark.parametrize(
    "name",
    [
        *("two-color", "usually-fewer", "prefer-fewer", "alternating", "only-once"),
        *("first-last-equal", "fewer-colors", "fixed:1,2,3,4"),
    ],
)
def test_against_the_code_maker_step_by_step(name: str) -> None:
    board = Board(3, 4)
    expected: dict[Code, float] = defaultdict(float)
    for code, p in made_by_hand(board, name):
        expected[code] += p
    got = parse_prior(board, name).distribution()
    assert got.probabilities.tolist() == pytest.approx(
        [expected[board.code(index)] for index in range(board.n_codes)], abs=1e-12
    )


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("two-colour", UnknownNameError, "did you mean two-color"),
        ("", UnknownNameError, "expected a prior among uniform"),
        ("two-color:3", InvalidArgumentError, "the prior two-color takes no argument"),
        ("fewer-colors:lots", InvalidArgumentError, "needs a number after the colon"),
        ("fewer-colors:1000", InvalidArgumentError, "a strength from -100 to 100"),
        ("only-colors", InvalidArgumentError, "needs colors joined by + after a colon"),
        ("only-colors:1+7", InvalidArgumentError, "expected colors 1 to 6, got 7"),
        ("fixed:1,2", InvalidArgumentError, "expected 6 weights, one for each color"),
        ("fixed:1,2,3,4,5,six", InvalidArgumentError, "expected numbers between commas"),
        ("fixed:0,0,0,0,0,0", InvalidArgumentError, "not all zero"),
        ("fixed:1,1,1,1,1,1/1,1", InvalidArgumentError, "6 numbers at each position"),
        ("file:nowhere.csv", InvalidArgumentError, "cannot read nowhere.csv"),
    ],
)
def test_text_that_is_no_prior(text: str, kind: type[BnmindError], message: str) -> None:
    with pytest.raises(kind) as caught:
        parse_prior(Board(4, 6), text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_priors_that_do_not_fit_the_board_say_what_they_need() -> None:
    with pytest.raises(InvalidArgumentError, match="colors may repeat"):
        parse_prior(Board(3, 4, repeats=False), "two-color")
    with pytest.raises(InvalidArgumentError, match="as many colors as pegs"):
        parse_prior(Board(4, 3), "only-once")
    with pytest.raises(InvalidArgumentError, match="at least two pegs"):
        parse_prior(Board(1, 3), "alternating")


def test_a_file_lists_the_possible_codes(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code, weight\n1122, 3\nABCD, 1\n\n")
    prior = parse_prior(Board(4, 6), f"file:{path}")
    assert prior.name == f"file:{path}"
    assert prior.distribution().probability((1, 1, 2, 2)) == pytest.approx(0.75)
    assert prior.distribution().possible_codes() == 2
    assert prior.log_weights(np.array([[1, 2, 3, 5]])).tolist() == [-math.inf]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected the columns code, and probability or weight"),
        ("code,chance\n", "got code, chance"),
        ("code,probability\n", "got a sum of 0"),
        ("code,probability\n1122,0.5\n", "got a sum of 0.5"),
        ("code,probability\n1122,lots\n", "not negative in line 2"),
        ("code,probability\n1122,-1\n", "not negative in line 2"),
        ("code,probability\n1172,1\n", "expected colors 1 to 6, got 7"),
        ("code,probability\n1122,0.5\n1122,0.5\n", "1122 again in line 3"),
        ("code,probability\n1122\n", "expected two values in line 2"),
    ],
)
def test_a_faulty_file_is_refused_in_one_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "codes.csv"
    path.write_text(content)
    with pytest.raises(InvalidArgumentError) as caught:
        parse_prior(Board(4, 6), f"file:{path}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_usually_fewer_with_three_colors_adds_the_chances_of_three() -> None:
    prior = parse_prior(Board(3, 3), "usually-fewer")
    assert isinstance(prior, ColorPool)
    assert prior.sizes == pytest.approx((0.0, 0.45, 0.55))


@pytest.mark.parametrize("text", ["fixed:3,2,1", "learned", "learned-colors", "two-color"])
def test_priors_of_one_text_are_equal(text: str) -> None:
    one, other = (parse_prior(Board(3, 3), text) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert one != parse_prior(Board(3, 3), "alternating")


def test_a_pool_has_a_probability_for_each_number_of_colors() -> None:
    board = Board(3, 3)
    assert ColorPool(board, (0.2, 0.3, 0.5)).sizes == (0.2, 0.3, 0.5)
    for sizes in ((0.5, 0.5), (0.2, 0.2, 0.2), (0.2, 0.3, 0.5 + 1e-6), (-0.5, 1.0, 0.5)):
        with pytest.raises(InvalidArgumentError, match="3 probabilities that sum to 1"):
            ColorPool(board, sizes)


def test_a_list_of_codes_names_the_first_code_that_is_none() -> None:
    codes = np.array([[1, 2, 3], [3, 3, 4], [0, 1, 1]], dtype=np.uint8)
    with pytest.raises(InvalidArgumentError, match=r"got \[3, 3, 4\]"):
        CodeList(Board(3, 3), codes, np.full(3, 1 / 3))


@pytest.mark.parametrize("colors", [(1, 7), (0, 1), ()])
def test_only_colors_are_colors_of_the_board(colors: tuple[int, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match="at least 1 of the colors 1 to 6, got"):
        OnlyColors(Board(4, 6), colors)


def test_fixed_colors_need_a_row_for_each_position() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"of 6 colors at 4 positions, .* shape \(6, 4\)"
    ):
        FixedColors(Board(4, 6), np.full((6, 4), 1 / 4))
