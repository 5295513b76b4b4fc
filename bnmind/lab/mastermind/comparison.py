"""The games of a comparison of strategies, their summaries, and plots."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from bnmind._arguments import checked, number_array
from bnmind._display import Result, Table, finite
from bnmind._messages import counted, in_words, percent
from bnmind._values import Value
from bnmind.information import Floats
from bnmind.lab.mastermind.games import Transcript
from bnmind.lab.mastermind.words import noise_clause, noise_in_words
from bnmind.lab.plots import plot_distributions
from bnmind.lab.statistics import (
    ConfidenceSequence,
    ExactMean,
    IntervalMethod,
    PairedDifference,
    PairedDifferences,
    RankSumGroups,
    StudentInterval,
    UnknownInterval,
    paired_differences,
    rank_sum_groups,
)
from bnmind.mastermind.prior import UNIFORM
from bnmind.strategies.strategy import start_posterior

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# --- The games of a comparison of strategies, and their summaries ---------------------------------


@dataclass(frozen=True, kw_only=True)
class GameRow(Value):
    """One game of a comparison, a row of its CSV file."""

    board: str
    """The board, such as 4x6."""
    channel: str
    """The name of the channel that reported the replies."""
    strategy: str
    """The name of the strategy."""
    game: int
    """The number of the game, from 1; it is the same game for every strategy."""
    seed: int
    """The seed of the secret, the luck and the random choices."""
    secret: str
    """The secret code; if every code is played once, it does not depend on the seed."""
    guesses: int
    """The number of guesses made. If the code-maker reveals the code, a lost game has as many as
    the limit; if the breaker names a code, a lost game may be short."""
    won: bool
    """Whether the code was guessed or, if the ending does not reveal it, named correctly."""
    seconds: float = field(compare=False)
    """The duration of the game; cached choices take no time. Equality ignores it."""
    codes_examined: int | None = None
    """The number of codes that the strategy examined, if it counts them."""
    assumed: str = ""
    """The name of the channel that the strategy assumed."""
    prior: str = UNIFORM
    """The name of the prior from which the secret was drawn."""
    assumed_prior: str = UNIFORM
    """The name of the prior that the strategy assumed before the first game of a match."""
    ending: str = "revealed"
    """The rule that ended the game, as at the command line."""
    max_guesses: int = 100
    """The limit of guesses."""
    match: int = 1
    """The number of the match that the game belongs to, from 1."""


@dataclass(frozen=True, kw_only=True)
class TurnRow(Value):
    """One turn of a game of an experiment; the first columns are those of the game."""

    board: str
    """The board, such as 4x6."""
    channel: str
    """The name of the channel that reported the replies."""
    prior: str
    """The name of the prior from which the secret was drawn."""
    ending: str
    """The rule that ended the game, as at the command line."""
    max_guesses: int
    """The limit of guesses."""
    strategy: str
    """The name of the strategy."""
    assumed: str
    """The name of the channel that the strategy assumed."""
    assumed_prior: str
    """The name of the prior that the strategy assumed."""
    game: int
    """The number of the game, from 1."""
    turn: int
    """The number of the turn, from 1."""
    guess: str
    """The guess."""
    true_reply: str
    """The true reply, such as 1b2w."""
    report: str | None
    """The reply that was reported; None if the code-maker ended the game instead."""
    entropy: float | None
    """The entropy of the belief before the guess, in bits; None if the strategy computes none."""
    information: float | None
    """The expected information of the guess, in bits; None if the strategy computes none."""


@dataclass(frozen=True, kw_only=True)
class Summary(Value):
    """The games of one strategy in a comparison."""

    strategy: str
    """The name of the strategy."""
    games: int
    """The number of games."""
    mean: float
    """The mean number of guesses made, in games won and lost. A game that is lost because nobody
    found the code has as many guesses as the limit; one that is lost because the breaker named a
    wrong code counts with the guesses before that."""
    standard_error: float
    """The standard error of the mean; nan for a single game."""
    sd: float
    """The standard deviation of the number of guesses; nan for a single game."""
    worst: int
    """The largest number of guesses."""
    won: float
    """The share of games won."""
    within_ten: float
    """The share of games won within ten guesses."""
    seconds_per_game: float
    """The mean duration of a game."""
    codes_examined: float | None = None
    """The mean number of codes that the strategy examined in a game, if it counts them."""

    def to_dict(self) -> dict[str, str | int | float | None]:
        """Return the fields by name, with None for nan, which JSON lacks."""
        return dict(finite(asdict(self)))


@dataclass(frozen=True, kw_only=True)
class Comparison(Result, Value):
    """The games that several strategies played on one board, through one channel."""

    board: str
    """The board, such as 4x6."""
    channel: str
    """The name of the channel that reported the replies."""
    assumed: str
    """The name of the channel that the strategies assumed."""
    strategies: tuple[str, ...]
    """The names of the strategies, in the given order."""
    games: int
    """The number of games of each strategy."""
    seed: int
    """The seed from which the seeds of the games were drawn."""
    max_guesses: int
    """The limit of guesses in a game."""
    ending: str = "revealed"
    """The rule that ended the games, as at the command line."""
    prior: str = UNIFORM
    """The name of the prior from which the secrets were drawn."""
    assumed_prior: str = UNIFORM
    """The name of the prior that the strategies assumed."""
    match: int = 1
    """The number of games in a match; within it, an assumed prior that learns has seen the codes
    of the earlier games."""
    exhaustive: bool = False
    """Whether these are all games that there are: every code once, true replies, and strategies
    without random choices. The means are then exact."""
    first_codes: bool = False
    """Whether every code was to be played once, and only the first codes in order were. They are
    no sample, so they tell nothing about the means."""
    sequential: bool = False
    """Whether the number of games was decided by looking at the results."""
    rows: tuple[GameRow, ...]
    """One row for each game and strategy, ordered by game."""

    def __str__(self) -> str:
        """Return the mean guesses per game of each strategy, with their standard errors."""
        width = max(map(len, self.strategies))
        lines = [
            f"{one.strategy:{width}}  {one.mean:.3f} ± {one.standard_error:.3f}"
            for one in self.summaries
        ]
        what = f"Board {self.board}, noise {self.channel}, {counted(self.games, 'game')}"
        return "\n".join([f"{what}: guesses per game", *lines])

    def to_dict(self) -> dict[str, Any]:
        """Return the setting, the summaries and the differences as a record, without the games."""
        differences = self.differences()
        measures = {"guesses": differences}
        if self.ending != "revealed":
            measures["won"] = self.differences(_is_won)
        return {
            **{name: getattr(self, name) for name in _SETTING},
            "strategies": [summary.to_dict() for summary in self.summaries],
            "groups": [list(group) for group in differences.groups],
            "differences": {
                measure: {
                    "confidence": found.confidence,
                    "interval": found.interval,
                    "pairs": [pair.to_dict() for pair in found.pairs],
                }
                for measure, found in measures.items()
            },
        }

    def _shown(self) -> Iterator[str | Table]:
        match = "" if self.match == 1 else f", matches of {self.match} games"
        yield f"Board {self.board}{self._priors}{match}, seed {self.seed}."
        yield noise_in_words(self.channel)
        if self.assumed != self.channel:
            yield f"The strategies assume that {noise_clause(self.assumed)}."
        yield "Guesses a game:"
        yield from self._summaries_shown()
        shares = {one.strategy: one.won for one in self.summaries}
        limit = counted(self.max_guesses, "guess", "guesses")
        lost = [f"{name} lost {percent(1 - won)}" for name, won in shares.items() if won < 1]
        if self.ending != "revealed":
            right = ", ".join(f"{name} {percent(won)}" for name, won in shares.items())
            yield f"Named the right code, ending {self.ending}: {right}."
        elif lost:
            yield f"Lost games count as the limit of {limit}: {', '.join(lost)}."
        else:
            yield f"No game was lost; the limit is {limit}."
        if len(self.strategies) > 1:
            yield from self._differences_shown()

    @property
    def _priors(self) -> str:
        """The priors in words, unless both are uniform."""
        if self.prior == self.assumed_prior:
            return "" if self.prior == UNIFORM else f", prior {self.prior}"
        return f", prior {self.prior}, assumed to be {self.assumed_prior}"

    def _summaries_shown(self) -> Iterator[str | Table]:
        counts = any(one.codes_examined is not None for one in self.summaries)
        heads = ["strategy", "games", "mean", "std error", "sd", "worst", "within 10", "seconds"]
        rows = [
            [
                one.strategy,
                f"{one.games:,}",
                f"{one.mean:.3f}",
                "-" if math.isnan(one.standard_error) else f"{one.standard_error:.3f}",
                "-" if math.isnan(one.sd) else f"{one.sd:.3f}",
                f"{one.worst}",
                percent(one.within_ten),
                f"{one.seconds_per_game:.4f}",
                *(["-" if one.codes_examined is None else f"{one.codes_examined:,.0f}"] * counts),
            ]
            for one in self.summaries
        ]
        yield Table([*heads, *["codes"] * counts], rows)
        if counts:
            yield "codes: the mean number of codes that a strategy examines in a game."

    def _differences_shown(self) -> Iterator[str | Table]:
        """Yield which strategy is better than which, by how much, and whether that can be told."""
        if self.first_codes:
            yield "No differences: the first codes in order are no sample of all codes."
            return
        differences = self.differences()
        yield from self._pairs_shown(differences, _GUESSES)
        if not (self.exhaustive or self.sequential):
            ranking = " < ".join(" = ".join(group) for group in differences.groups)
            level = f"{1 - differences.confidence:.2g}"
            yield f"Signed-rank test, corrected for all pairs, significance {level}: {ranking}."
        if self.ending != "revealed":
            yield from self._pairs_shown(self.differences(_is_won), _RIGHT)

    def _pairs_shown(
        self, differences: PairedDifferences, measure: _Measure
    ) -> Iterator[str | Table]:
        if self.exhaustive:
            yield f"Exact differences over all codes, in {measure.unit}:"
        else:
            yield (
                f"Differences on the same games, in {measure.unit}, with"
                f" {100 * differences.confidence:g} % intervals for all pairs together"
                f" ({differences.interval}):"
            )
        rows = []
        for pair in _shown_pairs(differences, measure):
            better, worse, low, mean, high = _directed(pair, measure)
            digits = measure.digits
            known = "-" if math.isinf(high) else f"{low:.{digits}f} to {high:.{digits}f}"
            told = [] if self.exhaustive else [known, self._told(pair)]
            rows.append([better, worse, f"{mean:.{digits}f}", *told])
        told = [] if self.exhaustive else ["interval", "significant?"]
        left = (0, 1) if self.exhaustive else (0, 1, 4)
        yield Table((measure.column, "than", "by", *told), rows, left=left)
        yield _verdict(differences, measure)

    def _told(self, pair: PairedDifference) -> str:
        """Return whether it can be told which of two strategies is better, and when it could be."""
        if pair.can_be_told:
            return "yes"
        if pair.standard_error == 0:
            return "no, equal in all games" if pair.mean == 0 else "no, too few games"
        observations = pair.games_to_tell
        if observations is None or abs(pair.mean) < pair.standard_error:
            return "not yet"
        games = observations * self.match
        step: int = 10 ** max(0, len(str(games)) - 2)
        return f"not yet, about {-(-games // step) * step:,} games"

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """One summary for each strategy, in the given order."""
        return tuple(_summary(name, self.rows_of(name)) for name in self.strategies)

    @checked
    def rows_of(self, strategy: str) -> tuple[GameRow, ...]:
        """Return the games of one strategy, ordered by game.

        Parameters
        ----------
        strategy
            The name of the strategy.
        """
        return tuple(row for row in self.rows if row.strategy == strategy)

    @checked
    def differences(
        self,
        measure: Callable[[GameRow], float] | None = None,
        *,
        confidence: float = 0.95,
        interval: IntervalMethod | None = None,
    ) -> PairedDifferences:
        """Return the paired differences of all strategies.

        Games of a match depend on each other if the strategies learn, so a whole match counts as
        one observation: its mean. Games of an incomplete last match are left out, unless there is
        no whole match: then all games are one observation. If these are all games that there are
        (`exhaustive`), each of them counts.

        Parameters
        ----------
        measure
            A function that returns the value of a game, such as ``lambda row: row.won``; by default
            the number of guesses.
        confidence
            The probability that all intervals cover their means, in (0, 1).
        interval
            The method of the intervals. The default depends on how the number of games was
            decided: `StudentInterval` if in advance, `ConfidenceSequence` if by looking at the
            results (`sequential`), `ExactMean` if there are no others (`exhaustive`), and infinite
            intervals without tests if the games are no sample (`first_codes`).

        Raises
        ------
        InvalidArgumentError
            If the confidence is out of range.
            If the measure returns a value that is not a finite number.

        Examples
        --------
        >>> from bnmind.lab import compare
        >>> from bnmind.mastermind import Board, Channel
        >>> from bnmind.strategies import Knuth, RandomCode
        >>> comparison = compare([RandomCode(), Knuth()], Channel.exact(Board(3, 4)), games=300)
        >>> print(comparison.differences())
        random - knuth: -0.12 (-0.2407 to 0.0007441)
        """
        if interval is None:
            interval = self._interval
        value = _guesses if measure is None else measure
        values = {
            name: number_array([value(row) for row in self.rows_of(name)], f"the values of {name}")
            for name in self.strategies
        }
        if not self.exhaustive:
            match = min(self.match, self.games)
            values = {name: match_means(games, match) for name, games in values.items()}
        return paired_differences(values, confidence=confidence, interval=interval)

    @property
    def _interval(self) -> IntervalMethod:
        """The interval that fits the way in which the games were chosen."""
        if self.exhaustive:
            return ExactMean()
        if self.first_codes:
            return UnknownInterval()
        return ConfidenceSequence() if self.sequential else StudentInterval()

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a new pandas data frame."""
        import pandas as pd

        columns = [column.name for column in fields(GameRow)]
        return pd.DataFrame([astuple(row) for row in self.rows], columns=columns)


@checked
def comparison_groups(
    comparison: Comparison, *, significance: float = 0.05, corrected: bool = False
) -> RankSumGroups:
    """Return the groups of the strategies of a comparison, by their numbers of guesses.

    The test ignores that the games are the same ones; `Comparison.differences` does not, and tells
    more strategies apart.

    Parameters
    ----------
    comparison
        The comparison. All games count with the guesses made, lost ones too; see `Summary.mean`.
    significance, corrected
        As for `rank_sum_groups`.
    """
    lengths = {
        name: [_guesses(row) for row in comparison.rows_of(name)] for name in comparison.strategies
    }
    return rank_sum_groups(lengths, significance=significance, corrected=corrected)


def match_means(games: Floats, match: int) -> Floats:
    """Return the mean of each whole match of consecutive games."""
    whole = games[: len(games) // match * match]
    means: Floats = whole.reshape(-1, match).mean(axis=1)
    return means


_SETTING = (
    *("board", "channel", "assumed", "games", "seed", "max_guesses", "ending", "prior"),
    *("assumed_prior", "match"),
)
"""What a record of a comparison says about the games."""

_FEW = 5
"""Up to this number of strategies, every pair has a row in the table of differences."""


class _Measure(NamedTuple):
    """How to speak of what is compared."""

    needs: str
    """The verb for the strategy with fewer guesses, or more right codes."""
    equal: str
    """The verb for strategies with equal means."""
    column: str
    unit: str
    scale: float
    """A factor of the numbers; negative if less is better."""
    digits: int
    """The number of decimal places."""


_GUESSES = _Measure(
    "needs fewer guesses than",
    "need equally many guesses",
    column="fewer guesses",
    unit="guesses a game",
    scale=-1.0,
    digits=3,
)
_RIGHT = _Measure(
    "is right more often than",
    "are right equally often",
    column="more often right",
    unit="percentage points",
    scale=100.0,
    digits=1,
)


def _shown_pairs(differences: PairedDifferences, measure: _Measure) -> list[PairedDifference]:
    """Return all pairs of few strategies, and of many only those with the best one."""
    best = _best(differences, measure)
    few = len(differences.ranking) <= _FEW
    return [pair for pair in differences.pairs if few or best in (pair.first, pair.second)]


def _best(differences: PairedDifferences, measure: _Measure) -> str:
    return differences.ranking[0 if measure.scale < 0 else -1]


def _directed(pair: PairedDifference, measure: _Measure) -> tuple[str, str, float, float, float]:
    """Return the better strategy, the other, and by how much it is better: low, mean, high."""
    if measure.scale > 0:
        pair = pair.swapped()
    low, high = sorted((measure.scale * pair.low, measure.scale * pair.high))
    return pair.first, pair.second, low, abs(measure.scale * pair.mean), high


def _verdict(differences: PairedDifferences, measure: _Measure) -> str:
    """Return in one or two sentences which strategy is the best, as far as that can be told."""
    best = _best(differences, measure)
    exact = differences.interval == ExactMean().name
    told: list[str] = []
    untold: list[str] = []
    equal: list[str] = []
    for name in differences.ranking:
        if name == best:
            continue
        pair = differences.between(best, name)
        if pair.can_be_told:
            told.append(name)
        elif pair.mean == 0 and (exact or pair.standard_error == 0):
            equal.append(name)
        else:
            untold.append(name)
    sentences = []
    if told:
        sentences.append(f"{best} {measure.needs} {in_words(told)}.")
    if equal:
        does = measure.equal if exact else "were equal in all games"
        sentences.append(f"{in_words([best, *equal])} {does}.")
    if untold:
        names = in_words(untold, "or")
        sentences.append(f"It is not clear yet whether {best} {measure.needs} {names}.")
    return " ".join(sentences)


def _guesses(row: GameRow) -> float:
    return float(row.guesses)


def _is_won(row: GameRow) -> float:
    return float(row.won)


def _summary(strategy: str, rows: Sequence[GameRow]) -> Summary:
    guesses = [row.guesses for row in rows]
    sd = statistics.stdev(guesses) if len(guesses) > 1 else math.nan
    examined = [row.codes_examined for row in rows if row.codes_examined is not None]
    return Summary(
        strategy=strategy,
        games=len(rows),
        mean=statistics.fmean(guesses),
        standard_error=sd / math.sqrt(len(rows)),
        sd=sd,
        worst=max(guesses),
        won=sum(row.won for row in rows) / len(rows),
        within_ten=sum(row.won and row.guesses <= 10 for row in rows) / len(rows),
        seconds_per_game=statistics.fmean(row.seconds for row in rows),
        codes_examined=statistics.fmean(examined) if examined else None,
    )


# --- The entropy of the belief at each turn of a recorded game ------------------------------------


@checked
def belief_entropies(transcript: Transcript) -> tuple[float, ...]:
    """Return the entropy of the belief before each guess, in bits.

    This is the belief of a player who models the assumed noise and the assumed prior, even if the
    strategy itself believes every reply. So all strategies can be compared; see `plot_entropies`.

    Parameters
    ----------
    transcript
        The game. If its board has too many codes to list, the entropies are estimates from
        samples.

    Examples
    --------
    >>> from bnmind.lab import CodeMaker, play_game
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import Knuth
    >>> game = play_game(Knuth(), CodeMaker.from_seed(Channel.exact(Board(4, 6)), 8))
    >>> [round(entropy, 2) for entropy in belief_entropies(game)]
    [10.34, 8.0, 5.46, 2.0, 0.0]
    """
    belief = start_posterior(transcript.assumed, transcript.assumed_prior)
    entropies = []
    for turn in transcript.turns:
        entropies.append(belief.entropy())
        if turn.report is not None:
            belief = belief.update(turn.guess, turn.report)
    return tuple(entropies)


# --- Plots of comparisons -------------------------------------------------------------------------


@checked
def plot_lengths(comparison: Comparison) -> Figure:
    """Plot the distribution of the numbers of guesses, as a bar chart for each strategy.

    The longest games share the last bar. The figure is not registered with pyplot: save it with its
    ``savefig``, or show it in a notebook.

    Parameters
    ----------
    comparison
        The games of a comparison.
    """
    lengths = {
        name: [row.guesses for row in comparison.rows_of(name)] for name in comparison.strategies
    }
    return plot_distributions(lengths, title=comparison_title(comparison))


def comparison_title(comparison: Comparison) -> str:
    """Return the title of a plot of a comparison."""
    noise = noise_in_words(comparison.channel).removesuffix(".")
    return (
        f"Mastermind {comparison.board}, {counted(comparison.games, 'game')}\n"
        f"{noise.removesuffix(f' ({comparison.channel})')}"
    )
