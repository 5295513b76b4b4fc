"""Priors: by their definitions, what they learn, and beliefs that start from them."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bnmind.errors import (
    BnmindError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats
from bnmind.mastermind import (
    PRIORS,
    Alternating,
    Board,
    Channel,
    ClosedFormPrior,
    CodeList,
    ColorPool,
    FixedColors,
    LearnedColors,
    LearnedNumber,
    MixturePrior,
    OnlyColors,
    OnlyOnce,
    Reply,
    TableBelief,
    TreeBelief,
    Turn,
    UniformPrior,
    VanishingBelief,
    parse_prior,
    reply,
)
from bnmind.mastermind.prior import listed_distribution
from bnmind.mastermind.priors import learned
from bnmind.strategies import Entropy, MapCode, distribution_of, start_belief
from tests.mastermind.generators import codes, histories

# --- The uniform prior ----------------------------------------------------------------------------


def test_all_codes_are_equally_probable() -> None:
    board = Board(3, 4)
    listed = listed_distribution(UniformPrior(board))
    assert listed.probabilities == pytest.approx(np.full(64, 1 / 64), abs=1e-15)


@pytest.mark.parametrize("board", [Board(3, 4), Board(3, 4, repeats=False)])
def test_draws_are_codes_and_every_code_is_drawn(board: Board) -> None:
    draws = UniformPrior(board).draw(2000, np.random.default_rng(0))
    assert draws.dtype == np.uint8
    assert {board.index(code) for code in draws.tolist()} == set(range(board.n_codes))


def test_large_boards_have_weights_and_draws_but_no_distribution() -> None:
    prior = UniformPrior(Board(10, 12))
    codes = prior.draw(5, np.random.default_rng(0))
    assert prior.log_weights(codes) == pytest.approx(-10 * np.log(12))
    with pytest.raises(TooLargeError, match="at most"):
        prior.distribution()


def test_boards_of_the_most_colors_have_priors() -> None:
    draws = UniformPrior(Board(2, 255)).draw(5000, np.random.default_rng(0))
    assert (draws.min(), draws.max()) == (1, 255)


# --- Every prior of the registry, against the code-maker that it describes, step by step ----------


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
    with pytest.raises(InvalidArgumentError, match=r"3 values in sizes, as many as board\.colors"):
        ColorPool(board, (0.5, 0.5))
    for sizes in ((0.2, 0.2, 0.2), (0.2, 0.3, 0.5 + 1e-6), (-0.5, 1.0, 0.5)):
        with pytest.raises(InvalidArgumentError, match="none negative, that sum to 1, got"):
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
    with pytest.raises(InvalidArgumentError, match=r"board.pegs by board.colors, got \(6, 4\)"):
        FixedColors(Board(4, 6), np.full((6, 4), 1 / 4))


# --- Priors that learn from earlier codes, against Bayes' rule code by code -----------------------


BOARD = Board(3, 4)
some_codes = st.lists(codes(BOARD), max_size=5)


@settings(max_examples=25)
@given(some_codes)
def test_weights_are_the_posterior_of_the_members(seen: list[tuple[int, ...]]) -> None:
    names = ("uniform", "two-color", "first-last-equal", "fixed:4,3,2,1")
    members = tuple(parse_prior(BOARD, name) for name in names)
    prior = MixturePrior(members, (0.4, 0.3, 0.2, 0.1))
    for code in seen:
        prior = prior.observe(code)
    tables = [member.distribution() for member in members]
    likelihoods = [
        weight * math.prod(table.probability(code) for code in seen)
        for weight, table in zip((0.4, 0.3, 0.2, 0.1), tables, strict=True)
    ]
    posterior = [likelihood / sum(likelihoods) for likelihood in likelihoods]
    assert prior.weights == pytest.approx(posterior, abs=1e-9)
    mixed = sum(w * table.probabilities for w, table in zip(posterior, tables, strict=True))
    assert prior.distribution().probabilities == pytest.approx(mixed, abs=1e-9)


@settings(max_examples=25)
@given(some_codes, codes(BOARD))
def test_favorite_colors_are_counted(seen: list[tuple[int, ...]], last: tuple[int, ...]) -> None:
    prior = LearnedColors.start(BOARD)
    for code in seen:
        prior = prior.observe(code)
    expected = Fraction(1)
    for position, color in enumerate(last):
        count = sum(code[position] == color for code in seen)
        expected *= Fraction(count + 1, len(seen) + BOARD.colors)
    assert prior.distribution().probability(last) == pytest.approx(float(expected), rel=1e-9)


@settings(max_examples=25)
@given(some_codes, codes(BOARD))
def test_numbers_of_colors_are_counted(seen: list[tuple[int, ...]], last: tuple[int, ...]) -> None:
    prior = LearnedNumber.start(BOARD)
    for code in seen:
        prior = prior.observe(code)
    alike = [code for code in BOARD.codes.tolist() if len(set(code)) == len(set(last))]
    count = sum(len(set(code)) == len(set(last)) for code in seen)
    chance = (count + len(alike) / BOARD.n_codes) / (len(seen) + 1)
    got = prior.distribution().probability(last)
    assert got == pytest.approx(chance / len(alike), rel=1e-9)


def test_numbers_of_colors_are_learned_on_the_largest_board() -> None:
    # 255 of 255^255 codes have one color: a frequency of 1e-611.
    board = Board(255, 255)
    prior = LearnedNumber.start(board)
    one_color = np.ones((1, 255), dtype=np.uint8)
    expected = -255 * math.log(255)
    assert prior.log_probabilities(one_color)[0] == pytest.approx(expected, rel=1e-12)
    prior = prior.observe((1,) * 255)
    assert prior.log_probabilities(one_color)[0] == pytest.approx(math.log(0.5 / 255), rel=1e-9)


def test_a_long_match_excludes_no_member_that_is_possible() -> None:
    # After 300 codes, the probability of the uniform prior is too small for a number.
    board = Board(4, 6)
    prior = MixturePrior((UniformPrior(board), Alternating(board)), (0.5, 0.5))
    for _ in range(300):
        prior = prior.observe((1, 2, 1, 2))
    assert prior.weights == (0.0, 1.0)
    assert prior.observe((1, 2, 3, 4)).weights == (1.0, 0.0)


@given(st.permutations([(1, 1, 2), (3, 2, 3), (4, 4, 4)]))
def test_the_order_of_the_codes_does_not_matter(order: list[tuple[int, ...]]) -> None:
    def total(seen: list[tuple[int, ...]]) -> float:
        prior, log = learned(BOARD), 0.0
        for code in seen:
            log += float(prior.log_probabilities(np.array([code]))[0])
            prior = prior.observe(code)
        return log

    assert total(order) == pytest.approx(total([(1, 1, 2), (3, 2, 3), (4, 4, 4)]), abs=1e-9)


def test_the_code_maker_is_recognized_after_a_few_codes() -> None:
    board, rng = Board(4, 6), np.random.default_rng(0)
    prior = learned(board)
    for code in Alternating(board).draw(6, rng).tolist():
        prior = prior.observe(code)
    best = max(zip(prior.weights, (member.name for member in prior.members), strict=True))
    assert best[1] == "alternating"
    assert best[0] > 0.99


def test_members_that_do_not_fit_the_board_are_left_out() -> None:
    names = {member.name for member in learned(Board(4, 3)).members}
    assert "only-once" not in names
    assert "two-color" in names
    assert {member.name for member in learned(Board(3, 4, repeats=False)).members} == {
        "uniform",
        "only-once",
    }


def test_a_code_that_no_member_makes_is_refused() -> None:
    prior = MixturePrior((OnlyOnce(BOARD), Alternating(BOARD)), (0.5, 0.5))
    with pytest.raises(ImpossibleEvidenceError, match="no member of the prior mixture makes"):
        prior.observe((1, 1, 1))


def test_learned_numbers_are_checked() -> None:
    with pytest.raises(InvalidArgumentError, match=r"3 values in seen, as many as .*most_colors"):
        LearnedNumber(BOARD, (1, 2), 1.0)
    with pytest.raises(InvalidArgumentError, match=r"seen .* at least 0, .*; expected alpha .* 0"):
        LearnedNumber(BOARD, (1, 2, -1), 0.0)


def test_mixtures_are_checked() -> None:
    with pytest.raises(InvalidArgumentError, match="the logarithms of"):
        MixturePrior((UniformPrior(BOARD),), (1.0,), logs=(-1.0,))
    with pytest.raises(InvalidArgumentError, match=r"at least one, all of one board, got \(\)"):
        MixturePrior((), ())
    with pytest.raises(InvalidArgumentError, match=r"weights .* that sum to 1, got"):
        MixturePrior((OnlyOnce(BOARD), UniformPrior(BOARD)), (0.5, 0.6))
    with pytest.raises(InvalidArgumentError, match="all of one board"):
        MixturePrior((OnlyOnce(BOARD), UniformPrior(Board(4, 6))), (0.5, 0.5))


# --- Beliefs and choices under a prior, against sums over codes one by one ------------------------


NAMES = ("two-color", "prefer-fewer", "first-last-equal", "fixed:5,1,1,1", "learned")
names = st.sampled_from(NAMES)


def by_hand(prior: Floats, channel: Channel, history: tuple[Turn, ...]) -> Floats:
    """Return the posterior by Bayes' rule, code by code."""
    board = channel.board
    weights = [
        p
        * math.prod(
            channel.likelihood(turn.reply)[
                board.true_replies.index(reply(board.code(index), turn.guess))
            ]
            for turn in history
        )
        for index, p in enumerate(prior.tolist())
    ]
    posterior: Floats = np.array(weights) / sum(weights)
    return posterior


@settings(max_examples=25)
@given(names, histories(BOARD, max_turns=3))
def test_a_table_is_the_prior_times_the_likelihoods(name: str, history: tuple[Turn, ...]) -> None:
    prior, channel = parse_prior(BOARD, name), Channel.independent_error(BOARD, 0.3)
    belief = TableBelief.start(channel, prior)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    expected = by_hand(prior.distribution().probabilities, channel, history)
    assert belief.codes.probabilities == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25)
@given(names, histories(BOARD, max_turns=4), st.booleans())
def test_without_noise_the_prior_is_restricted_to_the_fewest_contradictions(
    name: str, history: tuple[Turn, ...], ends: bool
) -> None:
    prior = parse_prior(BOARD, name)
    p = prior.distribution().probabilities
    reports = tuple({*BOARD.true_replies, *(turn.reply for turn in history)})
    belief = VanishingBelief.start(BOARD, reports=reports, ends=ends, prior=prior)
    for turn in history:
        belief = belief.update(turn.guess, turn.reply)
    guessed = {turn.guess for turn in history} if ends else set()
    counts = {
        index: sum(reply(turn.guess, BOARD.code(index)) != turn.reply for turn in history)
        for index in range(BOARD.n_codes)
        if p[index] > 0 and BOARD.code(index) not in guessed
    }
    fewest = min(counts.values())
    expected = np.zeros(BOARD.n_codes)
    best = [index for index, count in counts.items() if count == fewest]
    expected[best] = p[best] / p[best].sum()
    assert belief.contradictions == fewest
    assert belief.codes.probabilities == pytest.approx(expected, abs=1e-12)
    copied = pickle.loads(pickle.dumps(belief))
    assert copied.codes.probabilities == pytest.approx(belief.codes.probabilities, abs=1e-15)


def test_the_junction_tree_starts_from_a_prior_too() -> None:
    channel, prior = Channel.independent_error(BOARD, 0.1), parse_prior(BOARD, "prefer-fewer")
    table, tree = TableBelief.start(channel, prior), TreeBelief.start(channel, prior)
    for guess, report in (((1, 1, 2), Reply(1, 0)), ((3, 1, 4), Reply(0, 1))):
        table, tree = table.update(guess, report), tree.update(guess, report)
    assert tree.codes.probabilities == pytest.approx(table.codes.probabilities, abs=1e-12)


@pytest.mark.parametrize("turns", [(), ((1, 1, 2),)])
@pytest.mark.parametrize("name", NAMES[1:4])
@pytest.mark.parametrize("p", [0.0, 0.2])
def test_entropy_finds_the_most_informative_guess_of_all(
    name: str, turns: tuple[tuple[int, ...], ...], p: float
) -> None:
    """A biased prior has fewer symmetries than the board, so no guess may be left out."""
    channel = Channel.false_reply(BOARD, p).revealed()
    belief = Entropy().start(channel, parse_prior(BOARD, name))
    secret = (2, 2, 1)
    for turn in turns:
        belief = belief.update(turn, reply(turn, secret))
    codes = distribution_of(belief).probabilities
    guess, info = Entropy().choose(belief, np.random.default_rng(0))
    matrix = belief.channel.matrix
    informations = []
    for index in range(BOARD.n_codes):
        masses = np.zeros(len(BOARD.true_replies))
        for code, probability in enumerate(codes.tolist()):
            true = reply(BOARD.code(index), BOARD.code(code))
            masses[BOARD.true_replies.index(true)] += probability
        outcomes = masses @ matrix
        noise = sum(m * _entropy(row) for m, row in zip(masses, matrix, strict=True))
        informations.append(_entropy(outcomes) - noise)
    assert info.information == pytest.approx(max(informations), abs=1e-9)
    assert informations[guess] == pytest.approx(max(informations), abs=1e-9)


def _entropy(p: Floats) -> float:
    return -math.fsum(x * math.log2(x) for x in p.tolist() if x > 0)


def test_map_guesses_the_most_probable_code_of_the_prior() -> None:
    channel = Channel.exact(Board(4, 6)).revealed()
    belief = MapCode().start(channel, parse_prior(Board(4, 6), "fixed:1,2,3,4,5,6"))
    guess, _ = MapCode().choose(belief, np.random.default_rng(0))
    assert Board(4, 6).code(guess) == (6, 6, 6, 6)


def test_a_uniform_prior_changes_nothing() -> None:
    for channel in (Channel.exact(BOARD), Channel.false_reply(BOARD, 0.2)):
        plain, uniform = start_belief(channel), start_belief(channel, UniformPrior(BOARD))
        plain, uniform = (one.update((1, 1, 2), Reply(1, 0)) for one in (plain, uniform))
        assert uniform.codes.probabilities == pytest.approx(plain.codes.probabilities, abs=1e-15)


def test_a_uniform_prior_is_the_prior_of_no_name() -> None:
    plain = start_belief(Channel.exact(BOARD), UniformPrior(BOARD))
    assert isinstance(plain, VanishingBelief)
    assert plain.prior is None


def test_a_prior_of_another_board_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="a prior of the board 3x4, got uniform of"):
        start_belief(Channel.exact(BOARD), UniformPrior(Board(4, 6)))
    with pytest.raises(InvalidArgumentError, match="a prior of the board 3x4, got uniform of"):
        TableBelief.start(Channel.false_reply(BOARD, 0.1), UniformPrior(Board(4, 6)))


def test_a_game_that_goes_on_after_every_allowed_code_is_impossible() -> None:
    only = CodeList(BOARD, np.array([[1, 2, 3]], dtype=np.uint8), np.ones(1))
    belief = VanishingBelief.start(BOARD, prior=only)
    with pytest.raises(ImpossibleEvidenceError, match="every code that the prior allows"):
        belief.update((1, 2, 3), Reply(1, 0))
