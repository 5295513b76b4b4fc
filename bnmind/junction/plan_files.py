"""Files of plans."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bnmind._arguments import checked
from bnmind._files import read_text, write_file
from bnmind.errors import InvalidArgumentError, InvalidModelError, ModelFileError, UnknownNameError
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.inference.compile import (
    DEFAULT_ORDER,
    DEFAULT_ORDER_RESTRICTED,
    plan_of,
)
from bnmind.junction.inference.evidence import label_of
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.reduction import without_barren
from bnmind.junction.triangulation.greedy import MinFill
from bnmind.junction.triangulation.portfolio import BoundedFinder
from bnmind.pgm.network import FactorModel, Network, Potential

if TYPE_CHECKING:
    from bnmind.pgm.formats.records import PlanRecord

# --- Fingerprints of models: equal for equal tables, and different for all others in practice -----


def fingerprint(potentials: Iterable[Potential]) -> str:
    """Return the SHA-256 of the tables, functions and noisy distributions of a model.

    Functions of code outside of this package (see `has_code`) count only with their names and
    fields.

    Examples
    --------
    >>> from bnmind.pgm import Factor, Variable
    >>> rain = Variable("rain", ("no", "yes"))
    >>> fingerprint([Factor((rain,), [0.8, 0.2])]) == fingerprint([Factor((rain,), [0.7, 0.3])])
    False
    """
    digest = hashlib.sha256()
    for potential in potentials:
        for text, _ in _walk(potential):
            digest.update(text)
    return digest.hexdigest()


def has_code(value: object) -> bool:
    """Return whether a model, or a part of it, holds a function of code outside of this package.

    Another function may have the same name, or the same fields.

    >>> from bnmind.pgm import FunctionalCPD, Variable
    >>> a, b = (Variable.of_integers(name, range(2)) for name in "ab")
    >>> has_code(FunctionalCPD.sum_of("sum", (a, b))), has_code([lambda x: 1 - x])
    (False, True)
    """
    return any(is_code for _, is_code in _walk(value))


def _walk(value: object) -> Iterator[tuple[bytes, bool]]:
    """Yield a text for each part of a value, and whether it is code outside of this package.

    A text holds the type of the part and the number of its own parts, so that no two values mix.
    """
    parts: list[Any] = []
    is_code = False
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        yield f"array {array.dtype.str} {array.shape};".encode() + array.tobytes(), False
        return
    if isinstance(value, Enum):
        text = f"{type(value).__qualname__}.{value.name}"
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value) if field.init]
        text = f"{type(value).__qualname__} {len(parts)}"
        is_code = callable(value) and type(value).__module__.partition(".")[0] != "bnmind"
    elif isinstance(value, Mapping):
        parts = [part for key in sorted(value, key=repr) for part in (key, value[key])]
        text = f"mapping {len(value)}"
    elif isinstance(value, tuple | list):
        parts = list(value)
        text = f"list {len(parts)}"
    elif callable(value):
        name = getattr(value, "__qualname__", type(value).__qualname__)
        text = f"function {getattr(value, '__module__', '')}.{name}"
        is_code = True
    else:
        text = f"{type(value).__name__} {value!r}"
    yield f"{text};".encode(), is_code
    for part in parts:
        yield from _walk(part)


# --- Plans in files -------------------------------------------------------------------------------
#
# A file holds the query and the elimination orders of its junction trees, in JSON, and a
# fingerprint of the model. `read_plan` puts the plan together again from the model, without a
# search for orders.

_FORMAT = "bnmind plan"
_VERSION = 1
_LARGEST = 2**28
"""The largest file of a plan, in bytes."""


@dataclass(frozen=True)
class _KnownOrders:
    """A `BoundedFinder` that knows the orders of some graphs, by their variables."""

    orders: Mapping[frozenset[str], tuple[tuple[str, tuple[str, ...]], ...]]
    """For each set of variables, the names of searches and the orders that they found."""
    effort: ClassVar[float] = 1.0

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the smallest known order; for another graph, that of one greedy pass."""
        known = self.orders.get(frozenset(graph.names), ())
        found = [
            measured_order(graph, vertices_in_order(graph, order), method=method)
            for method, order in known
        ]
        return min(found, key=lambda order: order.total_size) if found else MinFill()(graph)

    def wanted(self, cells: float, n: int) -> float:
        """Return infinity: nothing is searched."""
        return math.inf

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the known order, if its tree is within the limit, and no work."""
        order = self(graph)
        return (order if order.total_size <= limit else None), 0


@checked
def write_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan to a file, from which `read_plan` reads it.

    Parameters
    ----------
    plan
        A plan from `compile_plan`.
    path
        Replaced if it exists.

    Raises
    ------
    InvalidArgumentError
        If evidence or inputs of the plan are already known: write the plan before it is restricted.
    ModelFileError
        If the file cannot be written.
    """
    query, known = plan.compiled.query, plan.compiled.known
    if known.fixed or known.given or query.whole:
        raise InvalidArgumentError(
            "only plans of compile_plan can be written, before they are restricted; got a plan"
            f" that knows {', '.join([*known.fixed, *known.given]) or 'all variables'}",
            plan,
        )
    likelihoods = {label_of(v.name) for v in query.soft}
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "model": fingerprint(query.potentials),
        "evidence": [v.name for v in query.evidence],
        "soft": [v.name for v in query.soft],
        "targets": [[v.name for v in target] for target in query.targets],
        "inputs": {
            name: [v.name for v in scope]
            for name, scope in query.inputs.items()
            if name not in likelihoods
        },
        "only_restrictions": query.limits.only_restrictions,
        "compress": query.compress,
        "factorize": query.factorize,
        "bounded": isinstance(query.order, BoundedFinder),
        "orders": [list(tree.order.variables) for tree in plan.compiled.trees],
        "methods": [tree.order.method for tree in plan.compiled.trees],
        "total_size": plan.compiled.total_size,
    }
    write_file(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


@checked
def read_plan(
    path: str | os.PathLike[str], model: Network | FactorModel, *, limits: Limits = DEFAULT_LIMITS
) -> Plan:
    """Return the plan in a file of `write_plan`, without a search for elimination orders.

    Parameters
    ----------
    path
        The file.
    model
        The model that the plan was compiled for.
    limits
        The limits of the memory and the multiplications of a run, as for `compile_plan`. The file
        holds none. Whether only restrictions may run is a property of the plan in the file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a plan, is damaged, or belongs to another model or
        another version of bnmind.
    TooLargeError
        If a run would exceed the limits.
    """
    name = os.fspath(path)
    record = _record(read_text(path, most=_LARGEST), name)
    asked = [record.evidence, record.soft, *record.targets, *record.inputs.values()]
    needed = {variable for scope in asked for variable in scope}
    is_known = needed <= {v.name for v in model.variables}
    if not is_known or fingerprint(without_barren(model.potentials, needed)) != record.model:
        raise ModelFileError(f"{name} holds a plan for another model than the given one", name)
    try:
        plan = _compiled(model, record, limits)
    except (InvalidArgumentError, InvalidModelError, UnknownNameError) as fault:
        raise ModelFileError(f"{name} is a damaged plan: {fault}", name) from fault
    cells, known, problem = plan.compiled.total_size, set(map(tuple, record.orders)), ""
    if any(tree.order.variables not in known for tree in plan.compiled.trees):
        problem = "lacks the order of a junction tree of the plan"
    elif cells != record.total_size:
        problem = f"holds orders that give {cells:,} cells instead of {record.total_size:,}"
    if problem:
        raise ModelFileError(
            f"{name} {problem}: it is damaged, or from another version of bnmind; compile the plan"
            " again",
            name,
        )
    # Plans for more evidence search again.
    query = replace(
        plan.compiled.query, order=DEFAULT_ORDER, order_restricted=DEFAULT_ORDER_RESTRICTED
    )
    return Plan(replace(plan.compiled, query=query))


def _record(text: str, path: str) -> PlanRecord:
    """Return the content of a file."""
    from bnmind._records import record_from_json
    from bnmind.pgm.formats.records import PlanRecord

    try:
        record = record_from_json(text, _FORMAT, {_VERSION: PlanRecord})
        if len(record.methods) != len(record.orders):
            raise ModelFileError("there must be a method for each order")
    except ModelFileError as fault:
        raise ModelFileError(f"expected a plan in {path}: {fault}", path) from fault
    return record


def _compiled(model: Network | FactorModel, record: PlanRecord, limits: Limits) -> Plan:
    """Return the plan with the orders of a file."""
    orders: dict[frozenset[str], tuple[tuple[str, tuple[str, ...]], ...]] = {}
    for method, order in zip(record.methods, record.orders, strict=True):
        names = frozenset(order)
        orders[names] = (*orders.get(names, ()), (method, tuple(order)))
    known = _KnownOrders(orders)
    return plan_of(
        model,
        (record.evidence, record.soft, record.targets, record.inputs),
        # Plans of a `BoundedFinder` may do without a tree; those of others have that of the order.
        order=known if record.bounded else known.__call__,
        limits=replace(limits, only_restrictions=record.only_restrictions),
        compress=record.compress,
        factorize=record.factorize,
    )
