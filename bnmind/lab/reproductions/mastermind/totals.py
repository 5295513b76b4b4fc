"""Totals of guesses over all codes of a board, with true replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bnmind.lab.reproductions.base.figures import (
    Better,
    Figure,
    Reference,
    Standing,
    exact,
    new,
    quoted,
)
from bnmind.lab.reproductions.base.published import published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC, board_of
from bnmind.mastermind import Channel, guess_classes, reply_masses
from bnmind.strategies import (
    Among,
    Goal,
    MostParts,
    Myopic,
    WorstCase,
    build_tree,
    optimal_in_worst_case,
    optimal_on_average,
    strategy_by_name,
)

__all__ = ["CONSISTENT_ONLY", "FIRST_GUESSES", "HEURISTICS", "INEQUIVALENT", "OPTIMAL_TOTALS"]

_TOTALS = "mastermind_totals"
_PUBLICATION, _PROGRAM = Standing.PUBLICATION, Standing.PROGRAM


def _known(name: str, row: Mapping[str, Any], total: float) -> Figure:
    """Return a total beside the published one, or the one found by another program."""
    for key, standing in (("published", _PUBLICATION), ("confirmed", _PROGRAM)):
        if key in row:
            other, note = Reference(row[key], standing), row.get("source", "")
            return exact(name, round(total), other, better=Better.LOWER, note=note)
    return new(name, round(total))


def _optimal(number: int) -> Sequence[Figure]:
    row = published(_TOTALS)["optimal"][number]
    board, name = board_of(row["board"]), row["board"]
    figures = [_known(f"{name}, total", row, optimal_on_average(board).total)]
    if "determining" in row:
        total = optimal_on_average(board, Goal.DETERMINING).total
        figures.append(new(f"{name}, total until the code is known", total))
    if "worst" in row:
        worst, k = optimal_in_worst_case(board).value, board.colors
        theirs = 4 + (k - 1) // 3 if board.pegs == 3 and k > 4 and board.repeats else None
        note = "" if theirs is None else "Jäger and Peczarski (2009)"
        other = None if theirs is None else Reference(theirs, _PUBLICATION)
        figures.append(exact(f"{name}, worst case", round(worst), other, note=note))
    return figures


def _within(number: int) -> Sequence[Figure]:
    row = published(_TOTALS)["optimal_within"][number]
    most = row["max_guesses"]
    optimum = optimal_on_average(board_of(row["board"]), max_guesses=most)
    name = f"{row['board']}, total with at most {most} guesses"
    figures = [_known(name, row, optimum.total)]
    if "distribution" in row:
        theirs, ours = row["distribution"], optimum.tree.distribution
        total = sum(guess * codes for guess, codes in enumerate(theirs, start=1))
        note = (
            f"codes found at guess 1, 2, …: {_list(theirs)}; in our tree {_list(ours)}, with the"
            " same total"
        )
        other = Reference(total, _PUBLICATION)
        figures.append(exact(f"{name}, of the published tree", optimum.total, other, note=note))
    return figures


def _list(codes: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in codes)


def _optimal_parts(setting: Setting) -> Sequence[Part]:
    totals = published(_TOTALS)
    return tuple(
        Part(f"{kind} {number}", partial(function, number))
        for kind, function in (("optimal", _optimal), ("optimal_within", _within))
        for number, row in enumerate(totals[kind])
        if setting.of("slow" not in row and "command" not in row, True)
    )


def _consistent(first: str) -> Sequence[Figure]:
    theirs = published(_TOTALS)["consistent_only"][first]
    guess = CLASSIC.parse(first)
    total = optimal_on_average(CLASSIC, among=Among.POSSIBLE, first=guess).total
    name = f"first guess {first}, total"
    return (exact(name, total, Reference(theirs, _PROGRAM), better=Better.LOWER),)


def _heuristic(name: str) -> Sequence[Figure]:
    row = published(_TOTALS)["heuristics"][name]
    tree = build_tree(strategy_by_name(name), Channel.exact(CLASSIC))
    figures = [_known(f"{name}, total", row, tree.total)]
    if "quoted" in row:
        why = "Irving's own strategy, which searches exhaustively from the third guess on"
        figures.append(quoted(f"{name}, total with the search", row["quoted"], why=why))
    if "known_distribution" not in row:
        return (*figures, new(f"{name}, worst case", len(tree.distribution)))
    theirs = dict(enumerate(row["distribution"], start=1))
    ours = dict(enumerate(tree.distribution, start=1))
    worst = Reference(max(theirs), _PROGRAM)
    figures.append(exact(f"{name}, worst case", max(ours), worst))
    figures += [
        exact(
            f"{name}, codes found at guess {guess}",
            round(ours.get(guess, 0)),
            Reference(theirs.get(guess, 0), _PROGRAM),
        )
        for guess in range(1, max(*ours, *theirs) + 1)
    ]
    return figures


def _variants() -> Sequence[Figure]:
    exact_channel = Channel.exact(CLASSIC)
    theirs = published(_TOTALS)["variants"]
    figures = []
    for name, score, key in (
        (
            "knuth, the whole list of classes compared",
            WorstCase(next_largest=True),
            "knuth_next_largest",
        ),
        (
            "kooi, the winning class not counted",
            MostParts(winning_counts=False),
            "kooi_without_winning",
        ),
    ):
        total = round(build_tree(Myopic(score), exact_channel).total)
        figures.append(exact(f"{name}, total", total, Reference(theirs[key], _PROGRAM)))
    return figures


def _inequivalent() -> Sequence[Figure]:
    known = published(_TOTALS)["inequivalent"]
    figures = []
    for size, classes in known["first"].items():
        ours = len(guess_classes(board_of(size), []).representatives)
        figures.append(exact(f"{size}, first guesses", ours, Reference(classes, _PROGRAM)))
    for text, classes in known["second"].items():
        ours = len(guess_classes(CLASSIC, [CLASSIC.parse(text)]).representatives)
        name = f"4x6, second guesses after {text}"
        figures.append(exact(name, ours, Reference(classes, _PROGRAM)))
    return figures


def _first(text: str) -> Sequence[Figure]:
    theirs = published(_TOTALS)["first_guesses"][text]
    guess = np.array([CLASSIC.index(CLASSIC.parse(text))])
    classes = reply_masses(CLASSIC, np.ones(CLASSIC.n_codes), guess)[0]
    share = float((classes**2).sum()) / CLASSIC.n_codes**2
    cells, largest = (Reference(theirs[key], _PROGRAM) for key in ("cells", "largest"))
    known = Reference(theirs["expected_proportion"], _PUBLICATION)
    return (
        exact(f"{text}, reply classes", int(np.count_nonzero(classes)), cells),
        exact(f"{text}, largest class", int(classes.max()), largest),
        exact(f"{text}, share of codes left", share, known, digits=7),
    )


OPTIMAL_TOTALS = Reproduction(
    title="totals of optimal strategies on boards of up to 5,040 codes",
    source="Koyama and Lai (1993), Tanaka (1996), Jäger and Peczarski (2009), Ville (2013), and "
    "others, named in each line",
    quick_minutes=0.2,
    minutes=20,
    parts=_optimal_parts,
    text="A quick run leaves out the boards that take longer than some seconds. r: colors may "
    "repeat; n: they may not.",
)

CONSISTENT_ONLY = Reproduction(
    title="optimal totals on 4x6 if only possible codes are guessed",
    source="exhaustive searches of other programs",
    quick_minutes=0.1,
    minutes=0.1,
    parts=lambda setting: tuple(
        Part(first, partial(_consistent, first)) for first in published(_TOTALS)["consistent_only"]
    ),
)

HEURISTICS = Reproduction(
    title="totals of published heuristics on 4x6",
    source="Knuth (1976), Neuwirth (1982), Irving (1978–79), Kooi (2005), Shapiro (1983); totals "
    "collected by S. Gür, Mastermind strategies",
    quick_minutes=0.1,
    minutes=0.1,
    parts=lambda setting: (
        *(Part(name, partial(_heuristic, name)) for name in published(_TOTALS)["heuristics"]),
        Part("variants", _variants),
    ),
    text="Ties go to a code that is still possible, then to the first in order.",
)

INEQUIVALENT = Reproduction(
    title="guesses that do not differ by an exchange of pegs or colors only",
    source="counts of another program",
    quick_minutes=0.1,
    minutes=0.1,
    parts=lambda setting: (Part("classes", _inequivalent),),
    text="Two guesses are equivalent if an exchange of pegs and colors turns one into the other, "
    "and changes no earlier guess. The number of first guesses is that of the ways to write the "
    "number of pegs as a sum of at most as many numbers as there are colors.",
)

FIRST_GUESSES = Reproduction(
    title="reply classes of the first guesses on 4x6",
    source="A. Snyder, Mastermind by importance sampling and Metropolis-Hastings, table 1",
    quick_minutes=0.1,
    minutes=0.1,
    parts=lambda setting: tuple(
        Part(text, partial(_first, text)) for text in published(_TOTALS)["first_guesses"]
    ),
    text="Snyder's table has the shares of codes left. The classes are not in it; another program "
    "counted them.",
)
