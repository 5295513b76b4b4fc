"""The answers of finished tests as a table, with the order in which items were asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.responses.responses import Responses
from bnmind.adaptive.sessions.session import design_saved, read_log, replayed
from bnmind.errors import SessionFileError

__all__ = ["AnsweredTests", "read_answers"]


@dataclass(frozen=True, eq=False)
class AnsweredTests(Value):
    """The answers of finished tests; see `read_answers`."""

    responses: Responses
    """The responses, a row for each test, in the order of time."""
    asked: NDArray[np.intp]
    """``(tests, questions)``: the columns of the items in the order asked; −1 at the end."""
    pilot: tuple[str, ...] = ()
    """The items that were pilot items in some test; see `PilotItems`."""

    def _faults(self) -> Iterator[str]:
        n, shape = len(self.responses), self.asked.shape
        if len(shape) != 2 or shape[0] != n:
            yield f"expected asked of shape ({n}, questions), got shape {shape}"


@checked
def read_answers(paths: Sequence[str | os.PathLike[str]], bank: ItemBank) -> AnsweredTests:
    """Return the answers in files of sessions, sorted by the time of the last answer.

    Parameters
    ----------
    paths
        The files. Tests without a time stay in the order given, before the others.
    bank
        The bank of the tests.

    Raises
    ------
    SessionFileError
        If a file is not a session of this bank, or no test has an answer.
    """
    tests: list[tuple[str, str, dict[str, int]]] = []
    pilot: dict[str, None] = {}
    for path in paths:
        place = Path(path)
        saved = read_log(place, None, salvage=False)
        design = design_saved(saved.about, bank)
        of_test = bank if design is None else design.bank
        saved = read_log(place, of_test, salvage=False)
        state = replayed(place, of_test, saved.events)
        if design is not None and design.pilot is not None:
            pilot |= dict.fromkeys(design.pilot.items)
        given = {name: state.responses[name] for name in state.asked if name in state.responses}
        if given:
            at = saved.events[-1].at
            tests.append((at, place.name, given))
    if not tests:
        raise SessionFileError("expected sessions with answers, got none", None)
    tests.sort(key=lambda test: test[0])
    codes = np.full((len(tests), len(bank.items)), MISSING, dtype=np.int16)
    longest = max(len(given) for _, _, given in tests)
    asked = np.full((len(tests), longest), MISSING, dtype=np.intp)
    for row, (_, _, given) in enumerate(tests):
        places = [bank.position(name) for name in given]
        codes[row, places] = list(given.values())
        asked[row, : len(places)] = places
    some = np.flatnonzero((codes != MISSING).any(axis=0))
    column = np.full(len(bank.items) + 1, MISSING, dtype=np.intp)
    column[some] = np.arange(len(some))
    names = tuple(bank.item_names[place] for place in some.tolist())
    who = tuple(f"{n}: {name}" for n, (_, name, _) in enumerate(tests, start=1))
    return AnsweredTests(Responses(codes[:, some], names, who), column[asked], tuple(pilot))
