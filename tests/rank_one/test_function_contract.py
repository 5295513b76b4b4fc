"""Every registered function of parents keeps the contract, and wrong functions break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from bnmind.errors import ContractError
from bnmind.pgm import (
    FUNCTIONS,
    Addition,
    Function,
    FunctionalCPD,
    Maximum,
    Minimum,
    Restricted,
    Threshold,
    Variable,
)
from bnmind.pgm.functions import Positions, RegisteredFunction
from bnmind.rank_one import RANK_ONE_TERMS, rank_one_form
from bnmind.rank_one.terms import Terms
from bnmind.testing import check_functional_node

SIZES = (2, 3, 2)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_registered_function_keeps_the_contract(name: str) -> None:
    check_functional_node(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_registered_function_keeps_the_contract_on_all_positions(name: str) -> None:
    check_functional_node(name, sizes=[SIZES], thorough=True)


@pytest.mark.parametrize(
    ("function", "sizes"),
    [
        (Addition.of((3, 4), signs=(2, -1)), (3, 4)),
        (Addition.counting((3, 2, 3), ((0, 2), (1,), (2,))), (3, 2, 3)),
        (Threshold(1, ((2,), (0, 1), (1,), (0,))), (3, 2, 2, 2)),
    ],
    ids=["difference", "count", "threshold"],
)
def test_functions_of_other_arguments_keep_the_contract(
    function: Function, sizes: tuple[int, ...]
) -> None:
    check_functional_node(function, sizes=[sizes])


@pytest.mark.parametrize("kind", RANK_ONE_TERMS, ids=lambda kind: kind.__name__)
def test_a_kind_with_registered_terms_has_a_rank_one_form(kind: type[Function]) -> None:
    row = next(row for row in FUNCTIONS.values() if row.make is kind)
    parents = tuple(Variable.of_integers(f"x{i}", range(n)) for i, n in enumerate(SIZES))
    cpd = FunctionalCPD(Variable.of_integers("y", range(8)), parents, row.example)
    assert rank_one_form(cpd) is not None


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


@dataclass(frozen=True)
class Moody(Maximum):
    """Is another function for one configuration than for many."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the minimum of single numbers."""
        if all(np.ndim(one) == 0 for one in arguments):
            return Minimum()(*arguments)
        return super().__call__(*arguments)


@dataclass(frozen=True)
class Wide(Maximum):
    """Is wrong for many arguments only."""

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Forget the fixed arguments if there were four."""
        return self if len(states) == 4 else super().restrict(states)


@dataclass(frozen=True)
class InPlace(Maximum):
    """Writes into its first argument, if there is room."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the maximum."""
        found = super().__call__(*arguments)
        if isinstance(arguments[0], np.ndarray) and np.shape(arguments[0]) == np.shape(found) != ():
            arguments[0][...] = found
        return found


@dataclass(frozen=True)
class WrongOnce(Maximum):
    """Is wrong for one set of remaining positions."""

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the minimum where the second argument has lost its middle position."""
        if [tuple(one) for one in states] == [(0, 1), (0, 2), (1,)]:
            return Minimum().restrict(states)
        return super().restrict(states)


@dataclass(frozen=True)
class Weights:
    """Keeps its weights in a list."""

    weights: list[int]

    def __call__(self, *arguments: Positions) -> Positions:
        """Return a weighted sum."""
        return sum(w * x for w, x in zip(self.weights, arguments, strict=True))  # type: ignore[return-value]

    def restrict(self, states: Sequence[Sequence[int]]) -> Function:
        """Return the function of the positions left."""
        return Restricted.of(self, states)


@dataclass(frozen=True)
class NoSingleState(Maximum):
    """Squeezes its arguments, so that arguments of one state are lost."""

    def __call__(self, *arguments: Positions) -> Positions:
        """Return the maximum of arguments with more states."""
        if any(np.ndim(one) and np.size(one) == 1 for one in arguments):
            raise IndexError("too few dimensions")
        return super().__call__(*arguments)


@pytest.mark.parametrize(
    ("row", "promise"),
    [
        (RegisteredFunction(InPlace(), "in place"), "does not change what it is given"),
        (RegisteredFunction(WrongOnce(), "wrong once"), r"that remain .*\(0, 2\), \(1,\)"),
        (RegisteredFunction(Weights([1, 2, 3]), "a list"), "its field weights is a list"),
        (RegisteredFunction(NoSingleState(), "no single"), "it takes arguments of one state"),
        (
            RegisteredFunction(Forgetful(2, ((1,), (0, 2), (1,))), "counts wrong", "counted"),
            "restricted, it gives the results that remain",
        ),
        (RegisteredFunction(OtherSteps(), "other steps"), "its steps lead to its results"),
        (RegisteredFunction(Negative(), "negative"), "its results are positions"),
        (
            RegisteredFunction(Addition.of(SIZES, signs=(1, -1, 2)), "says any order will do"),
            "another order",
        ),
        (RegisteredFunction(Maximum(), ""), "the registry says what it is"),
        (RegisteredFunction(Moody(), "moody"), "one configuration the result"),
        (RegisteredFunction(Wide(), "wide"), "it can be restricted .arguments of 2, 2, 2, 2"),
    ],
    ids=lambda row: row.about or "no words" if isinstance(row, RegisteredFunction) else "",
)
def test_the_contract_rejects_a_wrong_function(row: RegisteredFunction, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_functional_node(row)


def _of_another_function(
    function: Function,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str,
) -> Terms:
    """Return the terms of the parity."""
    return RANK_ONE_TERMS[type(FUNCTIONS["parity"].example)](function, states, results, nodes)


def _wrong_once(
    function: Function,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str,
) -> Terms:
    """Return terms to which one is added that is not zero at one configuration of four parents."""
    right = RANK_ONE_TERMS[Maximum](function, states, results, nodes)
    if len(states) < 4:
        return right
    corner = [np.eye(1, len(kept))[0][:, None] for kept in states]  # the first position of each
    child = np.eye(len(results))[-1:].T * 0.01
    pairs = zip(right.arguments, corner, strict=True)
    return Terms(
        np.hstack([right.child, child]), tuple(np.hstack([one, two]) for one, two in pairs)
    )


def _wrong_in_pairs(
    function: Function,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: str,
) -> Terms:
    """Return terms that are wrong if two of several results are left."""
    right = RANK_ONE_TERMS[Maximum](function, states, results, nodes)
    return (
        replace(right, child=right.child * 1.01) if len(results) == 2 < max(results) + 1 else right
    )


@pytest.mark.parametrize("terms", [_of_another_function, _wrong_once, _wrong_in_pairs])
def test_the_contract_rejects_wrong_terms(terms: Any) -> None:
    with pytest.raises(ContractError, match="its rank-one form multiplies to its table"):
        check_functional_node(Maximum(), terms=terms)
