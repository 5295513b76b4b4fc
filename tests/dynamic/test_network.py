"""Dynamic networks: their parts, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from bnmind.dynamic import DynamicNetwork, previous
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError, UnknownNameError
from bnmind.pgm import CPD, Network, TabularCPD, Variable, noisy_or

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
START = TabularCPD(RAIN, (), np.array([0.8, 0.2]))
STAYS = TabularCPD(RAIN, (previous(RAIN),), np.array([[0.9, 0.2], [0.1, 0.8]]))
SEEN = TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]]))
FIRST = Network((START, SEEN))
WEATHER = DynamicNetwork(FIRST, (SEEN, STAYS))


def test_a_network_knows_its_interface_and_its_slices() -> None:
    assert [v.name for v in WEATHER.interface] == ["rain"]
    assert [cpd.variable.name for cpd in WEATHER.transition] == ["rain", "wet"]
    assert [v.name for v in WEATHER.two_slices.variables][:2] == ["rain[t-1]", "wet[t-1]"]
    assert WEATHER.cpd("rain", 0) is START
    assert WEATHER.cpd("rain", 5) is STAYS
    unrolled = WEATHER.unroll(3)
    assert unrolled.parents("rain[2]") == ("rain[1]",)
    assert unrolled.cpd("wet[1]").parents == (Variable("rain[1]", ("no", "yes")),)


def test_a_network_is_made_of_two_networks() -> None:
    before = TabularCPD(previous(RAIN), (), np.array([0.5, 0.5]))
    made = DynamicNetwork.from_networks(FIRST, Network((before, STAYS, SEEN)))
    assert made.transition == WEATHER.transition


def test_noisy_distributions_keep_their_form_in_other_slices() -> None:
    slip = noisy_or(Variable("slip", ("no", "yes")), (RAIN, previous(RAIN)), [0.5, 0.2], leak=0.1)
    start = noisy_or(Variable("slip", ("no", "yes")), (RAIN,), [0.5])
    network = DynamicNetwork(Network((START, start)), (STAYS, slip))
    cpd = network.unroll(2).cpd("slip[1]")
    assert type(cpd) is type(slip)
    assert cpd.to_factor().values == pytest.approx(slip.to_factor().values)


def test_networks_survive_pickling() -> None:
    assert repr(pickle.loads(pickle.dumps(WEATHER))) == "DynamicNetwork(rain, wet | interface rain)"


def test_a_few_names_are_shown_and_how_many_there_are() -> None:
    for n in (8, 9):
        many = [Variable(f"x{i}", ("0", "1")) for i in range(n)]
        first = Network(tuple(TabularCPD(v, (), np.array([0.5, 0.5])) for v in many))
        later = tuple(TabularCPD(v, (previous(v),), np.eye(2)) for v in many)
        names = ", ".join(f"x{i}" for i in range(8)) + (", … 9 variables" if n > 8 else "")
        assert repr(DynamicNetwork(first, later)) == f"DynamicNetwork({names} | interface {names})"


ANY: Any = {"rain": 3}
OTHER = Variable("rain", ("no", "some", "yes"))


@pytest.mark.parametrize(
    ("transition", "told"),
    [
        ([STAYS], "expected one distribution of wet in the transition, got 0"),
        ([STAYS, SEEN, SEEN], "expected one distribution of wet in the transition, got 2"),
        ([STAYS, SEEN, TabularCPD(Variable("snow", ("a",)), (), np.ones(1))], "got 'snow'"),
        ([STAYS, TabularCPD(WET, (Variable("snow", ("a",)),), np.full((2, 1), 0.5))], "no slice"),
        (
            [SEEN, TabularCPD(RAIN, (previous(OTHER),), np.full((2, 3), 0.5))],
            "set of states",
        ),
        (
            [STAYS, SEEN, TabularCPD(previous(RAIN), (), np.array([0.5, 0.5]))],
            "the first slice only",
        ),
        ([SEEN, TabularCPD(RAIN, (WET,), np.full((2, 2), 0.5))], "cycle: "),
    ],
)
def test_wrong_transitions_are_refused(transition: list[CPD], told: str) -> None:
    with pytest.raises(InvalidModelError, match=told):
        DynamicNetwork(FIRST, tuple(transition))


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InvalidModelError) as caught:
        DynamicNetwork(FIRST, (), {"snow": lambda number: number})
    assert len(caught.value.problems) == 3


def test_names_of_variables_do_not_end_like_those_of_the_previous_slice() -> None:
    network = Network((TabularCPD(previous(RAIN), (), np.array([0.5, 0.5])),))
    with pytest.raises(InvalidModelError, match=r"must not have a name ending in \[t-1\]"):
        DynamicNetwork(network, network.cpds)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda: WEATHER.cpd("snow"), UnknownNameError),
        (lambda: WEATHER.variable("snow"), UnknownNameError),
        (lambda: WEATHER.cpd("rain", -1), InvalidArgumentError),
        (lambda: WEATHER.unroll(0), InvalidArgumentError),
        (lambda: WEATHER.unroll(10**9), TooLargeError),
        (lambda: DynamicNetwork(FIRST, WEATHER.transition, ANY), InvalidModelError),
    ],
)
def test_wrong_questions_are_refused(ask: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ask()
