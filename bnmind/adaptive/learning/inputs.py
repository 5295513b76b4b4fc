"""Responses and a Q-matrix or a bank, brought together: the same items under the same names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from bnmind._messages import counted
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.name_match import are_numbered, match_names
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.qmatrix_table import renamed_skills
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.adaptive.learning.model import bank_to_learn
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.responses.responses import Responses, names_in
from bnmind.errors import TableError
from bnmind.pgm import Network

if TYPE_CHECKING:
    import pandas

__all__ = ["learning_inputs"]


def learning_inputs(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    gate: str | Callable[..., ResponseModel],
    skills: ProfileDistribution | Network | None,
) -> tuple[ItemBank, Responses]:
    """Return the bank whose parameters are the first start, and the responses to its items.

    A Q-matrix whose rows only have numbers gets the names of the columns of the responses, by
    position. The notes of the responses say so, and repeat those of the Q-matrix.

    Raises
    ------
    TableError
        If the responses do not fit the items.
    InvalidModelError
        If the Q-matrix is invalid.
    """
    named = isinstance(responses, Responses) or hasattr(responses, "columns")
    q = None
    if not isinstance(model, ItemBank):
        q = QMatrix.of(model, expected=names_in(responses) if named else ())
    names = model.item_names if isinstance(model, ItemBank) else q.item_names if q else ()
    if named:
        data = Responses.of(responses, expected=names)
    else:
        data = Responses.of(responses, items=names)
    if q is None:
        bank = bank_to_learn(model, gate, skills)
    else:
        q, data = _with_equal_names(q, data)
        bank = bank_to_learn(q, gate, skills, _numbers_of_responses(q, data))
    data = data.for_bank(bank)
    data.require_answers()
    return bank, data


def _numbers_of_responses(q: QMatrix, data: Responses) -> dict[str, int]:
    """Return the number of responses to each item in the data; without the items unknown here."""
    match = match_names(data.items, q.item_names)
    if match is None:
        return {}
    most = data.codes.max(axis=0, initial=0)
    pairs = zip(q.item_names, match.places, strict=True)
    return {name: int(most[place]) + 1 for name, place in pairs}


def _with_equal_names(q: QMatrix, data: Responses) -> tuple[QMatrix, Responses]:
    """Return a Q-matrix with the names of the responses, if its own only count its rows."""
    match = match_names(data.items, q.item_names)
    strange = not set(data.items) & set(q.item_names)
    if match is None and strange and len(data.items) == len(q.skills) != len(q.items):
        raise TableError(
            [
                f"the Q-matrix has {counted(len(q.items), 'row')} and"
                f" {counted(len(q.skills), 'column')}, and the responses have"
                f" {counted(len(data.items), 'item')}: it must have a row for each item, and"
                " seems to be transposed"
            ]
        )
    notes = [*data.notes, *(f"Q-matrix: {note}" for note in q.notes)]
    by_position = match is not None and match.by_position
    if match is not None and by_position and are_numbered(q.item_names):
        if set(data.items) & set(q.skills) and are_numbered(q.skills):
            notes.append(f"Q-matrix: {renamed_skills(q.skills)}")
            skills = tuple(f"skill_{number}" for number in range(1, len(q.skills) + 1))
            q = replace(q, skills=skills)
        q = q.with_item_names(data.items)
        notes.append(match.note)
    return q, replace(data, notes=tuple(notes))
