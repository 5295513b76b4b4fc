"""What the engine is to reach on the wheel's networks, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeAlias

from tests.wheel import EVIDENCE

__all__ = ["AIMS", "Aim", "Finding", "Results", "Seconds"]

Record: TypeAlias = dict[str, Any]

LAZY, SHAFER, PGMPY, OURS = "pyagrum-lazy", "pyagrum-shafer", "pgmpy-elimination", "bnmind"
PYAGRUM = "pyagrum"
"""The faster of LazyPropagation and ShaferShenoyInference in each draw."""
SMALL = ("alarm", "hailfinder", "win95pts", "insurance")
LARGE = ("water", "mildew", "barley", "munin1", "link", "diabetes", "pigs", "munin")
OBSERVED = ("leaves", "random")


@dataclass(frozen=True)
class Seconds:
    """A time, or the least that it can be."""

    at_least: float
    exact: bool = True


class Results:
    """Records by network, evidence, engine and draw of the evidence."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._by_key = {(r["network"], r["evidence"], r["engine"], r["draw"]): r for r in records}

    def record(self, network: str, evidence: str, engine: str, draw: int = 1) -> Record | None:
        """Return a record, or None if that was not measured."""
        return self._by_key.get((network, evidence, engine, draw))

    def draws(self, network: str, evidence: str, *engines: str) -> list[int]:
        """Return the draws of the evidence that all of some engines were asked about."""
        known = {draw for _, _, _, draw in self._by_key}
        return [
            draw
            for draw in sorted(known)
            if all(self.record(network, evidence, engine, draw) for engine in engines)
        ]

    def seconds(self, network: str, evidence: str, engine: str, which: str) -> Seconds | None:
        """Return the median over the draws of the times that `of_draw` gives."""
        draws = self.draws(network, evidence, engine)
        times = [self.of_draw(network, evidence, engine, which, draw) for draw in draws]
        return middle([time for time in times if time is not None])

    def of_draw(
        self, network: str, evidence: str, engine: str, which: str, draw: int
    ) -> Seconds | None:
        """Return the median of the ``first`` or second (``again``) queries, or of ``cold`` ones."""
        if engine == PYAGRUM:
            both = (self.of_draw(network, evidence, one, which, draw) for one in (LAZY, SHAFER))
            return min(filter(None, both), key=lambda time: time.at_least, default=None)
        record = self.record(network, evidence, engine, draw)
        if record is None:
            return None
        if record.get(which):
            return Seconds(median(record[which]))
        if which == "first" and record["fault"] == "cut off":
            return Seconds(record["cut_off"], exact=False)
        if record["fault"] == "out of memory":
            return Seconds(math.inf)
        return None

    def networks(self) -> list[str]:
        """Return the networks that were measured."""
        return list(dict.fromkeys(network for network, _, _, _ in self._by_key))


def middle(times: Sequence[Seconds]) -> Seconds | None:
    """Return the median; None of no times.

    It is a lower bound only if a time that was cut off may lie below it.
    """
    if not times:
        return None
    value = median(t.at_least for t in times)
    return Seconds(value, exact=all(t.exact or t.at_least > value for t in times))


@dataclass(frozen=True)
class Finding:
    """What was measured for one aim on one network."""

    network: str
    aim: str
    measured: tuple[str, ...]
    """One for each kind of evidence."""
    reached: bool | None
    """None if it cannot be told: the other engine was stopped before."""


@dataclass(frozen=True)
class Aim:
    """One aim, for several networks."""

    title: str
    wanted: dict[str, float]
    evidence: tuple[str, ...]
    judge: Callable[[Results, str, str, float], tuple[str, bool | None] | None]
    """Returns what was measured in words, and whether it suffices."""
    shown: str
    """How the figure wanted is written, {} being its place."""

    def findings(self, results: Results) -> Iterator[Finding]:
        """Yield what was measured for each network."""
        for network, wanted in self.wanted.items():
            told, verdicts = [], []
            for evidence in self.evidence:
                judged = self.judge(results, network, evidence, wanted)
                if judged is not None:
                    told.append(f"{evidence} {judged[0]}")
                    verdicts.append(judged[1])
            if told:
                reached = False if False in verdicts else None if None in verdicts else True
                yield Finding(network, self.shown.format(f"{wanted:.3g}"), tuple(told), reached)


def times_as_fast(
    engine: str, which: str, ours: str
) -> Callable[[Results, str, str, float], tuple[str, bool | None] | None]:
    """Return the judge of how many times as long another engine takes."""

    def judge(
        results: Results, network: str, evidence: str, wanted: float
    ) -> tuple[str, bool | None] | None:
        ratios = []
        recorded = LAZY if engine == PYAGRUM else engine
        for draw in results.draws(network, evidence, recorded, OURS):
            theirs = results.of_draw(network, evidence, engine, which, draw)
            own = results.of_draw(network, evidence, OURS, ours, draw)
            if theirs is None or own is None:
                continue
            if not own.exact or math.isinf(own.at_least):
                return "not answered", False
            ratios.append(Seconds(theirs.at_least / own.at_least, theirs.exact))
        ratio = middle(ratios)
        if ratio is None:
            return None
        if math.isinf(ratio.at_least):
            return "they run out of memory", True
        reached = True if ratio.at_least >= wanted else (False if ratio.exact else None)
        return f"{'' if ratio.exact else '> '}{ratio.at_least:.3g}×{_range(ratios)}", reached

    return judge


def _range(ratios: Sequence[Seconds]) -> str:
    """Return the smallest and the largest of several ratios in words."""
    if len(ratios) < 2:
        return ""
    least, most = (pick(ratio.at_least for ratio in ratios) for pick in (min, max))
    return f" ({least:.3g}–{'∞' if math.isinf(most) else f'{most:.3g}'})"


def within(which: str) -> Callable[[Results, str, str, float], tuple[str, bool | None] | None]:
    """Return the judge of our own time in milliseconds."""

    def judge(
        results: Results, network: str, evidence: str, wanted: float
    ) -> tuple[str, bool | None] | None:
        own = results.seconds(network, evidence, OURS, which)
        if own is None:
            return None
        return f"{1e3 * own.at_least:.3g} ms", own.exact and 1e3 * own.at_least <= wanted

    return judge


def _memory(
    results: Results, network: str, evidence: str, wanted: float
) -> tuple[str, bool | None] | None:
    own, theirs = (results.record(network, evidence, engine) for engine in (OURS, LAZY))
    if own is None or theirs is None or own["memory"] is None:
        return None
    if theirs["fault"] == "out of memory" or theirs["memory"] is None:
        return "they run out of memory", True
    # Peaks are known to some pages only: less than 1 MB is not told apart.
    ratio = max(1.0, theirs["memory"]) / max(1.0, own["memory"])
    return f"{ratio:.3g}× less", ratio >= wanted


def _all(value: float, networks: Sequence[str] = SMALL + LARGE, **other: float) -> dict[str, float]:
    return {**dict.fromkeys(networks, value), **other}


AIMS = (
    Aim(
        "first query, against the faster of pyAgrum's two engines",
        {"water": 8, "mildew": 8, "barley": 5, "munin1": 30, "link": 15},
        ("none", "leaves"),
        times_as_fast(PYAGRUM, "first", "first"),
        "{}× as fast",
    ),
    Aim(
        "first query, evidence on a random tenth, against the faster of pyAgrum's two engines",
        _all(1 / 1.5, barley=4, munin1=4, link=4),
        ("random",),
        times_as_fast(PYAGRUM, "first", "first"),
        "{}× as fast",
    ),
    Aim(
        "first query of link without evidence", {"link": 1000}, ("none",), within("first"), "{} ms"
    ),
    Aim(
        "memory of the first query, against LazyPropagation",
        {"water": 4, "mildew": 4, "barley": 4, "munin1": 10, "link": 10},
        ("none", "leaves"),
        _memory,
        "{}× less",
    ),
    Aim(
        "second query, against the faster of pyAgrum's two engines with changed evidence",
        _all(3, (*SMALL, "diabetes", "pigs")),
        OBSERVED,
        times_as_fast(PYAGRUM, "again", "again"),
        "{}× as fast",
    ),
    Aim("first query of small networks", _all(20, SMALL), EVIDENCE, within("first"), "{} ms"),
    Aim(
        "first query of small networks in a fresh process, nothing compiled",
        _all(100, SMALL),
        EVIDENCE,
        within("cold"),
        "{} ms",
    ),
    Aim(
        "first query where trees are many and small, against the faster of pyAgrum's two engines",
        {"diabetes": 0.5, "pigs": 0.5},
        EVIDENCE,
        times_as_fast(PYAGRUM, "first", "first"),
        "{}× as fast",
    ),
    Aim(
        "second query, against the first of pgmpy's VariableElimination",
        _all(10),
        OBSERVED,
        times_as_fast(PGMPY, "first", "again"),
        "{}× as fast",
    ),
    Aim(
        "first query, against pgmpy's VariableElimination",
        _all(3, insurance=2),
        OBSERVED,
        times_as_fast(PGMPY, "first", "first"),
        "{}× as fast",
    ),
    Aim(
        "first query without evidence, where pgmpy needs the ancestors of a target only",
        _all(1),
        ("none",),
        times_as_fast(PGMPY, "first", "first"),
        "{}× as fast",
    ),
)
"""The aims, in the order of the page."""
