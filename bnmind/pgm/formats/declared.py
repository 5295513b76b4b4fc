"""What all readers of networks share: checks with places, and rows that miss one by rounding.

A reader first collects the names of the variables, their states, and the scopes of the tables.
`scopes_of` checks that these form a network and that its tables fit, before the reader reads
numbers or allocates arrays. Then the reader reads the numbers, and `network_of` checks that they
are probabilities. `network_from` does all of this, and deals with decisions and utilities.

Files print few digits, so the probabilities of a row may miss one. A row of n numbers that were
rounded to d decimals misses one by at most n/2 units of the last decimal. Programs that print
s significant digits round each number to a unit of its own. `rounding_bound` takes the more
generous of the two, with d and s read off the numbers of the whole table. A printed zero is taken
for a true one, so only the other numbers count. Rows that miss one by more than 0.1 are refused,
however few their digits are.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from graphlib import CycleError
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import listed, many, one_line
from bnmind._values import Value, made, sealed
from bnmind.errors import InvalidModelError, ModelFileError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm.cpd import CPD
from bnmind.pgm.encoded_names import decoded_variable
from bnmind.pgm.formats.source import Place, shown
from bnmind.pgm.network import FactorModel, Network, topological_order
from bnmind.pgm.noisy import NoisyMinimum
from bnmind.pgm.tabular import ROW_TOLERANCE, TabularCPD, is_rounding_of_floats
from bnmind.pgm.variable import Variable

REVERSED_PARENTS = (
    "this file seems to be written by pyAgrum, which lists the parents of a table in reversed order"
    " in XDSL and UAI files, so tables of several parents may be wrong; save the network as BIF in"
    " pyAgrum, or convert it by Network.from_pyagrum"
)
"""The note about networks that pyAgrum (up to version 3.3.1) wrote to XDSL and UAI files."""

NORMALIZE_HINT = "(normalize=True corrects rounding)"
"""The remedy in errors about rows that miss one by rounding. The command line names its option."""

_EMPTY_HINT = "(normalize=True makes rows of NaN or null uniform)"

DROP_HINT = "(drop_decisions=True reads its chance nodes)"
"""The remedy in errors about influence diagrams. The command line names its option."""

_MOST_DIGITS = 17

_MOST_MISSING = 0.1 + 1e-9
"""The largest deviation of a row from one that counts as rounding."""


class ModelFileWarning(UserWarning):
    """A file can be read, but may not mean what its author thinks."""


@dataclass(frozen=True)
class NormalizedTable(Value):
    """A table of a file whose rows were normalized, because they did not sum to one.

    Rows without probabilities are reported apart from the others of the same table.
    """

    variable: str
    """The variable whose distribution the table is."""
    rows: int
    """The number of rows that did not sum to one."""
    total: float
    """The sum of the worst of these rows; NaN if a row holds no probabilities."""
    given: Mapping[str, str]
    """The states of the parents in the worst row."""

    def __str__(self) -> str:
        states = ", ".join(f"{name}={state}" for name, state in self.given.items())
        rows = "a row" if self.rows == 1 else f"{self.rows:,} rows"
        worst = f" (given {states})" if states else ""
        if np.isnan(self.total):
            return f"{self.variable}: {rows} without probabilities{worst}, now uniform"
        of = "" if self.rows == 1 else ", the worst"
        return f"{self.variable}: {rows}{of} of sum {self.total:.9g}{worst}"


def _warn(message: str) -> None:
    warnings.warn(message, ModelFileWarning, stacklevel=2)


def _ignore(_: NormalizedTable) -> None:
    pass


@dataclass(frozen=True)
class Reading:
    """How a reader treats rows that do not sum to one, and whom it tells about the file."""

    normalize: bool = False
    """Whether rows that miss one by no more than rounding are normalized. Rows within 1e-6 of one
    always are. Rows that hold only NaN, as R writes them for configurations of the parents without
    data, become uniform."""
    drop_decisions: bool = False
    """Whether the chance nodes of an influence diagram are read as a network. A decision on which
    they depend becomes a variable with a uniform distribution."""
    on_table: Callable[[NormalizedTable], None] = _ignore
    """Called for each table with rows that were normalized."""
    on_note: Callable[[str], None] = _warn
    """Called with whatever a reader should know about the file."""

    def corrected(self, scope: Sequence[Variable], values: Floats) -> Floats:
        """Return a table with those rows normalized that may be, for the checks of `TabularCPD`.

        Parameters
        ----------
        scope
            The child, then its parents.
        values
            An array with an axis for each variable of ``scope``.

        Raises
        ------
        InvalidModelError
            If rows miss one by rounding, and are not to be normalized.
        """
        values = np.asarray(values)
        if values.dtype.kind != "f" or values.shape != tuple(v.n_states for v in scope):
            return values  # refused by TabularCPD, too
        sums = values.sum(axis=0)
        away = np.abs(sums - 1)
        if values.min() >= 0 and is_rounding_of_floats(away.max(), len(values)):
            return values
        blank = np.isnan(values).all(axis=0)
        empty = blank if self.normalize else np.zeros((), dtype=bool)
        good = (values >= 0) & np.isfinite(values)
        if not np.all(good | empty):
            if np.all(good | blank):
                return _refused(scope, values, _EMPTY_HINT)
            return values  # refused by TabularCPD
        values = np.where(empty, 1 / len(values), values)
        sums = values.sum(axis=0)
        away = np.abs(sums - 1)
        off = ~is_rounding_of_floats(away, len(values)) | empty
        if not off.any():
            return values
        far = away > ROW_TOLERANCE
        if far.any():
            # The bound holds for the numbers of the file, so not for rows that are new.
            if np.any(away[far] > _bounds(values, empty)[far]):
                return values
            if not self.normalize:
                return _refused(scope, values, NORMALIZE_HINT)
            values = np.where(far, values / np.where(far, sums, 1.0), values)
        missing = np.broadcast_to(empty, sums.shape)
        if missing.any():
            self._report(scope, missing, missing.astype(np.float64), np.full(sums.shape, np.nan))
        if (off & ~missing).any():
            self._report(scope, off & ~missing, np.where(missing, 0.0, away), sums)
        return values

    def _report(
        self, scope: Sequence[Variable], rows: NDArray[np.bool_], badness: Floats, sums: Floats
    ) -> None:
        """Report some rows of a table, and the first of the worst of them."""
        at = np.unravel_index(int(np.argmax(badness)), sums.shape)
        states = {v.name: v.states[i] for v, i in zip(scope[1:], at, strict=True)}
        self.on_table(NormalizedTable(scope[0].name, int(rows.sum()), float(sums[at]), states))


PLAIN_READING = Reading()
"""Only rows within 1e-6 of one are normalized; notes become warnings."""


def _refused(scope: Sequence[Variable], values: Floats, hint: str) -> Floats:
    """Refuse a table as `TabularCPD` does, and name the remedy."""
    try:
        return TabularCPD(scope[0], tuple(scope[1:]), values).values
    except InvalidModelError as fault:
        raise InvalidModelError([f"{problem} {hint}" for problem in fault.problems]) from None


def _bounds(values: Floats, empty: object) -> Floats:
    printed = values[:, ~np.broadcast_to(np.asarray(empty), values.shape[1:])]
    bounds: Floats = np.zeros(values.shape[1:])
    bounds[~np.broadcast_to(np.asarray(empty), values.shape[1:])] = rounding_bound(printed)
    return np.minimum(bounds, _MOST_MISSING)


def rounding_bound(values: Floats) -> Floats:
    """Return by how much each column of numbers from 0 to 1 may miss one if they were rounded.

    Zeros count as exact.

    Parameters
    ----------
    values
        ``(states of the child, …)``: a table as printed.

    Examples
    --------
    >>> rounding_bound(np.array([[0.33, 0.5], [0.33, 0.25], [0.33, 0.25]])).round(4)
    array([0.015, 0.015])
    """
    positive = np.maximum(values[(values > 0) & (values < 1)], 1e-300)
    if not positive.size:
        return np.zeros(values.shape[1:])
    decimals = next(
        (d for d in range(1, _MOST_DIGITS) if np.array_equal(np.round(positive, d), positive)),
        _MOST_DIGITS,
    )
    exponents = np.floor(np.log10(positive))
    scaled = positive / 10.0**exponents
    digits = next(
        (
            d
            for d in range(_MOST_DIGITS - 4)
            if np.all(np.abs(np.round(scaled, d) - scaled) < 1e-12)
        ),
        _MOST_DIGITS,
    )
    by_decimals = (values > 0).sum(axis=0) * 0.5 * 10.0**-decimals
    # A number that was rounded to 1 was below 1, so its unit is that of 0.9.
    inside = np.clip(values, 1e-300, np.nextafter(1.0, 0.0))
    units = np.where(values > 0, 10.0 ** (np.floor(np.log10(inside)) - digits), 0.0)
    slack = 1e-9 * 10.0**-decimals
    bound: Floats = np.maximum(by_decimals, 0.5 * units.sum(axis=0)) + slack
    return bound


Scope = tuple[Variable, ...]
"""The child, then its parents."""

MOST_AXES = 64
"""The largest number of variables in a table: the number of axes of a NumPy array."""

_SHOWN_FAULTS = 5
_LONGEST_FAULT = 240


@dataclass
class DeclaredVariable:
    """An unchecked variable of a file."""

    name: str
    states: tuple[str, ...]
    place: Place
    kind: str = field(default="", kw_only=True)
    """``"decision"`` or ``"utility"`` in an influence diagram; a chance variable by default."""


@dataclass
class DeclaredTable:
    """The unchecked head of a table in a file."""

    names: tuple[str, ...]
    """The child, then its parents."""
    place: Place
    is_dense: bool = field(default=True, kw_only=True)
    """Whether the file holds a number for each configuration of the variables."""
    is_uniform: bool = field(default=False, kw_only=True)
    """Whether the file holds no numbers, so that the table is uniform."""


class Numbers(NamedTuple):
    """The numbers of a table, and their places in the file."""

    scope: Scope
    rows: Floats
    """``(configurations of the parents, states of the child)``; the last parent varies fastest."""
    place: Callable[[int], Place]
    """Returns the exact or approximate place of a number, given its index in ``rows``."""


def certain_states(
    words: Sequence[str], scope: Scope, place: Place, *, numbered: str = ""
) -> Numbers:
    """Return the table of a variable that has a certain state for each configuration.

    Parameters
    ----------
    words
        The state for each configuration of the parents, the last parent fastest.
    scope
        The child, then its parents.
    place
        The place of the words.
    numbered
        A prefix after which a state may be given by its number.
    """
    child = scope[0]
    n_rows = math.prod(v.n_states for v in scope[1:])
    positions = {state: i for i, state in enumerate(child.states)}
    if numbered:
        positions |= {f"{numbered}{i}": i for i in range(child.n_states)}
    if len(words) != n_rows:
        raise place.fault(f"expected {n_rows} states of {child.name}, got {len(words)}")
    for word in words:
        if word not in positions:
            raise place.fault(f"expected a state of {child.name}, got {shown(word)}")
    rows = np.eye(child.n_states)[[positions[word] for word in words]]
    return Numbers(scope, rows, lambda _: place)


@dataclass(frozen=True, eq=False)
class NoisyNumbers:
    """The numbers of a noisy extremum that takes the first state that a parent causes."""

    scope: Scope
    links: tuple[Floats, ...]
    """For each parent, an array ``(states of the child, states of the parent)``."""
    leak: Floats
    """``(states of the child,)``"""
    place: Place


class Faults:
    """The faults found so far, which are raised in one error.

    The error lists the first faults and counts the others, so that a file with many faults takes no
    longer than a valid one.

    Parameters
    ----------
    expected
        The content of a file without faults, in a few words.
    """

    def __init__(self, expected: str = "a valid network") -> None:
        self._expected = expected
        self._told: list[tuple[str, Place]] = []
        self._count = 0

    def add(self, message: str, place: Place | Callable[[], Place]) -> None:
        """Add a fault at a place, which is computed only if the error lists the fault."""
        self._count += 1
        if len(self._told) < _SHOWN_FAULTS:
            computed = place if isinstance(place, Place) else place()
            self._told.append((one_line(message, longest=_LONGEST_FAULT), computed))

    def refuse(self) -> None:
        """Raise a `ModelFileError` that lists the faults, if there are any."""
        if not self._told:
            return
        message, first = self._told[0]
        if self._count == 1:
            raise first.fault(message)
        listed = "; ".join(f"{text} at {place}" for text, place in self._told)
        more = self._count - len(self._told)
        line, column = first.find()
        raise ModelFileError(
            f"expected {self._expected}, got these faults: {listed}"
            f"{f'; and {more:,} more' if more > 0 else ''}",
            line=line,
            column=column,
        )


def scopes_of(
    variables: Sequence[DeclaredVariable], tables: Sequence[DeclaredTable], *, max_cells: int
) -> tuple[Scope, ...]:
    """Return the scope of each table.

    Parameters
    ----------
    variables, tables
        All that the file declares, in its order.
    max_cells
        Cells that all the tables may have together.

    Raises
    ------
    ModelFileError
        If a name or a state is not valid or declared twice, a variable is unknown or
        has no or several tables, or there is a cycle; all faults at once.
    TooLargeError
        If there are more cells; the largest table is named.
    """
    faults = Faults()
    known: dict[str, Variable] = {}
    for entry in variables:
        if entry.name in known:
            faults.add(f"expected distinct variables, got {shown(entry.name)} twice", entry.place)
            continue
        try:
            known[entry.name] = Variable(entry.name, entry.states)
        except InvalidModelError as fault:
            for problem in fault.problems:
                faults.add(problem, entry.place)
    faults.refuse()
    if not variables:
        faults.add("expected at least one variable, got none", Place.at(1, 1))
    children: dict[str, DeclaredTable] = {}
    for table in tables:
        unknown = [shown(name) for name in table.names if name not in known]
        if unknown:
            child = table.names[0]
            whose = f", a parent of {child} without a table" if child in known else ""
            faults.add(f"expected declared variables, got {', '.join(unknown)}{whose}", table.place)
        elif table.is_dense and len(table.names) > MOST_AXES:
            faults.add(
                f"expected a table over at most {MOST_AXES} variables, got {len(table.names)}",
                table.place,
            )
        elif len(set(table.names)) < len(table.names):
            faults.add(
                f"expected distinct variables in the table of {table.names[0]},"
                f" got {', '.join(table.names)}",
                table.place,
            )
        elif table.names[0] in children:
            faults.add(f"expected one table of {table.names[0]}, got another", table.place)
        else:
            children[table.names[0]] = table
    faults.refuse()
    if len(children) < len(known):
        parent_of = {name: table.names[0] for table in tables for name in table.names[1:]}
        for entry in variables:
            if entry.name not in children:
                name = entry.name
                of = f"; {name} is a parent of {parent_of[name]}" if name in parent_of else ""
                faults.add(f"expected a table of {name}, got none{of}", entry.place)
    try:
        topological_order({t.names[0]: t.names[1:] for t in tables})
    except CycleError as fault:
        cycle = fault.args[1]
        faults.add(f"expected no cycle, got {' → '.join(cycle)}", children[cycle[0]].place)
    faults.refuse()
    scopes = tuple([tuple([known[name] for name in table.names]) for table in tables])
    _refuse_large(scopes, tables, max_cells)
    return scopes


def _refuse_large(scopes: Sequence[Scope], tables: Sequence[DeclaredTable], max_cells: int) -> None:
    sizes = [
        math.prod([len(v.states) for v in scope]) if table.is_dense else 0
        for scope, table in zip(scopes, tables, strict=True)
    ]
    if sum(sizes) <= max_cells:
        return
    largest, cells = max(enumerate(sizes), key=lambda sized: sized[1])
    raise TooLargeError(
        f"expected tables of at most {max_cells:,} cells together, got {many(sum(sizes))}, and"
        f" {many(cells)} in the table of {tables[largest].names[0]} at"
        f" {tables[largest].place}",
        needed=sum(sizes),
        budget=max_cells,
    )


@dataclass(frozen=True)
class ReadNetwork:
    """The network of a file."""

    network: Network
    variables: tuple[Variable, ...]
    """The variables in the order in which the file declares them."""

    def as_model(self) -> FactorModel:
        """Return the product of the distributions, with the variables in the order of the file."""
        return FactorModel(self.network.potentials, self.variables)


_Table = TypeVar("_Table", bound=DeclaredTable)


def network_from(
    variables: Sequence[DeclaredVariable],
    tables: Sequence[_Table],
    numbers: Callable[[_Table, Scope], Numbers | NoisyNumbers],
    *,
    max_cells: int,
    encoded: bool = False,
    reading: Reading = PLAIN_READING,
) -> ReadNetwork:
    """Return the network that a file declares.

    Parameters
    ----------
    variables, tables
        All that the file declares, in its order.
    numbers
        Returns the numbers of a table, given its scope; not called for uniform tables.
    max_cells, encoded, reading
        As for `scopes_of` and `network_of`.

    Raises
    ------
    ModelFileError, TooLargeError
        As in `scopes_of` and `network_of`; and for an influence diagram, unless the reading drops
        decisions.
    """
    variables, declared = _chance_nodes(variables, tables, reading)
    scopes = scopes_of(variables, declared, max_cells=max_cells)
    return network_of(
        variables,
        (
            _uniform(scope, table.place) if table.is_uniform else numbers(table, scope)  # type: ignore[arg-type]
            for table, scope in zip(declared, scopes, strict=True)
        ),
        encoded=encoded,
        reading=reading,
    )


def _chance_nodes(
    variables: Sequence[DeclaredVariable], tables: Sequence[DeclaredTable], reading: Reading
) -> tuple[Sequence[DeclaredVariable], Sequence[DeclaredTable]]:
    """Return the chance variables and their tables.

    A decision on which they depend becomes a variable with a uniform distribution.
    """
    others = {v.name: v for v in variables if v.kind}
    if not others:
        return variables, tables
    told = listed([f"{shown(v.name)} is a {v.kind} node" for v in others.values()])
    if not reading.drop_decisions:
        place = next(iter(others.values())).place
        raise place.fault(f"expected a network, got an influence diagram {DROP_HINT}: {told}")
    tables = [table for table in tables if table.names[0] not in others]
    parents = {name for table in tables for name in table.names[1:]}
    inputs = [v.name for v in others.values() if v.kind == "decision" and v.name in parents]
    chance = [replace(v, kind="") for v in variables if not v.kind or v.name in inputs]
    uniform = [DeclaredTable((n,), others[n].place, is_uniform=True) for n in inputs]
    reading.on_note(
        f"the file is an influence diagram, of which only the chance nodes were read: {told}"
        + (f"; uniform until they are set: {', '.join(inputs)}" if inputs else "")
    )
    return chance, [*tables, *uniform]


def _uniform(scope: Scope, place: Place) -> Numbers:
    rows = math.prod(v.n_states for v in scope[1:])
    size = scope[0].n_states
    return Numbers(scope, np.full((rows, size), 1 / size), lambda _: place)


def network_of(
    variables: Sequence[DeclaredVariable],
    tables: Iterable[Numbers | NoisyNumbers],
    *,
    encoded: bool = False,
    reading: Reading = PLAIN_READING,
) -> ReadNetwork:
    """Return the network of variables and tables that were checked by `scopes_of`.

    Parameters
    ----------
    variables
        All that the file declares, in its order.
    tables
        The numbers.
    encoded
        Whether the file says that its names are encoded, see `bnmind.pgm.encoded_names`.
    reading
        How rows that do not sum to one are treated.

    Raises
    ------
    ModelFileError
        If a number is no probability, a row does not sum to one within 1e-6, or a name is not
        encoded correctly. The error names the place of the first fault of each table.
    """
    faults = Faults()
    tables = [*tables]
    cpds: list[CPD] = []
    named = {table.scope[0].name: table.scope[0] for table in tables}
    if encoded:
        for entry in variables:
            try:
                named[entry.name] = decoded_variable(named[entry.name])
            except InvalidModelError as fault:
                faults.add(f"expected an encoded name: {fault}", entry.place)
        faults.refuse()
    for table, is_sound in zip(tables, _are_sound(tables), strict=True):
        child, *parents = scope = tuple([named[v.name] for v in table.scope])
        if isinstance(table, NoisyNumbers):
            try:
                cpds.append(NoisyMinimum(child, tuple(parents), table.links, table.leak))
            except InvalidModelError as fault:
                for problem in fault.problems:
                    faults.add(problem, table.place)
            continue
        values = np.ascontiguousarray(table.rows.T).reshape([len(v.states) for v in scope])
        if is_sound:
            fields = {"variable": child, "parents": scope[1:], "values": sealed(values)}
            cpds.append(made(TabularCPD, **fields, scope=scope))
            continue
        try:
            cpds.append(TabularCPD(child, tuple(parents), reading.corrected(scope, values)))
        except InvalidModelError as fault:
            for problem in fault.problems:
                faults.add(problem, partial(_place_of_fault, table))
    faults.refuse()
    try:
        network = Network(tuple(cpds))
    except InvalidModelError as fault:
        # Two different encoded names may stand for the same name.
        raise ModelFileError(f"expected distinct encoded names: {fault}") from fault
    return ReadNetwork(network, tuple(named[v.name] for v in variables))


def _are_sound(tables: Sequence[Numbers | NoisyNumbers]) -> list[bool]:
    """Return which tables `TabularCPD` would keep as they are, with one look at all numbers."""
    rows = [t.rows if isinstance(t, Numbers) else np.ones((1, 1)) for t in tables]
    n_rows, sizes = np.array([one.shape for one in rows]).T
    flat = np.concatenate([one.ravel() for one in rows])
    sizes = np.repeat(sizes, n_rows)
    sums = np.add.reduceat(flat, sizes.cumsum() - sizes)
    sound = is_rounding_of_floats(np.abs(sums - 1), sizes)
    if flat.min() < 0:
        sound &= np.minimum.reduceat(flat, sizes.cumsum() - sizes) >= 0
    found: list[bool] = np.logical_and.reduceat(sound, n_rows.cumsum() - n_rows).tolist()
    return found


def _place_of_fault(table: Numbers) -> Place:
    return table.place(_first_fault(table.rows))


def _first_fault(rows: Floats) -> int:
    """Return the index of the first number that is no probability, else of the worst row."""
    wrong = ~((rows >= 0) & np.isfinite(rows))
    if np.any(wrong):
        return int(np.argmax(wrong))
    worst = int(np.argmax(np.abs(rows.sum(axis=1) - 1)))
    return worst * int(rows.shape[1])
