"""The contract that every registered function keeps, and wrong functions that break it.

Files, the order of arguments, chains and rank-one forms are compared with the function itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.pgm import (
    FUNCTIONS,
    Addition,
    Function,
    FunctionalCPD,
    Maximum,
    Minimum,
    Network,
    TabularCPD,
    Threshold,
    Variable,
)
from bnmind.pgm.formats.model_json import model_to_json, network_from_json
from bnmind.pgm.function_registry import RegisteredFunction, name_of, with_arguments_in_order
from bnmind.pgm.functions import Positions
from bnmind.pgm.stepwise import Stepwise
from bnmind.rank_one import RANK_ONE_TERMS, chain_form, rank_one_form
from bnmind.rank_one.registry import MakesTerms
from bnmind.rank_one.terms import RankOne
from tests.registries import check_value, registry_faults, rejected

SIZES = (2, 3, 2)
KEPT = ((0, 1), (1, 2), (1,))


def table(function: Function, sizes: Sequence[int]) -> NDArray[np.intp]:
    """Return the results of a function, an axis for each argument."""
    grid = np.ix_(*[np.arange(n) for n in sizes])
    return np.broadcast_to(np.asarray(function(*grid)), tuple(sizes))


def cpd_of(function: Function) -> FunctionalCPD:
    """Return a variable that is the function of three others."""
    parents = tuple(Variable.of_integers(f"x{i}", range(n)) for i, n in enumerate(SIZES))
    n_results = max(2, int(table(function, SIZES).max()) + 1)
    return FunctionalCPD(Variable.of_integers("y", range(n_results)), parents, function)


def check_function(name: str, row: RegisteredFunction) -> None:
    """Raise AssertionError unless a kind of functions keeps the contract."""
    function = row.example
    check_value(function)
    assert row.about
    whole = table(function, SIZES)
    assert whole.dtype.kind == "i"
    assert whole.min() >= 0
    assert row.n_arguments(function) in (None, 3)
    kept = table(function.restrict(KEPT), (2, 2))
    np.testing.assert_array_equal(kept, whole[np.ix_(*KEPT)][:, :, 0])
    assert isinstance(function, Stepwise)
    steps = function.steps([range(n) for n in SIZES])
    assert set(steps.possible_results()) == set(whole.ravel().tolist())
    n_partial = max(int(move.max()) + 1 for move in steps.moves)
    assert n_partial <= row.partial_results(function, SIZES)
    for order in permutations(range(3)):
        moved = _moved(row, function, order)
        expected = whole.transpose(order)
        np.testing.assert_array_equal(table(moved, expected.shape), expected)
    check_forms(function)


def _moved(row: RegisteredFunction, function: Any, order: Sequence[int]) -> Function:
    if FUNCTIONS.get(name_of(function) or "") == row:
        moved = with_arguments_in_order(function, order)
        assert moved is not None
        return moved
    if row.each is None:
        known: Function = function
        return known
    changed = {row.each: tuple(getattr(function, row.each)[i] for i in order)}
    made: Function = type(function)(**{**vars(function), **changed})
    return made


def check_forms(function: Function) -> None:
    """The chain of a function multiplies to its table."""
    cpd = cpd_of(function)
    links = chain_form(cpd)
    assert links is not None
    product = Network((*_uniform(cpd), *links))
    joint = Network((*_uniform(cpd), cpd))
    _same_marginal(product, joint)


def _uniform(cpd: FunctionalCPD) -> list[TabularCPD]:
    return [TabularCPD(v, (), np.full(v.n_states, 1 / v.n_states)) for v in cpd.parents]


def _same_marginal(one: Network, other: Network) -> None:
    from bnmind.junction import posterior

    np.testing.assert_allclose(
        list(posterior(one)["y"].values()), list(posterior(other)["y"].values()), atol=1e-12
    )


def check_terms(function: Function, make: MakesTerms) -> None:
    """The terms of a function multiply to its table, on all states and on fewer."""
    cpd = cpd_of(function)
    for states in ([range(n) for n in SIZES], KEPT):
        results = list(range(cpd.variable.n_states))
        terms = make(function, states, results, None)
        kept = [tuple(results), *map(tuple, states)]
        form = RankOne.of(cpd, terms, kept)
        product: Any = 1.0
        scope = list(cpd.scope)
        for factor in form.factors:
            names = [v.name for v in scope] + [form.auxiliary.name]
            axes = [names.index(v.name) for v in factor.scope]
            shape = [1] * len(names)
            for axis, v in zip(axes, factor.scope, strict=True):
                shape[axis] = v.n_states
            product = product * factor.values.transpose(np.argsort(axes)).reshape(shape)
        found = np.real(np.sum(product, axis=-1))
        inside = np.ix_(results, *states)
        expected = np.real(cpd.to_factor().values)
        np.testing.assert_allclose(found[inside], expected[inside], atol=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_registered_function_keeps_the_contract(name: str) -> None:
    check_function(name, FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_files_hold_a_registered_function(name: str) -> None:
    cpd = cpd_of(FUNCTIONS[name].example)
    network = Network((*_uniform(cpd), cpd))
    text = model_to_json(network, max_cells=10**4)
    assert f'"function": "{name}"' in text
    again = network_from_json(text, max_cells=10**4).cpd("y")
    assert isinstance(again, FunctionalCPD)
    assert again.function == cpd.function


@pytest.mark.parametrize("kind", RANK_ONE_TERMS, ids=lambda kind: kind.__name__)
def test_registered_terms_multiply_to_the_table(kind: type[Function]) -> None:
    row = next(row for row in FUNCTIONS.values() if row.make is kind)
    check_terms(row.example, RANK_ONE_TERMS[kind])
    assert rank_one_form(cpd_of(row.example)) is not None


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(FUNCTIONS) == []


@dataclass(frozen=True)
class Forgetful(Threshold):
    """Does not count the arguments that are fixed."""

    def restrict(self, states: Sequence[Sequence[int]]) -> Threshold:
        """Return the threshold of the arguments left, with the old number."""
        return Threshold(self.least, super().restrict(states).counted)


@dataclass(frozen=True)
class OtherSteps(Minimum):
    """Is computed in steps as a maximum."""

    def steps(self, states: Sequence[Sequence[int]]) -> Any:
        """Return the steps of the maximum."""
        return Maximum().steps(states)


@dataclass(frozen=True)
class Negative(Maximum):
    """Has results below zero."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the negated maximum."""
        return -super().__call__(*arguments)


@pytest.mark.parametrize(
    "row",
    [
        RegisteredFunction(Forgetful(2, ((1,), (0, 2), (1,))), "counts wrong", "counted"),
        RegisteredFunction(OtherSteps(), "other steps"),
        RegisteredFunction(Negative(), "negative"),
        RegisteredFunction(Addition.of(SIZES, signs=(1, -1, 2)), "says any order will do"),
        RegisteredFunction(Maximum(), ""),
    ],
    ids=lambda row: row.about or "no words",
)
def test_the_contract_rejects_a_wrong_function(row: RegisteredFunction) -> None:
    assert not rejected(lambda: check_function("maximum", FUNCTIONS["maximum"]))
    assert rejected(lambda: check_function("own", row))


def test_the_contract_rejects_wrong_terms() -> None:
    maximum = FUNCTIONS["maximum"].example
    assert not rejected(lambda: check_terms(maximum, RANK_ONE_TERMS[Maximum]))
    wrong = RANK_ONE_TERMS[type(FUNCTIONS["parity"].example)]
    assert rejected(lambda: check_terms(maximum, wrong))
