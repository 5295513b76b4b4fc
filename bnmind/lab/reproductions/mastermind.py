"""Published figures of Mastermind, and the programs that compute them again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.junction import MinWeight, junction_tree
from bnmind.lab.mastermind import Contest
from bnmind.lab.reproductions.figures import (
    RELEVANT_DEVIATION,
    Better,
    Estimate,
    Figure,
    Reference,
    Standing,
    Verdict,
    exact,
    longest_runs,
    measured,
    new,
    published,
    quoted,
)
from bnmind.lab.reproductions.reproduction import Program, Setting, Task
from bnmind.mastermind import Belief, Board, Channel, Prior, guess_classes, reply_masses, stage
from bnmind.mastermind.network import reduced_to_guess
from bnmind.strategies import (
    FIRST_TURN,
    Among,
    Entropy,
    EstimationOfDistribution,
    Goal,
    GuessInfo,
    LocalEntropy,
    LookAhead,
    LookAheadTwo,
    MapCode,
    MostParts,
    Myopic,
    Needs,
    Situation,
    Strategy,
    WorstCase,
    average_games,
    build_tree,
    mean_lower_bound,
    mean_under_noise,
    open_aabb,
    open_aabc,
    optimal_in_worst_case,
    optimal_on_average,
    solve_belief_game,
    strategy_by_name,
)
from bnmind.strategies.bernier import GeneticElitist
from bnmind.strategies.evolutionary import FixedOpening, RandomOpening
from bnmind.strategies.metropolis import MetropolisHastings, stopping_steps
from bnmind.strategies.snyder import play_scored

CLASSIC = Board(4, 6)
_TRUE = Channel.exact(CLASSIC)

_printed = partial(Reference, standing=Standing.PUBLICATION)
_confirmed = partial(Reference, standing=Standing.PROGRAM)


# --- Games ----------------------------------------------------------------------------------------


def board_of(name: str) -> Board:
    """Return the board of a name such as 4x6 or 4x6r, or 4x6n, whose codes repeat no color.

    >>> board_of("4x6n")
    Board(pegs=4, colors=6, repeats=False)
    """
    pegs, colors = name.rstrip("rn").split("x")
    return Board(int(pegs), int(colors), repeats=not name.endswith("n"))


@dataclass(frozen=True, eq=False)
class Games:
    """The games of a strategy, in their order."""

    guesses: NDArray[np.float64]
    """The number of guesses of each game, one more than the limit if it is lost."""
    codes: NDArray[np.float64]
    """The number of codes that the strategy examined in each game; 0 if it does not count them."""

    @property
    def mean(self) -> Estimate:
        """The mean number of guesses."""
        return Estimate.of(self.guesses.tolist())


def played(
    strategies: Sequence[Strategy],
    channel: Channel,
    games: int | None,
    seed: int,
    *,
    limit: int = 1000,
    assumed: Channel | None = None,
) -> tuple[Games, ...]:
    """Return the games of each strategy, on the same secrets with the same luck.

    The code-maker ends a game at the right guess. Without a number of games, every code is played
    once. The strategies assume the real channel unless another one is given.
    """
    contest = Contest(
        tuple(strategies), channel, games=games, seed=seed, max_guesses=limit, assumed=assumed
    )
    comparison = contest.run()
    found = []
    for name in comparison.strategies:
        rows = comparison.rows_of(name)
        guesses = np.array([row.guesses + (not row.won) for row in rows], dtype=np.float64)
        codes = np.array([row.codes_examined or 0 for row in rows], dtype=np.float64)
        found.append(Games(guesses, codes))
    return tuple(found)


def difference(games: Games, others: Games) -> Estimate:
    """Return the mean difference of the guesses of two strategies, game by game."""
    return Estimate.of((games.guesses - others.guesses).tolist())


# --- Totals over all codes, with true replies -----------------------------------------------------


def _known(name: str, row: Mapping[str, Any], total: float) -> Figure:
    """Return a total beside the published one, or the one found by another program."""
    for key, reference in (("published", _printed), ("confirmed", _confirmed)):
        if key in row:
            note = row.get("source", "")
            return exact(name, round(total), reference(row[key]), better=Better.LOWER, note=note)
    return new(name, round(total))


def _optimal(number: int) -> Iterator[Figure]:
    row = published("mastermind_totals")["optimal"][number]
    board, name = board_of(row["board"]), row["board"]
    yield _known(f"{name}, total", row, optimal_on_average(board).total)
    if "determining" in row:
        total = optimal_on_average(board, Goal.DETERMINING).total
        yield new(f"{name}, total until the code is known", total)
    if "worst" in row:
        worst, k, other, note = optimal_in_worst_case(board).value, board.colors, None, ""
        if board.pegs == 3 and k > 4 and board.repeats:
            other, note = _printed(4 + (k - 1) // 3), "Jäger and Peczarski (2009)"
        yield exact(f"{name}, worst case", round(worst), other, note=note)


def _within(number: int) -> Iterator[Figure]:
    row = published("mastermind_totals")["optimal_within"][number]
    most = row["max_guesses"]
    optimum = optimal_on_average(board_of(row["board"]), max_guesses=most)
    name = f"{row['board']}, total with at most {most} guesses"
    yield _known(name, row, optimum.total)
    if "distribution" in row:
        theirs, ours = row["distribution"], optimum.tree.distribution
        total = sum(guess * codes for guess, codes in enumerate(theirs, start=1))
        note = (
            f"codes found at guess 1, 2, …: {_list(theirs)}; in our tree {_list(ours)}, with the"
            " same total"
        )
        yield exact(f"{name}, of the published tree", optimum.total, _printed(total), note=note)


def _list(codes: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in codes)


def _optimal_totals(setting: Setting) -> Iterator[Task]:
    for kind, function in (("optimal", _optimal), ("optimal_within", _within)):
        for number, row in enumerate(published("mastermind_totals")[kind]):
            if setting.of("slow" not in row and "command" not in row, True):
                yield f"{kind} {number}", function, number


def _consistent(first: str) -> Iterator[Figure]:
    theirs = published("mastermind_totals")["consistent_only"][first]
    total = optimal_on_average(CLASSIC, among=Among.POSSIBLE, first=CLASSIC.parse(first)).total
    yield exact(f"first guess {first}, total", total, _confirmed(theirs), better=Better.LOWER)


def _consistent_only(setting: Setting) -> Iterator[Task]:
    for first in published("mastermind_totals")["consistent_only"]:
        yield first, _consistent, first


def _heuristic(name: str) -> Iterator[Figure]:
    row = published("mastermind_totals")["heuristics"][name]
    tree = build_tree(strategy_by_name(name), _TRUE)
    yield _known(f"{name}, total", row, tree.total)
    if "quoted" in row:
        why = "Irving's own strategy, which searches exhaustively from the third guess on"
        yield quoted(f"{name}, total with the search", row["quoted"], why=why)
    if "known_distribution" not in row:
        yield new(f"{name}, worst case", len(tree.distribution))
        return
    theirs = dict(enumerate(row["distribution"], start=1))
    ours = dict(enumerate(tree.distribution, start=1))
    yield exact(f"{name}, worst case", max(ours), _confirmed(max(theirs)))
    for guess in range(1, max(*ours, *theirs) + 1):
        codes = round(ours.get(guess, 0))
        other = _confirmed(theirs.get(guess, 0))
        yield exact(f"{name}, codes found at guess {guess}", codes, other)


def _variants() -> Iterator[Figure]:
    theirs = published("mastermind_totals")["variants"]
    for name, player, key in (
        (
            "knuth, the whole list of classes compared",
            Myopic(WorstCase(next_largest=True)),
            "knuth_next_largest",
        ),
        (
            "kooi, the winning class not counted",
            Myopic(MostParts(winning_counts=False)),
            "kooi_without_winning",
        ),
    ):
        total = round(build_tree(player, _TRUE).total)
        yield exact(f"{name}, total", total, _confirmed(theirs[key]))


def _heuristics(setting: Setting) -> Iterator[Task]:
    for name in published("mastermind_totals")["heuristics"]:
        yield name, _heuristic, name
    yield "variants", _variants


def _inequivalent() -> Iterator[Figure]:
    known = published("mastermind_totals")["inequivalent"]
    for size, classes in known["first"].items():
        ours = len(guess_classes(board_of(size), []).representatives)
        yield exact(f"{size}, first guesses", ours, _confirmed(classes))
    for text, classes in known["second"].items():
        ours = len(guess_classes(CLASSIC, [CLASSIC.parse(text)]).representatives)
        yield exact(f"4x6, second guesses after {text}", ours, _confirmed(classes))


def _first_guess(text: str) -> Iterator[Figure]:
    theirs = published("mastermind_totals")["first_guesses"][text]
    guess = np.array([CLASSIC.index(CLASSIC.parse(text))])
    classes = reply_masses(CLASSIC, np.ones(CLASSIC.n_codes), guess)[0]
    n_classes, largest = int(np.count_nonzero(classes)), int(classes.max())
    share = float((classes**2).sum()) / CLASSIC.n_codes**2
    yield exact(f"{text}, reply classes", n_classes, _confirmed(theirs["cells"]))
    yield exact(f"{text}, largest class", largest, _confirmed(theirs["largest"]))
    known = _printed(theirs["expected_proportion"])
    yield exact(f"{text}, share of codes left", share, known, digits=7)


def _first_guesses(setting: Setting) -> Iterator[Task]:
    for text in published("mastermind_totals")["first_guesses"]:
        yield text, _first_guess, text


# --- Vomlel, Bayesian networks in Mastermind (2004) -----------------------------------------------


def _size(number: int) -> Iterator[Figure]:
    """Yield the size of a stage of the network, proven to be the smallest."""
    row = published("vomlel_sizes")["size"][number]
    name = f"{row['board']}, stage {row['stage']}{'' if row['arc'] else ' without the arc P → C'}"
    board = board_of(row["board"])
    size = stage(board, row["stage"], arc=row["arc"]).tree.total_size
    other = None
    if "published" in row:
        other = _printed(row["published"])
    elif "confirmed" in row:
        other = _confirmed(row["confirmed"])
    yield exact(name, size, other)
    if "confirmed_greedy" in row:
        greedy = stage(board, row["stage"], arc=row["arc"], order=MinWeight()).tree.total_size
        name += ", by a greedy pass that eliminates the smallest clique first"
        yield exact(name, greedy, _confirmed(row["confirmed_greedy"]))


def _reduced(guess: str) -> Iterator[Figure]:
    tree = junction_tree(reduced_to_guess(CLASSIC, CLASSIC.parse(guess)))
    yield new(f"4x6, stage 2 pruned to the guess {guess}", tree.total_size)


def _sizes(setting: Setting) -> Iterator[Task]:
    figures = published("vomlel_sizes")
    for number in range(len(figures["size"])):
        yield f"size {number}", _size, number
    for guess in figures["reduced-to-guess"]:
        yield guess, _reduced, guess


_KNUTH = (
    "4.478 is 5804/1296; the rule of Knuth's paper, worst case first and then a code that is still"
    " possible, gives 5801 if ties go to the first guess in order"
)


def _bounds_without_noise() -> Iterator[Figure]:
    lengths = build_tree(strategy_by_name("neuwirth"), _TRUE).lengths
    known = published("mastermind_totals")["heuristics"]["neuwirth"]
    knuth = build_tree(strategy_by_name("knuth"), _TRUE).total
    replies, codes = len(CLASSIC.true_replies), CLASSIC.n_codes
    least = math.log(codes) / math.log(replies) + 1
    yield exact("true replies", replies, _printed(14))
    yield exact("lower bound of the mean number of guesses", least, _printed(3.716), digits=3)
    yield exact("Koyama and Lai, total", optimal_on_average(CLASSIC).total, _printed(5625))
    yield exact("Knuth, mean", knuth / codes, _printed(4.478), digits=3, why=_KNUTH)
    for name, length, key in (
        ("minimal expected entropy, EL of section 2", lengths.paper_EL, "paper_EL"),
        ("the same, until the code is known", lengths.determining, "determining"),
        ("the same, until the code is guessed", lengths.revealing, "total"),
    ):
        yield exact(f"{name}, total", round(length * codes), _confirmed(known[key]))


# --- Snyder, Mastermind by importance sampling and Metropolis-Hastings ----------------------------


_HER_GAMES = 10_000
_UNLIMITED = 2**20
"""Steps of a walk that practically never ends without a code that fits all replies."""

_LONG = "the means do not differ, so a few of her games may be much longer than any of ours"
_COST = "the thesis leaves open how the cost is added up"


def _compared(
    table: str,
    name: str,
    values: Sequence[float],
    hers: tuple[float, float, int],
    *,
    fitted: bool = False,
    why: str = "",
    note: str = "",
) -> tuple[Figure, Figure]:
    """Return the mean and the standard deviation of our games beside published ones.

    ``hers`` are the published mean and standard deviation, and the number of her games. The reason
    and the note are about the mean.
    """
    (mean, sd, games), ours, spread = hers, Estimate.of(values), Estimate.deviation(values)
    error = spread.standard_error * sqrt(spread.games / games)
    longest, of_spread = longest_runs(table), f"{name}, standard deviation"
    figure = measured(
        name,
        ours,
        _printed(mean, error=sd / sqrt(games), fitted=fitted),
        longest=longest.get(name),
        why=why,
        note=note,
    )
    judged = max(spread, longest.get(of_spread, spread), key=lambda run: run.games)
    is_long = figure.verdict is not Verdict.DIFFERS and sd > judged.mean
    spread_figure = measured(
        of_spread,
        spread,
        _printed(sd, error=error, fitted=fitted),
        longest=longest.get(of_spread),
        relevant=RELEVANT_DEVIATION,
        why=_LONG if is_long else "",
    )
    return figure, spread_figure


def _scored(name: str, games: int, seed: int) -> Iterator[Figure]:
    row = published("snyder")[name]
    rng = np.random.default_rng((seed, 2))
    lengths = play_scored(CLASSIC, row["theta"], games, rng).lengths
    table, label = "snyder-table-2", name.replace("_", " ")
    guesses = f"{label}, guesses"
    yield from _compared(table, guesses, lengths.tolist(), (row["mean"], row["sd"], row["games"]))
    if name == "learned":
        yield measured(
            f"{guesses}, second figure",
            Estimate.of(lengths.tolist()),
            _printed(row["second_mean"], error=row["sd"] / sqrt(row["second_games"])),
            longest=longest_runs(table).get(guesses),
        )
    if "most" in row:
        most, longer = int(max(lengths)), int((lengths > row["most"]).sum())
        note = f"the longest of her {row['most_games']:,} games, and of ours"
        why = f"{longer:,} of our {games:,} games are longer than hers; the reason is not known"
        yield exact(f"{label}, most guesses", most, _printed(row["most"]), note=note, why=why)


def _table_2(setting: Setting) -> Iterator[Task]:
    for name in ("initial", "learned", "random_consistent"):
        yield name, _scored, name, setting.of(40_000, 400_000), setting.seed


def _subset_permutation(size: str, theta: float, games: int, seed: int) -> Iterator[Figure]:
    """Yield the means with and without permutations of three or more pegs."""
    theirs = published("snyder")["table_3"][size]
    for share, mean in zip((0.1, 0.0), theirs, strict=True):
        strategy = MetropolisHastings(theta=theta, subset=share)
        (found,) = played([strategy], Channel.exact(board_of(size)), games, seed)
        ours = found.mean
        name = f"{size}, θ = {theta:g}, {'with' if share else 'without'} permutations, guesses"
        if theta != 5:
            yield new(name, ours)
            continue
        yield measured(
            name,
            ours,
            _printed(mean, error=ours.sd / sqrt(_HER_GAMES)),
            longest=longest_runs("snyder-table-3").get(name),
            why=_COST,
        )


def _table_3(setting: Setting) -> Iterator[Task]:
    small, large = setting.of((600, 40), (10_000, 1000))
    for size, games in (("4x6", small), ("10x10", large)):
        for theta in (1.0, 5.0):
            label = f"{size} {theta:g}"
            yield label, _subset_permutation, size, theta, games, setting.seed


def _unlimited(size: str, games: int, seed: int) -> Iterator[Figure]:
    mean, sd = published("snyder")["table_4"][size]
    strategy = MetropolisHastings(steps=_UNLIMITED)
    (found,) = played([strategy], Channel.exact(board_of(size)), games, seed)
    why = "most other readings that we tried differ, too (docs/snyder.md)" * (size == "6x8")
    guesses, hers = found.guesses.tolist(), (mean, sd, _HER_GAMES)
    yield from _compared("snyder-table-4", f"{size}, guesses", guesses, hers, why=why)


def _stopped(size: str, games: int, seed: int) -> Iterator[Figure]:
    mean, sd, codes, codes_sd = published("snyder")["table_5"][size]
    board = board_of(size)
    (found,) = played([MetropolisHastings()], Channel.exact(board), games, seed)
    # Her count seems to include a walk for the first guess.
    searched = found.codes + stopping_steps(board)
    for what, values, hers in (
        ("guesses", found.guesses, (mean, sd, _HER_GAMES)),
        ("codes and one walk", searched, (codes, codes_sd, _HER_GAMES)),
    ):
        name = f"{size}, {what}"
        yield from _compared("snyder-table-5", name, values.tolist(), hers, fitted=True)


def _walks(
    function: Callable[[str, int, int], Iterator[Figure]], table: str, setting: Setting
) -> Iterator[Task]:
    for size in published("snyder")[table]:
        yield size, function, size, setting.of(1000, 10_000), setting.seed


_FINAL_THETA = 2.0
"""θ of her final player, by the text of the thesis."""

_READINGS = (
    *((_FINAL_THETA, True, False), (1.0, True, False), (1.0, False, False)),
    *((_FINAL_THETA, False, False), (_FINAL_THETA, True, True), (_FINAL_THETA, False, True)),
)
"""Readings of the description: θ, whether a new color may be the old one, and whether the cost is a
mean over the turns instead of a sum. The first has θ as the text says it, and is judged. Of the
others, some agree by chance or were chosen because they fit."""


def _final(reading: tuple[float, bool, bool], games: int, seed: int) -> Iterator[Figure]:
    row = published("snyder")["metropolis_hastings"]
    theta, keeps_color, is_mean = reading
    strategy = MetropolisHastings(theta=theta, keeps_color=keeps_color, is_mean=is_mean)
    (found,) = played([strategy], _TRUE, games, seed)
    color, cost = ("any" if keeps_color else "another"), ("mean" if is_mean else "sum")
    label = f"random walk, θ = {theta:g}, {color} color, {cost} of the cost"
    is_judged = reading == _READINGS[0]
    searched = found.codes + stopping_steps(CLASSIC)
    for what, values, mean, sd in (
        ("guesses", found.guesses, row["mean"], row["sd"]),
        ("codes and one walk", searched, row["codes"], row["codes_sd"]),
    ):
        figure, spread = _compared(
            "snyder-table-6",
            f"{label}, {what}",
            values.tolist(),
            (mean, sd, row["games"]),
            fitted=not is_judged,
            why="the walk described here fits with θ = 1, see the next lines" * is_judged,
        )
        yield figure
        if is_judged:
            yield spread


def _scored_codes(games: int, seed: int) -> Iterator[Figure]:
    row = published("snyder")["learned"]
    rng = np.random.default_rng((seed, 6))
    lengths = play_scored(CLASSIC, row["theta"], games, rng).lengths
    codes = Estimate.of((CLASSIC.n_codes * lengths).tolist())
    error = CLASSIC.n_codes * row["sd"] / sqrt(row["games"])
    note = (
        "1,296 codes a guess in both, so this is the mean of table 2 again; printed in the row of"
        " the other player"
    )
    name = "learned scores, codes"
    longest = longest_runs("snyder-table-6").get(name)
    yield measured(name, codes, _printed(5969.4, error=error), longest=longest, note=note)


def _table_6(setting: Setting) -> Iterator[Task]:
    yield "learned", _scored_codes, setting.of(20_000, 200_000), setting.seed
    for number, reading in enumerate(_READINGS):
        yield f"reading {number}", _final, reading, setting.of(1000, 10_000), setting.seed


_FITTED = {
    "θ = 1": MetropolisHastings(),
    "θ = 1, only the last reply may fix the colors": MetropolisHastings(only_last=True),
    "θ = 1, if the walk has the colors found": MetropolisHastings(same_colors=True),
}
"""Readings with the θ that fits, and of the rule that the walk permutes pegs once a reply says that
all colors are found."""

_NO_LIMIT = (
    "by the text, table 7 has a limit, but a standard deviation of 4.51 cannot come from scores of"
    " at most 11"
)
_FIXED = "her three secrets and false replies were fixed in advance, and ours are random"


def _readings(noisy: bool) -> Sequence[tuple[str, MetropolisHastings, bool]]:
    """Return the name of each reading, its player, and whether it was chosen afterwards."""
    fitted = list(_FITTED.items())[: None if noisy else 1]
    text = (f"θ = {_FINAL_THETA:g}", MetropolisHastings(theta=_FINAL_THETA), False)
    return (text, *((name, player, True) for name, player in fitted))


def _without_limit(games: int, seed: int) -> Iterator[Figure]:
    known = published("snyder")
    row, limited = known["metropolis_hastings_false_20"], known["table_7"]["false_20"]
    for name, player, fitted in _readings(False):
        (found,) = played([player], Channel.false_reply(CLASSIC, 0.2), games, seed)
        label = f"20 % false, no limit, {name}, guesses"
        judge = partial(_compared, "snyder-table-7", values=found.guesses.tolist(), fitted=fitted)
        hers = (row["mean"], row["sd"], row["games"])
        yield from judge(name=f"{label}, section 4.4.1", hers=hers)
        if fitted:
            hers = (limited["mean"], limited["sd"], 3 * known["table_7"]["sequences"])
            yield from judge(name=f"{label}, table 7", hers=hers, note=_NO_LIMIT)


def _against_people(games: int, seed: int, key: str) -> Iterator[Figure]:
    noisy = key == "false_20"
    channel = Channel.false_reply(CLASSIC, 0.2) if noisy else _TRUE
    label = "20 % false" if noisy else "standard game"
    table, people = published("snyder")["table_7"], published("snyder")["people"][key]
    row, sequences = table[key], table["sequences"]
    for reading, player, fitted in _readings(noisy):
        (found,) = played([player], channel, games, seed, limit=10)
        figure, spread = _compared(
            "snyder-table-7",
            f"{label}, {reading}, guesses",
            found.guesses.tolist(),
            (row["mean"], row["sd"], 3 * sequences),
            fitted=fitted,
            why=_FIXED,
        )
        yield figure
        if not fitted:
            yield spread
        name = f"{label}, {reading}, won of 3"
        yield measured(
            name,
            Estimate.of((3.0 * (found.guesses <= 10)).tolist()),
            _printed(row["won"], error=row["won_sd"] / sqrt(sequences), fitted=fitted),
            longest=longest_runs("snyder-table-7").get(name),
            why=_FIXED,
        )
    for name, key in (
        ("guesses of people", "mean"),
        ("guesses of people, standard deviation", "sd"),
        ("guesses of the best of ten people", "best"),
        ("people won of 3", "won"),
        ("people won of 3, standard deviation", "won_sd"),
    ):
        yield quoted(f"{label}, {name}", people[key])


def _table_7(setting: Setting) -> Iterator[Task]:
    games = setting.of(1500, 20_000)
    yield "no limit", _without_limit, games, setting.seed
    yield "standard", _against_people, games, setting.seed, "standard"
    yield "false", _against_people, games, setting.seed, "false_20"


# --- Runarsson and Merelo, Adapting heuristic Mastermind strategies (2010) ------------------------


_THEIR_RUNS = 10
_OPENINGS = {"AABC": open_aabc, "AABB": open_aabb}


def _possible_codes(score: str) -> Iterator[Figure]:
    sources, key = published("runarsson_merelo"), score.replace("-", "_")
    replicated = sources["replicated"]
    found = average_games(strategy_by_name(f"subset:all:{score}"), CLASSIC)
    mean = Reference(replicated[key], error=replicated["standard_error"])
    yield exact(f"{score}, exact mean", found.mean, mean)
    lengths = range(1, found.worst + 1)
    # The median of the longest game: longer ones are Poisson distributed.
    ours = max(n for n in lengths if _THEIR_RUNS * sum(found.expected[n - 1 :]) >= math.log(2))
    yield exact(
        f"{score}, most guesses in ten runs",
        ours,
        _printed(sources["most"][key]),
        note="stated in section 3",
        why=f"no game of ours can take more than {found.worst}",
    )


def _local(name: str) -> Iterator[Figure]:
    mean = average_games(LocalEntropy(opening=_OPENINGS[name]), CLASSIC).mean
    yield new(f"local entropy, first guess {name}, exact mean", mean)


def _exact_means(setting: Setting) -> Iterator[Task]:
    for score in ("entropy", "most-parts", "expected-size", "worst-case", "random"):
        yield score, _possible_codes, score
    for name in _OPENINGS:
        yield name, _local, name


def _runs(strategy: Strategy, runs: int, seed: int) -> Estimate:
    """Return the mean over all codes in several runs."""
    found = [played([strategy], _TRUE, None, seed * 1000 + run)[0].guesses for run in range(runs)]
    return Estimate.of(np.concatenate(found).tolist())


def _subset(size: str, runs: int, seed: int) -> Iterator[Figure]:
    theirs = published("runarsson_merelo")["replicated"]
    ours = _runs(strategy_by_name(f"subset:{size}:entropy"), runs, seed)
    name = f"entropy in a subset of {size}"
    other = Reference(theirs["entropy_subset"][size], error=theirs["subset_standard_error"])
    yield measured(name, ours, other, longest=longest_runs("runarsson-merelo-subsets").get(name))


def _subsets(setting: Setting) -> Iterator[Task]:
    for size in published("runarsson_merelo")["replicated"]["entropy_subset"]:
        yield size, _subset, size, setting.of(2, 20), setting.seed


def _estimation(opening: str, local: bool, runs: int, seed: int) -> Iterator[Figure]:
    strategy = replace(
        EstimationOfDistribution(local_entropy=local), opening=_OPENINGS[opening], name="eda"
    )
    ours = _runs(strategy, runs, seed)
    label = f"estimation of distributions{' with local entropy' if local else ''}, {opening}"
    yield new(label, ours)
    if opening == "AABC":
        random = published("runarsson_merelo")["exact"]["random"]
        less = Estimate(ours.mean - random, ours.standard_error, ours.games)
        name = f"{label}, minus a random possible code"
        longest = longest_runs("runarsson-merelo-eda").get(name, less)
        judged = max(less, longest, key=lambda one: one.games)
        why = f"{claim_judged(judged, better=local)} in {judged.games:,} games"
        yield new(name, less, why=why)


def claim_judged(less: Estimate, *, better: bool) -> str:
    """Return the claim of the paper about a difference, and whether two standard errors tell."""
    claim = "better than" if better else "like"
    if abs(less.mean) <= 2 * less.standard_error:
        found = "cannot be told" if better else "no difference can be told"
    else:
        found = "confirmed" if better and less.mean < 0 else "contradicted"
    return f"claim: {claim} a random possible code; {found}"


def _estimations(setting: Setting) -> Iterator[Task]:
    for opening in _OPENINGS:
        for local in (False, True):
            label = f"{opening} {local}"
            yield label, _estimation, opening, local, setting.of(3, 40), setting.seed


# --- Genetic and other evolutionary players -------------------------------------------------------


_CODES: Mapping[str, tuple[int, ...]] = {
    "AABB": (1, 1, 2, 2),
    "AABC": (1, 1, 2, 3),
    "AAAAABBBBB": (1, 1, 1, 1, 1, 2, 2, 2, 2, 2),
    "AABBCCDDEE": (1, 1, 2, 2, 3, 3, 4, 4, 5, 5),
    "AAAAABBBCC": (1, 1, 1, 1, 1, 2, 2, 2, 3, 3),
}
_MOST_GUESSES = 60
_GENERATIONS = 150
"""The published number."""


def _elitist(size: str, opening: str, generations: int, games: int, seed: int) -> Iterator[Figure]:
    row = published("evolutionary")["elitist"][size]
    first = RandomOpening() if opening == "random" else FixedOpening(_CODES[opening])
    player = GeneticElitist(generations=generations)
    player = replace(player, setup=replace(player.setup, opening=first))
    channel = Channel.exact(board_of(size))
    (found,) = played([player], channel, games, seed, limit=_MOST_GUESSES)
    ours, fitted = found.mean, generations != _GENERATIONS
    name = f"{size}, first guess {opening}, {generations} generations"
    why = "the paper's times point to a smaller search than it states: see 10 generations"
    yield measured(
        name,
        ours,
        _printed(row[opening], error=ours.sd / sqrt(row["games"]), fitted=fitted),
        longest=longest_runs("genetic-elitist").get(name),
        why=why * (size == "10x12" and not fitted),
    )


def _elitists(setting: Setting) -> Iterator[Task]:
    small, large = setting.of((200, 5), (1000, 100))
    rows = published("evolutionary")["elitist"]
    for size, games in (("4x6", small), ("10x12", large)):
        for opening in rows[size]:
            if opening != "games":
                label = f"{size} {opening}"
                yield label, _elitist, size, opening, _GENERATIONS, games, setting.seed
    games = setting.of(30, 100)
    for opening in setting.of(("AAAAABBBBB",), tuple(_CODES)[2:]):
        label = f"10x12 {opening} 10 generations"
        yield label, _elitist, "10x12", opening, 10, games, setting.seed


_EVOLVED: Mapping[str, tuple[str, tuple[int, int], tuple[str, ...]]] = {
    "evolutionary-genetic": (
        "genetic",
        (100, 1000),
        ("4x6", "5x8", "5x9", "6x9", "6x10", "7x10", "8x12"),
    ),
    "evolutionary-annealing": ("annealing-tuned", (16, 500), ("5x8", "6x9", "7x10", "8x12")),
    "evolutionary-sampled": ("entropy-sampled", (25, 800), ("6x9", "7x10", "8x12")),
}
"""The strategy of each table, the numbers of games of a quick and of a full run, and the boards."""


def _evolved_mean(size: str, table: str, games: int, seed: int) -> Iterator[Figure]:
    figures, name = published("evolutionary"), _EVOLVED[table][0]
    theirs = figures["berghman"] if size == "4x6" else figures["evolutionary"]
    strategy, channel = strategy_by_name(name), Channel.exact(board_of(size))
    (found,) = played([strategy], channel, games, seed, limit=_MOST_GUESSES)
    label, is_genetic = f"{size}, {name}", name == "genetic"
    why = "the published player is the best of several; the settings of this one are for 4x6"
    yield measured(
        label,
        found.mean,
        _printed(theirs[size]),
        longest=longest_runs(table).get(label),
        better=Better.NEITHER if is_genetic else Better.LOWER,
        why=why * is_genetic,
    )


def _evolved(table: str, setting: Setting) -> Iterator[Task]:
    name, games, boards = _EVOLVED[table]
    for size in boards:
        yield f"{size} {name}", _evolved_mean, size, table, setting.of(*games), setting.seed


# --- Play under false replies on 4x6 --------------------------------------------------------------


@dataclass(frozen=True)
class _Opened:
    """A strategy whose first guess is given."""

    strategy: Strategy
    first: tuple[int, ...]
    name: str = "opened"
    deterministic: bool = True
    needs: Needs = field(default_factory=lambda: Entropy().needs)

    def start(self, channel: Channel, prior: Prior | None = None) -> Belief:
        return self.strategy.start(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        if belief.history:
            return self.strategy.choose(belief, rng, situation)
        guess = belief.channel.board.index(self.first)
        return guess, GuessInfo(guess=guess)


_NOISY: Mapping[str, tuple[Callable[[], Strategy], tuple[int, int]]] = {
    "map_random_ties": (MapCode, (800, 20_000)),
    "min_expected_entropy": (Entropy, (800, 20_000)),
    "min_expected_entropy_opening_1123": (partial(_Opened, Entropy(), (1, 1, 2, 3)), (800, 20_000)),
    "one_step_lookahead": (LookAhead, (500, 20_000)),
    "two_step_lookahead": (LookAheadTwo, (150, 10_000)),
}
"""The strategy of each row of the file of published figures, and the numbers of games."""

_THEIR_GAMES = 20_000


def _noisy_mean(row: str, p: str, games: int, seed: int) -> Iterator[Figure]:
    (found,) = played([_NOISY[row][0]()], Channel.false_reply(CLASSIC, float(p)), games, seed)
    ours, name = found.mean, f"{row.replace('_', ' ')}, p = {p}"
    other = Reference(published("noisy_means_4x6")[row][p], error=ours.sd / sqrt(_THEIR_GAMES))
    yield measured(name, ours, other, longest=longest_runs("noisy-means").get(name))


def _noisy_means(setting: Setting) -> Iterator[Task]:
    for row, (_, games) in _NOISY.items():
        for p in published("noisy_means_4x6")[row]:
            yield f"{row} {p}", _noisy_mean, row, p, setting.of(*games), setting.seed


def _noisy_bound(p: str, partitions: int) -> Iterator[Figure]:
    channel = Channel.false_reply(CLASSIC, float(p))
    ours = mean_lower_bound(channel, partitions=partitions).mean
    theirs = published("noisy_means_4x6")["lower_bound"].get(p)
    why = "a relaxation of the game with a larger least mean; both bounds hold"
    yield exact(f"lower bound, p = {p}", ours, theirs, better=Better.HIGHER, why=why)


def _noisy_bounds(setting: Setting) -> Iterator[Task]:
    for p in published("noisy_means_4x6")["lower_bound"]:
        yield p, _noisy_bound, p, setting.of(3, 4)


def _small(size: str, gap: float) -> Iterator[Figure]:
    channel = Channel.false_reply(board_of(size), 0.2)
    solution = solve_belief_game(channel, gap=gap, max_beliefs=10**6)
    entropy = mean_under_noise(Entropy(), channel, least_mass=1e-6)
    yield new(f"{size}, best play, at least", solution.lower)
    yield new(f"{size}, best play, at most", solution.upper)
    yield new(f"{size}, minimal expected entropy, at least", entropy.lower)
    yield new(f"{size}, minimal expected entropy, at most", entropy.mean)


def _small_boards(setting: Setting) -> Iterator[Task]:
    gaps = setting.of(
        {"2x3": 1e-4, "3x2": 1e-4}, {"2x3": 1e-5, "3x2": 1e-4, "2x4": 0.003, "3x3": 0.009}
    )
    for size, gap in gaps.items():
        yield size, _small, size, gap


PROGRAMS: Mapping[str, Program] = {
    "vomlel-sizes": _sizes,
    "vomlel-bounds": lambda setting: [("bounds", _bounds_without_noise)],
    "optimal-totals": _optimal_totals,
    "consistent-only": _consistent_only,
    "heuristics": _heuristics,
    "inequivalent-guesses": lambda setting: [("classes", _inequivalent)],
    "snyder-table-1": _first_guesses,
    "snyder-table-2": _table_2,
    "snyder-table-3": _table_3,
    "snyder-table-4": partial(_walks, _unlimited, "table_4"),
    "snyder-table-5": partial(_walks, _stopped, "table_5"),
    "snyder-table-6": _table_6,
    "snyder-table-7": _table_7,
    "runarsson-merelo-heuristics": _exact_means,
    "runarsson-merelo-subsets": _subsets,
    "runarsson-merelo-eda": _estimations,
    "genetic-elitist": _elitists,
    **{table: partial(_evolved, table) for table in _EVOLVED},
    "noisy-means": _noisy_means,
    "noisy-bounds": _noisy_bounds,
    "noisy-small-boards": _small_boards,
}
"""What computes each reproduction, by its name in the catalog."""
