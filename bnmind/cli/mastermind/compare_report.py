"""The report of ``bnmind compare``: a summary of each strategy, and who is better than whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._messages import counted, percent
from bnmind.cli.mastermind.setting import UNIFORM
from bnmind.cli.shared.terminal import plain_table, show_table, tell, terminal

if TYPE_CHECKING:
    from rich.console import Console

    from bnmind.lab import Comparison, Contest, GameRow, PairedDifference, PairedDifferences

__all__ = ["comparison_as_json", "show_comparison", "show_notes"]

_FEW = 5
"""Up to this number of strategies, every pair has a row in the table of differences."""


@dataclass(frozen=True, kw_only=True)
class _Wording:
    """How to speak of a measure."""

    needs: str
    """The verb for the strategy with fewer guesses, or more right codes."""
    equal: str
    """The verb for strategies with equal means."""
    column: str
    """The heading of its column."""
    unit: str
    """The unit of the numbers."""
    scale: float
    """A factor of the numbers; negative if more is better."""
    digits: int
    """The number of decimal places."""


_GUESSES = _Wording(
    needs="needs fewer guesses than",
    equal="need equally many guesses",
    column="fewer guesses",
    unit="guesses a game",
    scale=-1.0,
    digits=3,
)
_RIGHT = _Wording(
    needs="is right more often than",
    equal="are right equally often",
    column="more often right",
    unit="percentage points",
    scale=100.0,
    digits=1,
)


def show_comparison(
    comparison: Comparison, written: tuple[Path, ...], *, reached: str | None = None
) -> None:
    """Print a comparison.

    Parameters
    ----------
    comparison
        The comparison.
    written
        The files written.
    reached
        A sentence that says whether the games suffice, if the command decides that.
    """
    console = terminal()
    _show_setting(console, comparison)
    _show_summaries(console, comparison)
    limit = counted(comparison.max_guesses, "guess", "guesses")
    if comparison.ending == "revealed":
        lost = [
            f"{s.strategy} lost {percent(1 - s.won)}" for s in comparison.summaries if s.won < 1
        ]
        if lost:
            console.print(f"Lost games count as the limit of {limit}: {', '.join(lost)}.")
        else:
            console.print(f"No game was lost; the limit is {limit}.")
    else:
        right = ", ".join(f"{s.strategy} {percent(s.won)}" for s in comparison.summaries)
        console.print(f"Named the right code, ending {comparison.ending}: {right}.")
    if reached is not None:
        console.print(reached, soft_wrap=True)
    if len(comparison.strategies) > 1:
        _show_differences(console, comparison)
    console.print(f"Written: {', '.join(map(str, written))}", soft_wrap=True)


def show_notes(contest: Contest) -> None:
    """Print what `best` stands for, and what changes nothing: a strategy, a prior, a match."""
    from bnmind.strategies import MapCode, RandomCode, ignores_prior, trust_suffices

    _show_best(contest)
    if contest.match > 1 and not contest.learns:
        prior = contest.prior if contest.assumed_prior is None else contest.assumed_prior
        name = UNIFORM if prior is None else prior.name
        tell(f"--match {contest.match} changes nothing: the assumed prior {name} does not learn.")
    names = [one.name for one in contest.strategies if isinstance(one, MapCode | RandomCode)]
    unbiased = contest.prior is None and contest.assumed_prior is None
    if len(names) > 1 and unbiased and trust_suffices(contest.believed):
        tell(
            f"{' and '.join(names)} play the same games here: under {contest.believed.name} the\n"
            "most probable codes are those that contradict the fewest replies."
        )
    ignorant = [one.name for one in contest.strategies if ignores_prior(one)]
    if ignorant and not unbiased:
        tell(f"{_in_words(ignorant)} {'do' if len(ignorant) > 1 else 'does'} not use the prior.")


def _show_best(contest: Contest) -> None:
    """Name the strategy that `best` followed."""
    from bnmind.mastermind import UniformPrior
    from bnmind.strategies import Best
    from bnmind.strategies.belief_game.best import best_player

    assumed = contest.prior if contest.assumed_prior is None else contest.assumed_prior
    uniform = assumed is None or isinstance(assumed, UniformPrior)
    for one in contest.strategies:
        if isinstance(one, Best):
            tell(f"{one.name} plays as {best_player(contest.believed, uniform=uniform).name} here.")


def comparison_as_json(
    comparison: Comparison,
    written: tuple[Path, ...],
    *,
    until: str | None = None,
    reached: bool | None = None,
) -> dict[str, object]:
    """Return what ``--json`` prints."""
    differences = comparison.differences()
    named = {} if comparison.ending == "revealed" else {"won": _won(comparison)}
    return {
        "board": comparison.board,
        "channel": comparison.channel,
        "assumed": comparison.assumed,
        "games": comparison.games,
        "seed": comparison.seed,
        "max_guesses": comparison.max_guesses,
        "ending": comparison.ending,
        "prior": comparison.prior,
        "assumed_prior": comparison.assumed_prior,
        "match": comparison.match,
        "strategies": [summary.as_dict() for summary in comparison.summaries],
        "groups": [list(group) for group in differences.groups],
        "until": until,
        "reached": reached,
        "differences": {
            measure: {
                "confidence": found.confidence,
                "interval": found.interval,
                "pairs": [pair.as_dict() for pair in found.pairs],
            }
            for measure, found in {"guesses": differences, **named}.items()
        },
        "files": [str(path) for path in written],
    }


def _show_setting(console: Console, comparison: Comparison) -> None:
    from bnmind.lab.mastermind.noise_words import noise_clause, noise_in_words

    match = "" if comparison.match == 1 else f", matches of {comparison.match} games"
    console.print(
        f"Board {comparison.board}{_prior_text(comparison)}{match}, seed {comparison.seed}.",
        soft_wrap=True,
    )
    console.print(noise_in_words(comparison.channel))
    if comparison.assumed != comparison.channel:
        console.print(f"The strategies assume that {noise_clause(comparison.assumed)}.")
    console.print("Guesses a game:")


def _prior_text(comparison: Comparison) -> str:
    """Return a description of the priors, unless both are uniform."""
    if comparison.prior == comparison.assumed_prior:
        return "" if comparison.prior == UNIFORM else f", prior {comparison.prior}"
    return f", prior {comparison.prior}, assumed to be {comparison.assumed_prior}"


def _show_summaries(console: Console, comparison: Comparison) -> None:

    counts = any(summary.codes_examined is not None for summary in comparison.summaries)
    columns = ("strategy", "games", "mean", "std error", "sd", "worst", "within 10", "seconds")
    table = plain_table(*columns, *(["codes"] if counts else []))
    for summary in comparison.summaries:
        table.add_row(
            summary.strategy,
            f"{summary.games:,}",
            f"{summary.mean:.3f}",
            _number(summary.standard_error),
            _number(summary.sd),
            f"{summary.worst}",
            percent(summary.within_ten),
            f"{summary.seconds_per_game:.4f}",
            *([_count(summary.codes_examined)] if counts else []),
        )
    show_table(console, table)
    if counts:
        console.print("codes: the mean number of codes that a strategy examines in a game.")


def _show_differences(console: Console, comparison: Comparison) -> None:
    """Print which strategy is better than which, by how much, and whether that can be told."""
    if comparison.first_codes:
        console.print(
            "No differences: the first codes in order are no sample of all codes.", soft_wrap=True
        )
        return
    differences = comparison.differences()
    _show_pairs(console, comparison, differences, _GUESSES)
    console.print(_verdict(differences, _GUESSES), soft_wrap=True)
    if not (comparison.exhaustive or comparison.sequential):
        ranking = " < ".join(" = ".join(group) for group in differences.groups)
        level = f"{1 - differences.confidence:.2g}"
        console.print(
            f"Signed-rank test, corrected for all pairs, significance {level}: {ranking}.",
            soft_wrap=True,
        )
    if comparison.ending != "revealed":
        right = _won(comparison)
        _show_pairs(console, comparison, right, _RIGHT)
        console.print(_verdict(right, _RIGHT), soft_wrap=True)


def _won(comparison: Comparison) -> PairedDifferences:
    """Return the differences of the shares of right codes."""
    return comparison.differences(_is_won)


def _is_won(row: GameRow) -> float:
    return float(row.won)


def _show_pairs(
    console: Console, comparison: Comparison, differences: PairedDifferences, wording: _Wording
) -> None:

    if comparison.exhaustive:
        heading = f"Exact differences over all codes, in {wording.unit}:"
    else:
        percent = f"{100 * differences.confidence:g} %"
        heading = (
            f"Differences on the same games, in {wording.unit}, with {percent} intervals for all"
            f" pairs together ({differences.interval}):"
        )
    console.print(heading, soft_wrap=True)
    intervals = [] if comparison.exhaustive else ["interval", "significant?"]
    table = plain_table(wording.column, "than", "by", *intervals)
    table.columns[1].justify = "left"
    table.columns[-1].justify = "left" if intervals else "right"
    for pair in _shown_pairs(differences, wording):
        better, worse, low, mean, high = _directed(pair, wording)
        digits = wording.digits
        known = "-" if math.isinf(high) else f"{low:.{digits}f} to {high:.{digits}f}"
        told = [known, _told(pair, comparison)] if intervals else []
        table.add_row(better, worse, f"{mean:.{digits}f}", *told)
    show_table(console, table)


def _shown_pairs(differences: PairedDifferences, wording: _Wording) -> list[PairedDifference]:
    """Return all pairs of few strategies, and of many only those with the best one."""
    if len(differences.ranking) <= _FEW:
        return list(differences.pairs)
    best = _best(differences, wording)
    return [pair for pair in differences.pairs if best in (pair.first, pair.second)]


def _best(differences: PairedDifferences, wording: _Wording) -> str:
    return differences.ranking[0 if wording.scale < 0 else -1]


def _directed(pair: PairedDifference, wording: _Wording) -> tuple[str, str, float, float, float]:
    """Return the better strategy, the other, and by how much it is better: low, mean, high."""
    if wording.scale > 0:
        pair = pair.swapped()
    ends = sorted((wording.scale * pair.low, wording.scale * pair.high))
    return pair.first, pair.second, ends[0], abs(wording.scale * pair.mean), ends[1]


def _told(pair: PairedDifference, comparison: Comparison) -> str:
    """Return whether it can be told which of two strategies is better, and when it could be."""
    if pair.can_be_told:
        return "yes"
    if pair.standard_error == 0:
        return "no, equal in all games" if pair.mean == 0 else "no, too few games"
    observations = pair.games_to_tell
    if observations is None or abs(pair.mean) < pair.standard_error:
        return "not yet"
    games = observations * comparison.match
    step: int = 10 ** max(0, len(str(games)) - 2)
    return f"not yet, about {-(-games // step) * step:,} games"


def _verdict(differences: PairedDifferences, wording: _Wording) -> str:
    """Return in one or two sentences which strategy is the best, as far as that can be told."""
    from bnmind.lab import ExactMean

    best = _best(differences, wording)
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
        sentences.append(f"{best} {wording.needs} {_in_words(told)}.")
    if equal:
        does = wording.equal if exact else "were equal in all games"
        sentences.append(f"{_in_words([best, *equal])} {does}.")
    if untold:
        sentences.append(
            f"It is not clear yet whether {best} {wording.needs} {_in_words(untold, 'or')}."
        )
    return " ".join(sentences)


def _in_words(names: Sequence[str], word: str = "and") -> str:
    """Return names as in a sentence: ``a, b and c``."""
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"


def _count(value: float | None) -> str:
    return "-" if value is None else f"{value:,.0f}"
