"""Posterior distributions, indexed by the names of variables and states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from bnmind._arguments import checked
from bnmind._display import table_html
from bnmind._messages import counted, shown
from bnmind._values import ReadOnlyDict, Value, made, sealed
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.pgm.distribution import Distribution, format_probability, label
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.variable import Variable, format_name

if TYPE_CHECKING:
    import pandas

# --- The tables of a posterior for terminals and notebooks ----------------------------------------

_MOST_ROWS = 18
"""The most targets in a terminal."""

_MOST_ROWS_HTML = 50
"""The most targets in a notebook."""

_MOST_CELLS = 6
"""The most states of each target."""

_WIDTH = 79
"""The most columns of a line in a terminal."""


def _names(scope: Sequence[Variable]) -> str:
    names = ", ".join(label(v.name) for v in scope[:3])
    return f"{names}, …" if len(scope) > 3 else names


def _cells(scope: Sequence[Variable], values: Values) -> list[str]:
    """Return the states of a target and their probabilities; the largest ones if they are many."""
    flat = np.real(values).ravel()
    chosen = np.arange(flat.size)
    if flat.size > _MOST_CELLS:
        chosen = np.argsort(-flat, kind="stable")[: _MOST_CELLS - 1]
    cells = []
    for number in chosen.tolist():
        cell = np.unravel_index(number, np.shape(values))
        states = ",".join(label(v.states[i]) for v, i in zip(scope, cell, strict=True))
        cells.append(f"{states} {format_probability(float(flat[number]))}".strip())
    if len(cells) < flat.size:
        cells.append("…")
    return cells


# --- Posterior distributions, indexed by the names of variables and states ------------------------

_Default = TypeVar("_Default")


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Value, Mapping[Any, Distribution]):
    """The distributions of the targets of a plan given the evidence, by names of variables.

    ``posterior["rain"]["yes"]`` is the probability of a state. ``posterior["rain", "wet"]`` is the
    joint distribution of variables of one target. Iteration yields the names of all variables in
    the targets. `marginals` and `joints` hold the arrays.

    Examples
    --------
    >>> from bnmind.junction import compile_plan
    >>> from bnmind.pgm import Network, TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> posterior = compile_plan(network, evidence=["wet"]).run({"wet": "yes"})
    >>> posterior
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(posterior["rain"]["yes"], 3)
    0.692
    """

    scopes: tuple[tuple[Variable, ...], ...]
    """The variables of each target, in the order of the plan's targets."""
    joints: tuple[Values, ...]
    """The normalized joint of each target, an axis for each of its variables."""
    log_evidence: float
    """Natural logarithm of the probability of the evidence."""

    def __getitem__(self, names: str | tuple[str, ...]) -> Distribution:
        """Return the distribution of a variable, or the joint of several variables of one target.

        Raises
        ------
        UnknownNameError
            If a variable is in no target, or no target contains all variables.
        InvalidArgumentError
            If the argument is neither a name nor a tuple of different names.
        """
        several = names if isinstance(names, tuple) else (names,)
        requested = [str(format_name(name)) for name in several]
        if len(set(requested)) < len(requested):
            raise InvalidArgumentError(
                f"expected each variable once, got {', '.join(requested)}", names
            )
        numbers = [self._number_of(name) for name in several]
        if len(numbers) == 1 and len(self.scopes[numbers[0]]) == 1:
            scope, values = self.scopes[numbers[0]], self.joints[numbers[0]]
        else:
            joint = self.joint(*requested)
            scope, values = joint.scope, joint.values
        return made(Distribution, scope=scope, probabilities=sealed(np.real(values)))

    def _number_of(self, name: Any) -> int:
        """Return the number of the smallest target with a variable."""
        text = format_name(name)
        if not isinstance(text, str):
            raise InvalidArgumentError(
                f"expected the name of a variable, or a tuple of names, got {shown(name)}", name
            )
        if text not in self._targets_by_name:
            raise UnknownNameError("variable", text, self._targets_by_name)
        return self._targets_by_name[text]

    @cached_property
    def _targets_by_name(self) -> Mapping[str, int]:
        """The number of the smallest target with each variable, in the order of the targets."""
        targets: dict[str, int] = {}
        for number, scope in enumerate(self.scopes):
            for v in scope:
                before = targets.setdefault(v.name, number)
                if len(scope) < len(self.scopes[before]):
                    targets[v.name] = number
        return ReadOnlyDict(targets)

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets_by_name)

    def __len__(self) -> int:
        return len(self._targets_by_name)

    def __contains__(self, names: object) -> bool:
        return self.get(names) is not None

    @overload
    def get(self, key: Any, /) -> Distribution | None: ...
    @overload
    def get(self, key: Any, /, default: Distribution | _Default) -> Distribution | _Default: ...
    def get(self, key: Any, /, default: Any = None) -> Any:
        """Return the distribution of a variable or of several, or a default if there is none.

        Parameters
        ----------
        key
            A name, or a tuple of names.
        default
            The value if no target contains them.
        """
        try:
            return self[key]
        except (UnknownNameError, InvalidArgumentError):
            return default

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Posterior):
            return NotImplemented
        return (
            self.scopes == other.scopes
            and self.log_evidence == other.log_evidence
            and all(map(np.array_equal, self.joints, other.joints))
        )

    def __hash__(self) -> int:
        return hash((self.scopes, self.log_evidence))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return the distribution of each variable, ``{variable: {state: probability}}``."""
        return {name: self[name].to_dict() for name in self}

    def to_series(self) -> pandas.Series[float]:
        """Return the distributions of all variables as a `pandas.Series`.

        Its index has two levels, ``variable`` and ``state``.
        """
        import pandas

        distributions = self.to_dict()
        pairs = [(name, state) for name in distributions for state in distributions[name]]
        index = pandas.MultiIndex.from_tuples(pairs, names=["variable", "state"])
        values = [distributions[name][state] for name, state in pairs]
        return pandas.Series(values, index=index, name="probability", dtype=float)

    def to_frame(self) -> pandas.DataFrame:
        """Return the distributions of all variables as a `pandas.DataFrame`.

        A row for each state of each variable, with columns ``variable``, ``state`` and
        ``probability``.
        """
        return self.to_series().reset_index()

    @property
    def _title(self) -> str:
        """The number of targets, and the probability of the evidence."""
        targets = counted(len(self.joints), "target")
        return f"Posterior({targets}, log_evidence={self.log_evidence:.6g})"

    def _first(self, most: int) -> list[tuple[str, list[str]]]:
        """Return the variables of the first targets, their states and probabilities."""
        targets = zip(self.scopes[:most], self.joints, strict=False)
        return [(_names(scope), _cells(scope, values)) for scope, values in targets]

    def __repr__(self) -> str:
        """Return a line for each target: its variables, its states and their probabilities."""
        n = len(self.joints)
        rows = self._first(n if n <= _MOST_ROWS else _MOST_ROWS - 1)
        width = max((len(name) for name, _ in rows), default=0)
        most = max((len(cells) for _, cells in rows), default=0)
        columns = [max(len(c[i]) for _, c in rows if i < len(c)) for i in range(most)]
        if width + sum(columns) + 2 * most > _WIDTH:
            columns = [0] * most
        lines = []
        for name, cells in rows:
            line = f"{name:<{width}}"
            for cell, column in zip(cells, columns, strict=False):
                if len(line) + 2 + len(cell) > _WIDTH - 3 and cell is not cells[-1]:
                    line += "  …"
                    break
                line += f"  {cell:<{column}}"
            lines.append(line.rstrip())
        if len(rows) < n:
            lines.append(f"… and {n - len(rows):,} more")
        return "\n".join([self._title, *lines])

    def _repr_html_(self) -> str:
        """Return the distributions as an HTML table, which notebooks display."""
        rows = [(name, *cells) for name, cells in self._first(_MOST_ROWS_HTML)]
        return table_html((), rows, caption=self._title, n_rows=len(self.joints))

    @cached_property
    def targets(self) -> tuple[Factor, ...]:
        """The normalized joint of each target, in the order of the plan's targets."""
        return tuple(map(Factor, self.scopes, self.joints))

    @cached_property
    def marginals(self) -> Mapping[str, Values]:
        """The distribution ``(states,)`` of every variable that is a target of its own."""
        pairs = zip(self.scopes, self.joints, strict=True)
        return ReadOnlyDict({scope[0].name: joint for scope, joint in pairs if len(scope) == 1})

    @checked
    def joint(self, *names: str) -> Factor:
        """Return the joint of variables of one target, in this order.

        Parameters
        ----------
        names
            Names of variables of one target.

        Raises
        ------
        UnknownNameError
            If no target contains all of them.
        """
        holding = [
            i for i, scope in enumerate(self.scopes) if {v.name for v in scope} >= set(names)
        ]
        if not holding:
            known = (", ".join(v.name for v in scope) for scope in self.scopes)
            raise UnknownNameError("set of variables within one target", ", ".join(names), known)
        number = min(holding, key=lambda i: len(self.scopes[i]))
        return Factor(self.scopes[number], self.joints[number]).sum_to(names)
