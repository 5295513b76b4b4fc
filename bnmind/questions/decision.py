"""Decisions about targets, with a utility for each action and each configuration."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
from annotated_types import MinLen

from bnmind._arguments import checked
from bnmind._messages import listed, shown
from bnmind._values import Distinct, ReadOnlyDict, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import label_text, state_text

if TYPE_CHECKING:
    import pandas

__all__ = ["Decision", "Utilities"]

Utilities: TypeAlias = "Mapping[str, Mapping[Any, float]] | pandas.DataFrame"
"""The utility of each action in each configuration."""

_MOST_CONFIGURATIONS = 2**20
"""Configurations of targets beyond which no table of utilities is read."""


@dataclass(frozen=True)
class Decision(Value):
    """A decision about some targets: the utility of each action in each of their configurations.

    `Decision.of` makes one from a mapping or a data frame.

    Examples
    --------
    >>> Decision.of("rain", {"umbrella": {"no": -1, "yes": 0}, "none": {"no": 0, "yes": -10}})
    Decision(umbrella or none, about rain)
    """

    about: Annotated[tuple[str, ...], MinLen(1), Distinct]
    """The targets that the utilities depend on."""
    utilities: Mapping[str, Mapping[tuple[str, ...], float]]
    """For each action, the utility of each configuration, a tuple of states."""

    def _faults(self) -> Iterator[str]:
        if not self.utilities:
            yield "a decision needs at least one action with utilities"
        for action, row in self.utilities.items():
            for key, value in row.items():
                if not math.isfinite(value):
                    yield (
                        f"the utility of {action} for {shown(key)} must be a finite number, got"
                        f" {value}"
                    )
                if len(key) != len(self.about):
                    yield f"expected a state of each of {', '.join(self.about)}, got {shown(key)}"

    def __repr__(self) -> str:
        return f"Decision({' or '.join(self.utilities)}, about {', '.join(self.about)})"

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions."""
        return tuple(self.utilities)

    @classmethod
    @checked
    def of(cls, about: str | Iterable[str], utilities: Utilities) -> Decision:
        """Return a decision.

        Parameters
        ----------
        about
            The targets that the utilities depend on.
        utilities
            ``{action: {state: utility}}``; with several targets, a tuple of states for each
            utility. Or a `pandas.DataFrame` with a row for each action and a column for each state
            or, with levels, each configuration.

        Raises
        ------
        InvalidArgumentError
            If there are no targets or no actions, or a utility is not a finite number.
        """
        names = (about,) if isinstance(about, str) else tuple(about)
        table = utilities
        to_dict: Any = getattr(utilities, "to_dict", None)
        if to_dict is not None and hasattr(utilities, "columns"):
            table = to_dict(orient="index")
        if not isinstance(table, Mapping):
            raise InvalidArgumentError(
                "expected utilities as {action: {state: utility}} or a data frame, got"
                f" {shown(utilities)}",
                utilities,
            )
        rows: dict[str, Mapping[tuple[str, ...], float]] = {}
        for action, row in table.items():
            if not isinstance(row, Mapping):
                raise InvalidArgumentError(
                    f"expected the utilities of {shown(action)} as {{state: utility}}, got"
                    f" {shown(row)}",
                    utilities,
                )
            rows[label_text(action)] = ReadOnlyDict(
                {_configuration(key): _number(action, key, value) for key, value in row.items()}
            )
        return cls(names, ReadOnlyDict(rows))

    @checked
    def table(self, model: Network | FactorModel) -> Floats:
        """Return the utilities for a model, ``(actions, configurations)``.

        The states of the last target change fastest.

        Parameters
        ----------
        model
            The model that has the targets.

        Raises
        ------
        UnknownNameError
            If the model does not have a target, or a target not the state of a utility.
        InvalidArgumentError
            If a configuration has no utility, or several.
        TooLargeError
            If the targets have too many configurations together.
        """
        targets = [model.variable(name) for name in self.about]
        sizes = [v.n_states for v in targets]
        if math.prod(sizes) > _MOST_CONFIGURATIONS:
            raise TooLargeError(
                f"the {len(targets)} targets have {math.prod(sizes):,} configurations together;"
                f" utilities are limited to {_MOST_CONFIGURATIONS:,}",
                needed=math.prod(sizes),
                budget=_MOST_CONFIGURATIONS,
            )
        values = np.full((len(self.utilities), *sizes), np.nan)
        problems = []
        for number, (action, row) in enumerate(self.utilities.items()):
            for key, value in row.items():
                cell = (number, *(v.index(s) for v, s in zip(targets, key, strict=True)))
                if not math.isnan(values[cell]):
                    problems.append(f"{action} has two utilities for {', '.join(key)}")
                values[cell] = value
            missing = np.isnan(values[number])
            if missing.any():
                cells = product(*(v.states for v in targets))
                lacking = [
                    ", ".join(c) for c, gone in zip(cells, missing.flat, strict=True) if gone
                ]
                problems += [f"{action} has no utility for {text}" for text in lacking]
        if problems:
            raise InvalidArgumentError(listed(problems), self.utilities)
        return values.reshape(len(self.utilities), math.prod(sizes))


def _configuration(key: Any) -> tuple[str, ...]:
    """Return a state, or a tuple of states, as a tuple of texts."""
    parts = key if isinstance(key, tuple) else (key,)
    return tuple(str(state_text(part)) for part in parts)


def _number(action: Any, key: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(
            f"the utility of {shown(action)} for {shown(key)} must be a number, got {shown(value)}",
            value,
        ) from None
