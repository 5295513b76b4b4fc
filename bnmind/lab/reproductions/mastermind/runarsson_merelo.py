"""Runarsson and Merelo, *Adapting heuristic Mastermind strategies* (2010): tables 2 to 4."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from bnmind.lab.reproductions.base.figures import (
    Estimate,
    Figure,
    Reference,
    Standing,
    counted,
    exact,
    measured,
    new,
)
from bnmind.lab.reproductions.base.published import longest_runs, published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC
from bnmind.lab.reproductions.mastermind.games import played
from bnmind.mastermind import Channel
from bnmind.strategies import (
    EstimationOfDistribution,
    LocalEntropy,
    Strategy,
    average_games,
    open_aabb,
    open_aabc,
    strategy_by_name,
)

__all__ = ["ESTIMATIONS", "HEURISTIC_MEANS", "SUBSETS"]

_SOURCE = (
    "T. P. Runarsson and J. J. Merelo, Adapting heuristic Mastermind strategies to evolutionary"
    " algorithms (2010), arXiv 0912.2415"
)
_REPLICATED = (
    "The printed tables are missing in the copy that we have; the means beside ours are those of an"
    " independent replication of our own."
)
_THEIR_RUNS = 10
_SCORES = ("entropy", "most-parts", "expected-size", "worst-case", "random")
_OPENINGS = {"AABC": open_aabc, "AABB": open_aabb}


def _heuristic(score: str) -> Sequence[Figure]:
    sources, key = published("runarsson_merelo"), score.replace("-", "_")
    replicated, most = sources["replicated"], sources["most"][key]
    found = average_games(strategy_by_name(f"subset:all:{score}"), CLASSIC)
    lengths = range(1, found.worst + 1)
    # The median of the longest game: longer ones are Poisson distributed.
    ours = max(n for n in lengths if _THEIR_RUNS * sum(found.expected[n - 1 :]) >= math.log(2))
    longest = exact(
        f"{score}, most guesses in ten runs",
        ours,
        Reference(most, Standing.PUBLICATION),
        note="stated in section 3",
        why=f"no game of ours can take more than {found.worst}",
    )
    mean = Reference(replicated[key], error=replicated["standard_error"])
    return (exact(f"{score}, exact mean", found.mean, mean), longest)


def _local(name: str) -> Sequence[Figure]:
    mean = average_games(LocalEntropy(opening=_OPENINGS[name]), CLASSIC).mean
    return (new(f"local entropy, first guess {name}, exact mean", mean),)


def _heuristics(setting: Setting) -> Sequence[Part]:
    scores = tuple(Part(score, partial(_heuristic, score)) for score in _SCORES)
    return (*scores, *(Part(name, partial(_local, name)) for name in _OPENINGS))


def _runs(strategy: Strategy, runs: int, seed: int) -> Estimate:
    """Return the mean over all codes in several runs."""
    channel = Channel.exact(CLASSIC)
    guesses = [
        played([strategy], channel, None, seed * 1000 + run)[strategy.name].guesses
        for run in range(runs)
    ]
    return Estimate.of(np.concatenate(guesses).tolist())


def _subset(size: str, runs: int, seed: int) -> Sequence[Figure]:
    theirs = published("runarsson_merelo")["replicated"]
    ours = _runs(strategy_by_name(f"subset:{size}:entropy"), runs, seed)
    name = f"entropy in a subset of {size}"
    other = Reference(theirs["entropy_subset"][size], error=theirs["subset_standard_error"])
    longest = longest_runs("runarsson-merelo-subsets").get(name)
    return (measured(name, ours, other, longest=longest),)


def _subsets(setting: Setting) -> Sequence[Part]:
    runs = setting.of(2, 20)
    return tuple(
        Part(size, partial(_subset, size, runs, setting.seed))
        for size in published("runarsson_merelo")["replicated"]["entropy_subset"]
    )


def _estimation(opening: str, local: bool, runs: int, seed: int) -> Sequence[Figure]:
    strategy = replace(
        EstimationOfDistribution(local_entropy=local), opening=_OPENINGS[opening], name="eda"
    )
    ours = _runs(strategy, runs, seed)
    label = f"estimation of distributions{' with local entropy' if local else ''}, {opening}"
    figures = [counted(label, ours)]
    if opening == "AABC":
        random = published("runarsson_merelo")["exact"]["random"]
        less = Estimate(ours.mean - random, ours.standard_error, ours.games)
        name = f"{label}, minus a random possible code"
        longest = longest_runs("runarsson-merelo-eda").get(name, less)
        judged = max(less, longest, key=lambda one: one.games)
        why = f"{_judged(judged, better=local)} in {judged.games:,} games"
        figures.append(counted(name, less, why=why))
    return figures


def _judged(less: Estimate, *, better: bool) -> str:
    """Return the claim of the paper about a difference, and whether two standard errors tell."""
    claim = "better than" if better else "like"
    off, tells = less.mean, abs(less.mean) > 2 * less.standard_error
    if not tells:
        found = "cannot be told" if better else "no difference can be told"
    else:
        found = "confirmed" if better and off < 0 else "contradicted"
    return f"claim: {claim} a random possible code; {found}"


def _estimations(setting: Setting) -> Sequence[Part]:
    runs = setting.of(3, 40)
    return tuple(
        Part(f"{opening} {local}", partial(_estimation, opening, local, runs, setting.seed))
        for opening in _OPENINGS
        for local in (False, True)
    )


HEURISTIC_MEANS = Reproduction(
    title="heuristics that guess only possible codes, exact means on 4x6",
    source=f"{_SOURCE}, section 3 and tables 2 and 3",
    quick_minutes=0.1,
    minutes=0.1,
    parts=_heuristics,
    text=f"All ties are random, and the first guess is AABC. {_REPLICATED} Our means are over all "
    "codes and all random choices, without sampling error. The text of the paper states the most "
    "guesses of a game in ten runs over all codes. It says that the expected size needs up to "
    "seven; here it never needs more than six.",
)

SUBSETS = Reproduction(
    title="heuristics in random subsets of the possible codes",
    source=f"{_SOURCE}, table 4",
    quick_minutes=0.5,
    minutes=5,
    parts=_subsets,
    text=f"Each run plays all 1,296 codes. {_REPLICATED}",
)

ESTIMATIONS = Reproduction(
    title="estimation of distributions, with and without local entropy",
    source=f"{_SOURCE}, table 3",
    quick_minutes=0.4,
    minutes=5,
    parts=_estimations,
    text="The paper claims that the algorithm with local entropy is better than random play among "
    "the possible codes, and that the algorithm without it is not. Its printed table is missing in "
    "the copy that we have.",
)
