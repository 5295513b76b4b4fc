"""The bytes that an engine counts for its plans, against a walk through all their objects."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from bnmind.junction import compile_model
from bnmind.pgm import Network
from tests.modes import examples
from tests.networks import networks
from tests.wheel import ask, read_wheel, state_names


def held(thing: object, apart: set[int]) -> int:
    """Return the bytes of all objects that can be reached, without those in ``apart``."""
    seen = set(apart)
    waiting, total = [thing], 0
    while waiting:
        one: Any = waiting.pop()
        if id(one) in seen or isinstance(one, type | FunctionType | BuiltinFunctionType):
            continue
        seen.add(id(one))
        if isinstance(one, np.ndarray):
            total += 128
            while isinstance(one.base, np.ndarray):
                one = one.base
            total += 0 if id(one) in seen and one.base is not None else one.nbytes
            seen.add(id(one))
            continue
        total += sys.getsizeof(one)
        if isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, tuple | list | set | frozenset):
            waiting += one
        elif hasattr(one, "__dict__"):
            waiting.append(one.__dict__)
    return total


def of_model(network: Network) -> set[int]:
    """Return the objects that the network holds anyway: its distributions and their tables."""
    apart = {id(network), *map(id, network.cpds), *map(id, network.variables)}
    for v in network.variables:
        apart |= {id(v.name), id(v.states), *map(id, v.states)}
    return apart


def check(network: Network, evidence: dict[str, Any]) -> None:
    engine = compile_model(network)
    rng = np.random.default_rng(1)
    name = network.variables[-1].name
    questions = (
        lambda: engine.posterior(evidence=evidence),
        lambda: engine.posterior([name], evidence),
        lambda: engine.mpe(evidence),
        lambda: engine.map(next(v.name for v in network.variables if v.name not in evidence)),
        lambda: engine.sample(2, rng, evidence),
        lambda: engine.entropy(None, evidence),
    )
    for question in questions:
        question()
    for key, stored in engine._planner.store.held().items():
        real = held(stored.plan, of_model(network))
        assert real <= stored.bytes <= 8 * real + 2**16, key


@settings(max_examples=examples(20))
@given(networks(max_variables=6, max_states=3))
def test_small_plans_take_no_more_than_is_counted(network: Network) -> None:
    check(network, {})


@pytest.mark.parametrize("name", ["asia", "alarm", "hepar2"])
def test_plans_take_no_more_than_is_counted(name: str) -> None:
    network = read_wheel(name)
    check(network, state_names(network, ask(network, "random").findings))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hailfinder", "pigs", "water", "diabetes"])
def test_large_plans_take_no_more_than_is_counted(name: str) -> None:
    network = read_wheel(name)
    check(network, state_names(network, ask(network, "leaves").findings))
