"""Q-matrices: which skills each item needs, and how a bank is made of that."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind.adaptive.gates import Gate
from bnmind.adaptive.item import Item
from bnmind.adaptive.profiles import ProfileDistribution, Saturated
from bnmind.errors import InvalidModelError
from bnmind.pgm import CPD, Network, Variable

__all__ = ["QMatrix", "bank_parts"]


@dataclass(frozen=True, eq=False)
class QMatrix:
    """The level of each skill that each item needs, with names.

    Parameters
    ----------
    needs
        ``(items, skills)``, 0 where a skill is not needed.
    items
        The items, one for each row.
    skills
        The names of the skills, one for each column.

    Raises
    ------
    InvalidModelError
        If an item needs no skill, no item needs a skill, an entry is no whole number of
        at least 0, or names are doubled or too few; all faults at once.
    """

    needs: NDArray[np.intp]
    items: tuple[Item, ...]
    skills: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [item.name for item in self.items]
        problems = [
            f"expected distinct {kind} in the Q-matrix, got {name} twice"
            for kind, listed in (("items", names), ("skills", list(self.skills)))
            for name in sorted({name for name in listed if listed.count(name) > 1})
        ]
        needs = np.asarray(self.needs)
        if needs.ndim != 2 or needs.shape != (len(names), len(self.skills)) or not needs.size:
            problems.append(
                f"expected a Q-matrix of {len(names)} items and {len(self.skills)} skills,"
                f" got an array of shape {needs.shape}"
            )
            raise InvalidModelError(problems)
        if needs.dtype.kind not in "biuf":
            problems.append(f"expected whole numbers in the Q-matrix, got {needs.dtype}")
            raise InvalidModelError(problems)
        numbers = needs.astype(np.float64)
        problems += [
            f"expected a whole number of at least 0 in the Q-matrix at item {names[row]}, skill"
            f" {self.skills[column]}, got {numbers[row, column]:g}"
            for row, column in np.argwhere(~((numbers >= 0) & (numbers % 1 == 0)))
        ]
        problems += [
            f"expected item {names[row]} to need a skill, got none in row {row} of the Q-matrix"
            for row in np.flatnonzero(~np.any(numbers, axis=1))
        ]
        problems += [
            f"expected an item that needs skill {self.skills[column]}, got none in column"
            f" {column} of the Q-matrix"
            for column in np.flatnonzero(~np.any(numbers, axis=0))
        ]
        if problems:
            raise InvalidModelError(problems)
        whole = np.array(needs, dtype=np.intp)
        whole.setflags(write=False)
        object.__setattr__(self, "needs", whole)

    def __reduce__(self) -> tuple[Any, ...]:
        return (QMatrix, (self.needs, self.items, self.skills))

    @classmethod
    def of(
        cls,
        table: Any,
        *,
        items: Sequence[Item | str] | None = None,
        skills: Sequence[str] | None = None,
    ) -> QMatrix:
        """Return the Q-matrix of an array or a data frame.

        Parameters
        ----------
        table
            ``(items, skills)``. A data frame brings names: its columns are skills, but
            for one called ``item``; without that, its index names the items.
        items, skills
            Names instead of those; ``item_1``, ``skill_1``, … if there are none.
        """
        if hasattr(table, "columns"):
            if "item" in table.columns:
                table = table.set_index("item")
            items = [str(name) for name in table.index] if items is None else items
            skills = [str(name) for name in table.columns] if skills is None else skills
            table = table.to_numpy()
        needs = np.asarray(table)
        n_rows, n_columns = needs.shape if needs.ndim == 2 else (0, 0)
        if items is None:
            items = [f"item_{number + 1}" for number in range(n_rows)]
        if skills is None:
            skills = [f"skill_{number + 1}" for number in range(n_columns)]
        made = tuple(item if isinstance(item, Item) else Item(item) for item in items)
        return cls(needs, made, tuple(skills))

    def gates(
        self, guess: ArrayLike, slip: ArrayLike, make: Callable[[float, float], Gate]
    ) -> tuple[Gate, ...]:
        """Return a gate for each item, which requires the levels that the Q-matrix says.

        Raises
        ------
        InvalidModelError
            If a parameter is out of range; it names the item.
        """
        problems, columns = [], []
        for what, given in (("guesses", guess), ("slips", slip)):
            values = np.asarray(given, dtype=np.float64)
            if values.ndim > 1 or (values.ndim and len(values) != len(self.items)):
                problems.append(
                    f"expected a number or {len(self.items)} {what}, got an array of shape"
                    f" {values.shape}"
                )
            else:
                columns.append(np.broadcast_to(values, (len(self.items),)).tolist())
        if problems:
            raise InvalidModelError(problems)
        gates: list[Gate] = []
        for item, needs, g, s in zip(self.items, self.needs, *columns, strict=True):
            try:
                gate = make(g, s)
                if needs.max() > 1:
                    required = tuple(needs[needs > 0].tolist())
                    gate = dataclasses.replace(gate, required=required)  # type: ignore[type-var]
                gates.append(gate)
            except InvalidModelError as fault:
                problems += [f"{problem}, in item {item.name}" for problem in fault.problems]
        if problems:
            raise InvalidModelError(problems)
        return tuple(gates)


def bank_parts(
    q: QMatrix,
    gates: Sequence[Gate],
    skills: ProfileDistribution | Network | None,
    levels: int | Sequence[int],
) -> tuple[Network, tuple[str, ...], tuple[Item, ...]]:
    """Return the network, skills and items of the bank that a Q-matrix and gates make."""
    problems: list[str] = []
    if len(gates) != len(q.items):
        raise InvalidModelError([f"expected {len(q.items)} gates, got {len(gates)}"])
    cpds = _skill_cpds(q, skills, levels)
    by_name = {cpd.variable.name: cpd.variable for cpd in cpds}
    items = []
    for item, needs, gate in zip(q.items, q.needs, gates, strict=True):
        parents = [by_name[q.skills[column]] for column in np.flatnonzero(needs)]
        problems += [
            f"expected a level of {parent.name} below {parent.n_states} in the Q-matrix at item"
            f" {item.name}, got {level}"
            for parent, level in zip(parents, needs[needs > 0].tolist(), strict=True)
            if level >= parent.n_states
        ]
        if problems:
            continue
        try:
            variable = Variable.of_integers(item.name, range(gate.n_responses))
            cpds.append(gate.cpd(variable, parents))
            items.append(dataclasses.replace(item, gate=gate))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    return Network(tuple(cpds)), q.skills, tuple(items)


def _skill_cpds(
    q: QMatrix, skills: ProfileDistribution | Network | None, levels: int | Sequence[int]
) -> list[CPD]:
    """Return the distributions of the skills, and of what else is hidden."""
    if isinstance(skills, Network):
        known = {v.name for v in skills.variables}
        problems = [
            f"expected a variable of the skills' network for skill {name}, got none"
            for name in q.skills
            if name not in known
        ]
        if problems:
            raise InvalidModelError(problems)
        return list(skills.cpds)
    each = np.asarray(levels)
    if each.ndim > 1 or (each.ndim and len(each) != len(q.skills)) or np.any(each < 2):
        raise InvalidModelError(
            [
                f"expected at least 2 levels, for all or for each of {len(q.skills)} skills,"
                f" got {levels}"
            ]
        )
    variables = [
        Variable.of_integers(name, range(int(n)))
        for name, n in zip(q.skills, np.broadcast_to(each, (len(q.skills),)), strict=True)
    ]
    return list((skills or Saturated()).cpds(variables))
