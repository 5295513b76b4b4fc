"""Hypothesis strategies for models of a few variables, and the oracle that enumerates them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from bnmind.pgm import (
    CPD,
    Addition,
    Equality,
    Exactly,
    Factor,
    FactorModel,
    Function,
    FunctionalCPD,
    Listed,
    Maximum,
    Minimum,
    Network,
    NoisyMaximum,
    NoisyMinimum,
    Parity,
    TabularCPD,
    Threshold,
    Variable,
)

MAX_JOINT = 20_000
"""Cells of the joint of a generated model, so that it can be enumerated."""


@st.composite
def variable_tuples(
    draw: st.DrawFn, *, min_size: int = 1, max_size: int = 8, max_states: int = 4
) -> tuple[Variable, ...]:
    """Return variables ``X0``, ``X1``, … of up to ``max_states`` states, their joint enumerable."""
    sizes: list[int] = []
    for _ in range(draw(st.integers(min_size, max_size))):
        room = MAX_JOINT // math.prod(sizes)
        sizes.append(draw(st.integers(1, max(1, min(max_states, room)))))
    return tuple(Variable.of_integers(f"X{i}", range(size)) for i, size in enumerate(sizes))


@st.composite
def tabular_cpds(draw: st.DrawFn, variable: Variable, parents: tuple[Variable, ...]) -> TabularCPD:
    """Return a table with anything from full to deterministic rows."""
    shape = (variable.n_states, *(v.n_states for v in parents))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.random(shape)
    values[rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))] = 0.0
    # A row of zeros becomes a certain one.
    certain = rng.integers(variable.n_states, size=shape[1:])
    empty = values.sum(axis=0) == 0
    values[:, empty] = np.arange(variable.n_states)[:, None] == certain[empty]
    return TabularCPD(variable, parents, values / values.sum(axis=0))


@st.composite
def functions(
    draw: st.DrawFn, sizes: Sequence[int], *, listed: bool = True
) -> tuple[Function, int]:
    """Return a function of arguments with so many states, and its number of results."""
    kinds = ["addition", "minimum", "maximum", "equality", "parity", "threshold", "exactly"]
    kind = draw(st.sampled_from([*kinds, "listed"] if listed else kinds))
    if kind == "listed":
        most = draw(st.integers(1, 4))
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        return Listed(rng.integers(most, size=tuple(sizes))), most
    if kind == "minimum":
        return Minimum(), max(sizes)
    if kind == "maximum":
        return Maximum(), max(sizes)
    if kind == "equality":
        return Equality(), 2
    if kind == "parity":
        return Parity(), 2
    if kind == "addition":
        modulus = draw(st.integers(1, 4))
        terms = tuple(tuple(draw(st.integers(-2, 2)) for _ in range(size)) for size in sizes)
        return Addition(terms, modulus, draw(st.integers(-2, 2))), modulus
    states = [st.lists(st.integers(0, size - 1), unique=True).map(tuple) for size in sizes]
    counted = draw(st.none() | st.tuples(*states))
    number = draw(st.integers(-1, len(sizes) + 1))
    return (Threshold if kind == "threshold" else Exactly)(number, counted), 2


@st.composite
def noisy_cpds(
    draw: st.DrawFn, variable: Variable, parents: tuple[Variable, ...]
) -> NoisyMaximum | NoisyMinimum:
    """Return a noisy extremum of the parents, of which there must be some; with zeros."""
    columns = [draw(tabular_cpds(variable, (parent,))).values for parent in parents]
    leak = draw(st.none() | tabular_cpds(variable, ()).map(lambda cpd: cpd.values))
    if draw(st.booleans()):
        return NoisyMaximum(variable, parents, tuple(columns), leak)
    return NoisyMinimum(variable, parents, tuple(columns), leak)


@st.composite
def functional_cpds(
    draw: st.DrawFn, parents: tuple[Variable, ...], *, name: str = "Y"
) -> FunctionalCPD:
    """Return a function of the parents, of which there must be some, with a rank-one form."""
    function, results = draw(functions([v.n_states for v in parents], listed=False))
    extra = draw(st.integers(0, 1))
    return FunctionalCPD(Variable.of_integers(name, range(results + extra)), parents, function)


@st.composite
def networks(
    draw: st.DrawFn, *, max_variables: int = 8, max_states: int = 4, functional: bool = True
) -> Network:
    """Return a network of one to ``max_variables`` variables ``X0``, ``X1``, …

    It may be disconnected, and have zeros, deterministic rows, variables of a
    single state and, unless ``functional`` is false, functions, noisy ones too. Each variable has
    at most three parents; the distributions come in any order.
    """
    cpds: list[CPD] = []
    cells = 1
    for number in range(draw(st.integers(1, max_variables))):
        name = f"X{number}"
        earlier = [cpd.variable for cpd in cpds]
        chosen = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)) if cpds else []
        parents = tuple(chosen)
        most = max(1, min(max_states, MAX_JOINT // cells))
        cpd: CPD | None = None
        if functional and parents and draw(st.booleans()):
            function, results = draw(functions([v.n_states for v in parents]))
            if results <= most:
                cpd = FunctionalCPD(Variable.of_integers(name, range(results)), parents, function)
        elif functional and parents and draw(st.booleans()):
            noisy = Variable.of_integers(name, range(draw(st.integers(1, most))))
            cpd = draw(noisy_cpds(noisy, parents))
        if cpd is None:
            variable = Variable.of_integers(name, range(draw(st.integers(1, most))))
            cpd = draw(tabular_cpds(variable, parents))
        cpds.append(cpd)
        cells *= cpd.variable.n_states
    return Network(tuple(draw(st.permutations(cpds))))


@st.composite
def factors(
    draw: st.DrawFn, scope: tuple[Variable, ...], *, complex_values: bool = False
) -> Factor:
    """Return a factor with positive, negative and zero values, complex ones if wanted."""
    shape = tuple(v.n_states for v in scope)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = rng.normal(size=shape) * (rng.random(shape) < draw(st.sampled_from([0.4, 1.0])))
    return Factor(scope, values + 1j * rng.normal(size=shape) if complex_values else values)


@st.composite
def factor_models(
    draw: st.DrawFn, *, max_variables: int = 6, max_states: int = 4, complex_values: bool = False
) -> FactorModel:
    """Return a product of signed factors over up to three variables each, every variable used."""
    variables = draw(variable_tuples(max_size=max_variables, max_states=max_states))
    subsets = st.lists(st.sampled_from(variables), unique=True, max_size=3).map(tuple)
    scopes = [(variable,) for variable in variables] + draw(st.lists(subsets, max_size=6))
    return FactorModel(
        tuple(draw(factors(scope, complex_values=complex_values)) for scope in scopes)
    )


def enumerate_joint(model: Network | FactorModel) -> Factor:
    """Return the product of all potentials over ``model.variables``, cell by cell."""
    scope = model.variables
    shape = tuple(v.n_states for v in scope)
    grids = dict(zip((v.name for v in scope), np.indices(shape), strict=True))
    total = np.ones(shape, dtype=np.complex128)
    for potential in model.potentials:
        table = potential.to_factor() if not isinstance(potential, Factor) else potential
        total *= table.values[tuple(grids[name] for name in table.names)]
    real = not any(isinstance(p, Factor) and np.iscomplexobj(p.values) for p in model.potentials)
    return Factor(scope, total.real if real else total)
