"""Dynamic networks of pgmpy come and go, and what pgmpy cannot express is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from bnmind.dynamic import (
    DynamicNetwork,
    compile_dynamic,
    dynamic_from_pgmpy,
    dynamic_to_pgmpy,
    previous,
)
from bnmind.errors import InvalidModelError
from bnmind.pgm import CPD, Network, TabularCPD, Variable
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy
from tests.dynamic.test_network import FIRST, RAIN, SEEN, START, STAYS, WEATHER, WET
from tests.dynamic.twin import dynamic_networks
from tests.modes import examples


def pgmpy_weather(*, initialized: bool = False) -> Any:
    """Return the weather as pgmpy's users write it, with the tables of slice 1 left out."""
    table = pgmpy_object("pgmpy.factors.discrete", "TabularCPD")
    with quiet_pgmpy():
        model = pgmpy_object("pgmpy.models", "DynamicBayesianNetwork")()
        model.add_edges_from([(("rain", 0), ("wet", 0)), (("rain", 0), ("rain", 1))])
        model.add_cpds(
            table(("rain", 0), 2, [[0.8], [0.2]]),
            table(("rain", 1), 2, STAYS.values.tolist(), [("rain", 0)], [2]),
            table(("wet", 0), 2, SEEN.values.tolist(), [("rain", 0)], [2]),
        )
        if initialized:
            model.initialize_initial_state()
    return model


@pytest.mark.parametrize("initialized", [False, True])
def test_tables_that_pgmpy_leaves_out_are_those_of_the_first_slice(initialized: bool) -> None:
    network = dynamic_from_pgmpy(pgmpy_weather(initialized=initialized))
    assert repr(network) == repr(WEATHER)
    for name in ("rain", "wet"):
        for number in (0, 1):
            expected = WEATHER.cpd(name, number).to_factor().values
            assert network.cpd(name, number).to_factor().values == pytest.approx(expected)


@settings(max_examples=examples(10))
@given(st.data())
def test_networks_come_back_from_pgmpy(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    try:
        model = dynamic_to_pgmpy(network)
    except InvalidModelError:  # arcs that pgmpy cannot express
        reject()
    again = dynamic_from_pgmpy(model)
    assert again.interface == network.interface
    for number in (0, 1):
        for v in network.variables:
            one, other = (n.cpd(v.name, number).to_factor() for n in (network, again))
            assert other.isclose(one)


@pytest.mark.slow
def test_filtered_beliefs_are_those_of_pgmpy() -> None:
    inference = pgmpy_object("pgmpy.inference", "DBNInference")
    with quiet_pgmpy():
        answers = inference(pgmpy_weather(initialized=True)).forward_inference(
            [("rain", 3)], {("wet", t): t % 2 for t in range(4)}
        )
    findings = {"wet": ["no", "yes", "no", "yes"]}
    belief = compile_dynamic(WEATHER).filter(findings).marginals["rain"][3]
    assert belief == pytest.approx(answers[("rain", 3)].values)


def test_arcs_that_pgmpy_cannot_express_are_refused() -> None:
    apart = TabularCPD(WET, (), np.array([0.5, 0.5]))
    with pytest.raises(InvalidModelError, match="rain → wet is only in the first one"):
        dynamic_to_pgmpy(DynamicNetwork(FIRST, (STAYS, apart)))
    with pytest.raises(InvalidModelError, match="vary"):
        dynamic_to_pgmpy(DynamicNetwork(FIRST, WEATHER.transition, {"rain": lambda number: 0}))
    loaded = TabularCPD(WET, (), np.array([0.25, 0.75]))
    alone = DynamicNetwork(Network((START, apart)), (STAYS, loaded))
    with pytest.raises(InvalidModelError, match="without arcs"):
        dynamic_to_pgmpy(alone)


def test_faulty_networks_of_pgmpy_are_refused() -> None:
    with pytest.raises(InvalidModelError, match="expected a pgmpy DynamicBayesianNetwork"):
        dynamic_from_pgmpy(3)
    model = pgmpy_weather()
    model.cpds = [table for table in model.cpds if table.variable != ("rain", 1)]
    with pytest.raises(InvalidModelError, match=r"expected a table of \('rain', 1\)"):
        dynamic_from_pgmpy(model)
    model = pgmpy_weather()
    model.add_edges_from([(("wet", 0), ("wet", 1))])
    with pytest.raises(InvalidModelError, match="table"):
        dynamic_from_pgmpy(model)
    model = pgmpy_weather()
    model.cpds = []
    with pytest.raises(InvalidModelError, match=r"(?s)table of \('rain', 0\).*of \('wet', 0\)"):
        dynamic_from_pgmpy(model)
    model = pgmpy_weather()
    model.cpds[-1].state_names[("rain", 0)] = ["dry", "rainy"]
    with pytest.raises(InvalidModelError, match=r"\('wet', 0\), got \('dry', 'rainy'\)"):
        dynamic_from_pgmpy(model)


def test_states_have_the_names_of_the_first_slice() -> None:
    color = Variable("color", ("red", "green"))
    cpds: tuple[CPD, ...] = (TabularCPD(color, (previous(color),), np.eye(2)),)
    network = DynamicNetwork(Network((TabularCPD(color, (), np.array([0.5, 0.5])),)), cpds)
    assert dynamic_from_pgmpy(dynamic_to_pgmpy(network)).variables == (color,)
    assert RAIN.states == ("no", "yes")
