"""The most probable path is that of the joint of all slices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bnmind.dynamic import DynamicNetwork, compile_dynamic, previous
from bnmind.errors import ImpossibleEvidenceError
from bnmind.pgm import Network, TabularCPD, Variable
from tests.dynamic.test_inference import STAY, WEATHER, is_missing_or_likelihood
from tests.dynamic.twin import dynamic_networks, joint_of, sequences_of
from tests.modes import examples


@settings(max_examples=examples(30))
@given(st.data())
def test_paths_are_as_probable_as_the_best_of_the_joint(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    sequences = data.draw(sequences_of(network))
    joints = [joint_of(network, slices) for slices in sequences]
    assume(all(joint.max() > 0 for joint in joints))
    found = sorted({name for slices in sequences for slice_ in slices for name in slice_})
    is_known = bool(found) and data.draw(st.booleans())
    plan = compile_dynamic(network, observed=found if is_known else None)
    given_ = is_missing_or_likelihood(plan, [slice_ for slices in sequences for slice_ in slices])
    who = [i for i, slices in enumerate(sequences) for _ in slices]
    frame = pd.DataFrame({"who": who, **given_["columns"]})
    path = plan.most_probable(frame, sequence="who", likelihoods=given_["likelihoods"])
    row = 0
    for number, (slices, joint) in enumerate(zip(sequences, joints, strict=True)):
        cell = tuple(
            int(path.positions[v.name][row + t])
            for t in range(len(slices))
            for v in network.variables
        )
        assert joint[cell] == pytest.approx(joint.max())
        assert path.log_probabilities[number] == pytest.approx(math.log(joint.max()))
        row += len(slices)


def test_a_path_differs_from_the_most_probable_states_of_each_slice() -> None:
    plan = compile_dynamic(WEATHER)
    path = plan.most_probable({"umbrella": ["yes", "yes", "no", "yes", "yes"]})
    assert path.to_frame()["rain"].tolist() == ["yes", "yes", "no", "yes", "yes"]
    never = DynamicNetwork(
        WEATHER.first,
        (TabularCPD(*_stays()), WEATHER.transition[1]),
    )
    path = compile_dynamic(never).most_probable({"umbrella": ["yes", "yes", "no", "yes"]})
    assert path.to_frame()["rain"].tolist() == ["yes"] * 4


def _stays() -> Any:
    rain = WEATHER.variable("rain")
    return rain, (previous(rain),), np.eye(2)


def test_a_state_that_is_hopeless_for_long_is_found_in_the_end() -> None:
    # After 40 findings against it, the fault is less probable than 1e-400, and it is certain.
    fault, signal = Variable("fault", ("no", "yes")), Variable("signal", ("quiet", "loud"))
    stays = TabularCPD(fault, (previous(fault),), np.eye(2))
    start = TabularCPD(fault, (), np.array([0.5, 0.5]))
    seen = TabularCPD(signal, (fault,), np.array([[1.0, 1e-10], [0.0, 1.0]]))
    network = DynamicNetwork(Network((start, seen)), (stays, seen))
    path = compile_dynamic(network).most_probable({"signal": ["quiet"] * 40 + ["loud"]})
    assert set(path.to_frame()["fault"]) == {"yes"}


def test_impossible_sequences_are_named() -> None:
    rain = WEATHER.variable("rain")
    first = Network((TabularCPD(rain, (), np.array([1.0, 0.0])),))
    stays = DynamicNetwork(first, (TabularCPD(*_stays()),))
    with pytest.raises(ImpossibleEvidenceError, match="row 2, slice 2"):
        compile_dynamic(stays).most_probable({"rain": ["no", "no", "yes"]})


def test_tables_that_vary_are_followed() -> None:
    network = DynamicNetwork(
        WEATHER.first,
        WEATHER.transition,
        {"rain": lambda number: np.eye(2)[::-1] if number == 2 else STAY},
    )
    path = compile_dynamic(network).most_probable({"umbrella": ["yes", "yes", "no", "no"]})
    joint = joint_of(network, [{"umbrella": f} for f in (1, 1, 0, 0)])
    assert path.log_probabilities[None] == pytest.approx(math.log(joint.max()))
