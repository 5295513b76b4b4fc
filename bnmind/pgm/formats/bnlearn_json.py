"""Reader of networks of the R packages bnlearn and bnRep, listed as JSON.

::

    {"name": "asia", "nodes": [
      {"name": "A", "states": ["no", "yes"], "parents": [], "shape": [2], "prob": [0.99, 0.01]},
      {"name": "T", "states": ["no", "yes"], "parents": ["A"], "shape": [2, 2],
       "prob": [0.99, 0.95, 0.01, 0.05]}]}

The last parent varies fastest in ``prob``, and the child slowest. R calls missing probabilities NaN
or null. `Reading.normalize` makes them uniform. Titles, sources and lists of children are passed
over. This module imports pydantic, so it is itself imported when first needed.

References
----------
M. Scutari, "Learning Bayesian networks with the bnlearn R package", Journal of Statistical Software
35, 2010; M. Leonelli, "bnRep: A repository of Bayesian networks from the academic literature",
Neurocomputing 624, 2025.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from pydantic import ConfigDict, Field, ValidationError

from bnmind._messages import many
from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.information import Floats
from bnmind.pgm.formats.declared import MOST_AXES
from bnmind.pgm.formats.json_records import Strict, listed, record_fault
from bnmind.pgm.formats.reading import PLAIN_READING, Reading
from bnmind.pgm.formats.source import shown
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

__all__ = ["network_from_bnlearn_json"]


class _Node(Strict):
    model_config = ConfigDict(strict=False)

    name: str
    states: Annotated[list[str], Field(fail_fast=True)]
    parents: Annotated[list[str], Field(max_length=MOST_AXES - 1, fail_fast=True)]
    prob: Annotated[list[float | None], Field(fail_fast=True)]
    shape: Annotated[list[int], Field(fail_fast=True)] | None = None
    title: Any = None
    label: Any = None
    children: Any = None
    mb: Any = None


class _File(Strict):
    model_config = ConfigDict(strict=False)

    name: Any = None
    title: Any = None
    description: Any = None
    source: Any = None
    reference: Any = None
    license: Any = None
    layout: Any = None
    nodes: Annotated[list[_Node], Field(min_length=1, fail_fast=True)]


def network_from_bnlearn_json(text: str, *, reading: Reading = PLAIN_READING) -> Network:
    """Return the network in a JSON text of this form. Tables are never larger than the text.

    Raises
    ------
    ModelFileError
        If the text is not of this form, or no valid network. The error lists all faults, each with
        its path.
    """
    try:
        nodes = _File.model_validate_json(text).nodes
    except ValidationError as fault:
        raise record_fault(fault, "a network of bnlearn") from fault
    problems: list[str] = []
    variables: dict[str, Variable] = {}
    for number, node in enumerate(nodes):
        if node.name in variables:
            problems.append(f"at nodes.{number}: expected distinct names, got {shown(node.name)}")
        try:
            variables[node.name] = Variable(node.name, tuple(node.states))
        except InvalidModelError as fault:
            problems += [f"at nodes.{number}: {problem}" for problem in fault.problems]
    _refuse(problems)
    cpds = []
    for number, node in enumerate(nodes):
        try:
            scope = _scope(node, variables)
            table = reading.corrected(scope, _table(node, scope))
            cpds.append(TabularCPD(scope[0], scope[1:], table))
        except InvalidModelError as fault:
            problems += [f"at nodes.{number}: {problem}" for problem in fault.problems]
    _refuse(problems)
    try:
        return Network(tuple(cpds))
    except InvalidModelError as fault:
        raise ModelFileError(f"expected a valid network, got {listed(fault.problems)}") from fault


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ModelFileError(f"expected a valid network, got these faults: {listed(problems)}")


def _scope(node: _Node, variables: dict[str, Variable]) -> tuple[Variable, ...]:
    unknown = [shown(name) for name in node.parents if name not in variables]
    if unknown:
        raise InvalidModelError(
            [f"expected parents of {node.name} among the nodes, got {', '.join(unknown)}"]
        )
    return tuple(variables[name] for name in (node.name, *node.parents))


def _table(node: _Node, scope: tuple[Variable, ...]) -> Floats:
    shape = tuple(v.n_states for v in scope)
    if node.shape is not None and tuple(node.shape) != shape:
        raise InvalidModelError(
            [f"expected the shape {list(shape)} of {node.name}, got {node.shape[:MOST_AXES]}"]
        )
    if len(node.prob) != math.prod(shape):
        raise InvalidModelError(
            [
                f"expected {many(math.prod(shape))} probabilities of {node.name},"
                f" got {len(node.prob)}"
            ]
        )
    return np.array(node.prob, dtype=np.float64).reshape(shape)
