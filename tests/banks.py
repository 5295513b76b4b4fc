"""Hypothesis strategies for item banks of a few skills, and the oracle that enumerates them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import strategies as st

from bnmind.adaptive import (
    Dina,
    Dino,
    Gdina,
    Graded,
    Item,
    ItemBank,
    NoisyAnd,
    NoisyOr,
    ResponseModel,
    Sequential,
)
from bnmind.information import Floats
from bnmind.pgm import CPD, Network, Variable
from tests.networks import enumerate_joint, tabular_cpds

__all__ = ["answer_sets", "banks", "enumerated", "response_models"]


def chances() -> st.SearchStrategy[tuple[float, float]]:
    """A guess and a slip, at times none, that sum to at most one."""
    number = st.sampled_from([0.0, 0.05, 0.2, 0.5]) | st.floats(0.01, 0.5)
    return st.tuples(number, number)


@st.composite
def response_models(
    draw: st.DrawFn, parents: tuple[Variable, ...], *, steps: bool = True
) -> ResponseModel:
    """Return a response model of any kind for these parents."""
    kinds = ["dina", "dino", "and", "or", "graded", "free", "sequential"]
    kind = draw(st.sampled_from(kinds if steps else kinds[:4]))
    guess, slip = draw(chances())
    required = draw(st.none() | st.tuples(*[st.integers(1, v.n_states - 1) for v in parents]))
    if kind == "dina":
        return Dina(guess, slip, required)
    if kind == "dino":
        return Dino(guess, slip, required)
    if kind == "and":
        return NoisyAnd(guess, (slip,) * len(parents), draw(st.floats(0.5, 1)), required)
    if kind == "or":
        return NoisyOr((guess,) * len(parents), slip, draw(st.floats(0, 0.5)), required)
    if kind == "graded":
        slopes = tuple(draw(st.floats(0, 3)) for _ in parents)
        thresholds = sorted(draw(st.lists(st.floats(-3, 3), min_size=1, max_size=3)))
        return Graded(slopes, tuple(thresholds))
    if kind == "free":
        seed, width = draw(st.integers(0, 2**16)), draw(st.integers(2, 4))
        rows = int(np.prod([v.n_states for v in parents]))
        return Gdina(np.random.default_rng(seed).dirichlet(np.full(width, 0.5), rows))
    made = [draw(response_models(parents, steps=False)) for _ in range(draw(st.integers(1, 3)))]
    return Sequential(tuple(made))


@st.composite
def banks(draw: st.DrawFn, *, max_skills: int = 4, others: bool = True) -> ItemBank:
    """Return a bank of a few skills of two or three levels, at times with other hidden variables.

    Distributions may have zeros, so that some responses may exclude each other.
    """
    n_skills = draw(st.integers(1, max_skills))
    n_others = draw(st.integers(0, 1)) if others else 0
    names = [f"S{i}" for i in range(n_skills)] + [f"Z{i}" for i in range(n_others)]
    variables: list[Variable] = []
    cpds: list[CPD] = []
    for name in draw(st.permutations(names)):
        parents = st.lists(st.sampled_from(variables), unique=True, max_size=2)
        chosen = tuple(draw(parents)) if variables else ()
        variable = Variable.of_integers(name, range(draw(st.integers(2, 3))))
        cpds.append(draw(tabular_cpds(variable, chosen)))
        variables.append(variable)
    made = []
    skills = [v for v in variables if v.name.startswith("S")]
    needed = [[v] for v in skills]
    for _ in range(draw(st.integers(0, 4))):
        lists = st.lists(st.sampled_from(variables), unique=True, min_size=1, max_size=3)
        needed.append(draw(lists.filter(lambda vs: any(v in skills for v in vs))))
    for number, chosen_list in enumerate(needed):
        parents_of_item = tuple(draw(st.permutations(chosen_list)))
        gate = draw(response_models(parents_of_item))
        item = Variable.of_integers(f"X{number}", range(gate.n_responses))
        cpds.append(gate.cpd(item, parents_of_item))
        made.append(Item(item.name, gate=gate))
    skill_names = tuple(name for name in names if name.startswith("S"))
    return ItemBank(Network(tuple(cpds)), skill_names, tuple(made))


@st.composite
def answer_sets(draw: st.DrawFn, bank: ItemBank) -> list[tuple[str, int]]:
    """Return responses to some items in some order, possible together as often as not."""
    items = draw(st.lists(st.sampled_from(bank.item_names), unique=True))
    return [(name, draw(st.integers(0, len(bank.responses(name)) - 1))) for name in items]


def enumerated(bank: ItemBank, responses: Mapping[str, int]) -> tuple[Floats, float]:
    """Return the posterior over ``bank.hidden`` and the responses' probability, cell by cell."""
    hidden = [v.name for v in bank.hidden]
    joint = enumerate_joint(bank.network)
    left = joint.select(responses).sum_to(hidden)
    values = np.real(left.values)
    total = float(values.sum())
    return (values / total if total > 0 else values), total
