"""Rank-one factorization of functional and noisy distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.pgm.cpd import CPD, FunctionalCPD, TabularCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.functions import Function, Restricted
from bnmind.pgm.network import FactorModel, Network, Potential, Replacement
from bnmind.pgm.stepwise import Stepwise
from bnmind.rank_one.nodes import Nodes
from bnmind.rank_one.noisy import noisy_terms
from bnmind.rank_one.registry import RANK_ONE_TERMS
from bnmind.rank_one.terms import RankOne, Terms

__all__ = ["factorize", "rank_one_form"]


@checked
def rank_one_form(
    cpd: CPD,
    *,
    nodes: Nodes | None = None,
    states: Mapping[str, Sequence[int]] | None = None,
    name: str | None = None,
) -> RankOne | None:
    """Return the rank-one factorization of a distribution, or None if none is known.

    Parameters
    ----------
    cpd
        The distribution. Sums, extrema, parities, counts, deltas and noisy extrema have a
        factorization, also when they are restricted to some states.
    nodes
        The nodes of the interpolation of sums and counts; by default roots of unity. See
        `factorize_addition` for the requirements of other nodes.
    states
        The remaining positions of the variables, as far as known. The factors are zero elsewhere,
        and the number of terms may be smaller: a maximum has two terms once the child is observed.
    name
        The name of the auxiliary variable; by default ``B_<child>``.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> votes = tuple(Variable(f"vote{i}", ("no", "yes")) for i in range(30))
    >>> total = FunctionalCPD.sum_of("total", votes)
    >>> rank_one_form(total).n_terms
    31
    >>> rank_one_form(total, states={"total": (15,)}).n_terms
    16
    """
    positions = [tuple((states or {}).get(v.name, range(v.n_states))) for v in cpd.scope]
    if isinstance(cpd, TabularCPD):
        return None
    if isinstance(cpd, FunctionalCPD):
        terms = _function_terms(cpd.function, positions[1:], positions[0], nodes)
    else:
        terms = noisy_terms(cpd, positions[1:], positions[0])
    return None if terms is None else RankOne.of(cpd, terms, positions, name=name)


@checked
def factorize(
    model: Network | FactorModel,
    variable: str,
    *,
    nodes: Nodes | None = None,
    name: str | None = None,
) -> FactorModel:
    """Return the model with one variable's table replaced by its rank-one factorization.

    Parameters
    ----------
    model
        A model in which the distribution of the variable has a rank-one form.
    variable, nodes, name
        As for `rank_one_form`.

    Raises
    ------
    InvalidArgumentError
        If the variable's distribution has no such form, or the auxiliary variable's
        name is taken.
    """
    model.variable(variable)
    potentials: list[Potential] = []
    replacements = list(model.replacements) if isinstance(model, FactorModel) else []
    is_replaced = False
    for potential in model.potentials:
        form = None
        if not isinstance(potential, Factor) and potential.variable.name == variable:
            form = rank_one_form(potential, nodes=nodes, name=name)
        if form is None or isinstance(potential, Factor):
            potentials.append(potential)
            continue
        is_replaced = True
        if any(v.name == form.auxiliary.name for v in model.variables):
            raise InvalidArgumentError(
                f"the auxiliary variable needs a new name; {form.auxiliary.name!r} is taken",
                form.auxiliary.name,
            )
        potentials += form.factors
        replacements.append(Replacement(potential, form.factors))
    if not is_replaced:
        raise InvalidArgumentError(
            f"{variable} has no rank-one form: it must be a function of its parents, such as a sum,"
            " a maximum or a noisy-or",
            variable,
        )
    return FactorModel(tuple(potentials), replacements=tuple(replacements))


def _function_terms(
    function: Function,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: Nodes | None,
) -> Terms | None:
    """Return the terms of a function, or None if none are known."""
    if isinstance(function, Restricted):
        return _restricted_terms(function, states, results, nodes)
    make = RANK_ONE_TERMS.get(type(function))
    return None if make is None else make(function, states, results, nodes)


def _restricted_terms(
    function: Restricted,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: Nodes | None,
) -> Terms | None:
    """Return the terms of a restricted function: some rows of the terms of the whole function."""
    whole = function.function
    if not isinstance(whole, Stepwise):
        return None
    remaining = iter(states)
    full = [
        tuple(old[i] for i in next(remaining)) if len(old) > 1 else old for old in function.states
    ]
    # Removed results count for the remaining results at their places.
    possible = np.array(whole.steps(full).possible_results(), dtype=np.intp)
    place = function.place(possible)
    needed = np.isin(place, list(results))
    if not needed.any():
        return Terms.constant([0.0] * len(results), [len(positions) for positions in states])
    terms = _function_terms(whole, full, possible[needed].tolist(), nodes)
    if terms is None:
        return None
    child = np.zeros((len(results), terms.child.shape[1]), dtype=terms.child.dtype)
    for row, at in zip(terms.child, place[needed], strict=True):
        child[list(results).index(at)] += row
    arguments = []
    for old, argument in zip(function.states, terms.arguments, strict=True):
        if len(old) > 1:
            arguments.append(argument)
        else:
            child = child * argument[0]
    return Terms(child, tuple(arguments)).without_zeros()
