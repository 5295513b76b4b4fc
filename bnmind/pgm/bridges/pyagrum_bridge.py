"""Conversion from and to pyAgrum.

pyAgrum is not needed to install bnmind. A model from pyAgrum is read through its methods; only the
conversion to pyAgrum imports the library, when it is first needed. The axes of a pyAgrum array are
those of the tensor in reverse.
"""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidModelError, MissingLibraryError
from bnmind.information import Floats
from bnmind.pgm.bridges.factors import factor_model_of, markov_factors
from bnmind.pgm.cpd import DEFAULT_CELLS, TabularCPD
from bnmind.pgm.formats.pgmpy_bridge import check_tables_fit
from bnmind.pgm.formats.reading import Reading
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["factors_from_pyagrum", "factors_to_pyagrum", "from_pyagrum", "to_pyagrum"]


@checked
def to_pyagrum(network: Network, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the network as a pyAgrum ``BayesNet``.

    Parameters
    ----------
    network
        Its variables become labelized variables, and functions are expanded to tables.
    max_cells
        The most cells of the largest table.

    Raises
    ------
    MissingLibraryError
        If pyAgrum is not installed.
    TooLargeError
        If the largest table has more cells. The error names it, and nothing is allocated.
    """
    check_tables_fit(network.cpds, max_cells=max_cells)
    pyagrum = _pyagrum()
    model = pyagrum.BayesNet()
    for variable in network.variables:
        model.add(_labelized(pyagrum, variable))
    for cpd in network.cpds:
        table = cpd.to_tabular(max_cells=max_cells)
        for parent in table.parents:
            model.addArc(parent.name, table.variable.name)
        _fill(model.cpt(table.variable.name), [v.name for v in table.scope], table.values)
    return model


@checked
def from_pyagrum(model: Any, *, normalize: bool = False) -> Network:
    """Return the network of a pyAgrum ``BayesNet``.

    The labels of the variables become their states. Tables within 1e-6 of summing to one are
    normalized.

    Parameters
    ----------
    model
        The network.
    normalize
        Whether rows that miss one by no more than rounding are normalized too; see
        `bnmind.pgm.files.read_with_report`.

    Raises
    ------
    InvalidModelError
        If it is not a ``BayesNet``, or a name or a table is not valid. The error lists all faults.
    """
    known = all(hasattr(model, name) for name in ("cpt", "nodes", "variable", "parents"))
    if not known or hasattr(model, "isDecisionNode"):
        raise InvalidModelError([f"expected a pyAgrum BayesNet, got {type(model).__name__}"])
    variables, problems = _variables(model)
    cpds = []
    reading = Reading(normalize=normalize)
    for node in model.nodes() if not problems else ():
        tensor = model.cpt(node)
        child, *parents = (variables[name] for name in tensor.names)
        try:
            values = reading.corrected((child, *parents), _values(tensor))
            cpds.append(TabularCPD(child, tuple(parents), values))
        except InvalidModelError as fault:
            problems += fault.problems
    if problems:
        raise InvalidModelError(problems)
    return Network(tuple(cpds))


@checked
def factors_to_pyagrum(model: FactorModel, *, max_cells: int = DEFAULT_CELLS) -> Any:
    """Return the model as a pyAgrum ``MarkovRandomField``.

    Parameters
    ----------
    model
        A product of factors that are not negative. Distributions in it are expanded to tables.
        Factors over the same variables are multiplied, because pyAgrum allows one for each set of
        variables. A constant becomes part of the first factor.
    max_cells
        The most cells of the largest table.

    Raises
    ------
    InvalidModelError
        If a factor has negative or complex values.
    MissingLibraryError
        If pyAgrum is not installed.
    TooLargeError
        If the largest table has more cells. The error names it, and nothing is allocated.
    """
    factors = markov_factors(model, max_cells=max_cells, merged=True)
    pyagrum = _pyagrum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as for the import
        field = pyagrum.MarkovRandomField()
    for variable in model.variables:
        field.add(_labelized(pyagrum, variable))
    for factor in factors:
        tensor = field.addFactor(list(factor.names))
        _fill(tensor, factor.names, np.real(factor.values))
    return field


def factors_from_pyagrum(model: Any) -> FactorModel:
    """Return the factors of a pyAgrum ``MarkovRandomField``.

    The labels of the variables become their states. A variable without a factor gets a factor of
    ones.

    Parameters
    ----------
    model
        The model of pyAgrum.

    Raises
    ------
    InvalidModelError
        If it is not a ``MarkovRandomField``, or a name is not valid. The error lists all faults.
    """
    if not all(hasattr(model, name) for name in ("factor", "factors", "nodes", "variable")):
        raise InvalidModelError(
            [f"expected a pyAgrum MarkovRandomField, got {type(model).__name__}"]
        )
    variables, problems = _variables(model)
    if problems:
        raise InvalidModelError(problems)
    tensors = [model.factor(clique) for clique in model.factors()]
    return factor_model_of(variables, [(tensor.names, _values(tensor)) for tensor in tensors])


def _pyagrum() -> Any:
    try:
        with warnings.catch_warnings():
            # pyAgrum 3.3 ends the process if its warning about an outdated type is an error.
            warnings.simplefilter("ignore")
            return importlib.import_module("pyagrum")
    except ImportError as fault:
        raise MissingLibraryError(
            f"pyAgrum must be installed (pip install pyagrum): {fault}", "pyagrum"
        ) from fault


def _labelized(pyagrum: Any, variable: Variable) -> Any:
    return pyagrum.LabelizedVariable(variable.name, variable.name, list(variable.states))


def _fill(tensor: Any, names: list[str] | tuple[str, ...], values: Floats) -> None:
    """Fill a tensor with values whose axes are in the order of names."""
    axes = [names.index(name) for name in reversed(tensor.names)]
    tensor.fillWith(np.transpose(values, axes).ravel().tolist())


def _values(tensor: Any) -> Floats:
    """Return the values of a tensor, with the axes in the order of its names."""
    return np.asarray(tensor.toarray()).transpose()


def _variables(model: Any) -> tuple[dict[str, Variable], list[str]]:
    """Return the variables of a model by name, and a list of faults."""
    variables: dict[str, Variable] = {}
    problems: list[str] = []
    for node in sorted(model.nodes()):
        found = model.variable(node)
        try:
            variables[found.name()] = Variable(found.name(), tuple(found.labels()))
        except InvalidModelError as fault:
            problems += fault.problems
    return variables, problems
