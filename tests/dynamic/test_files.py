"""Dynamic networks in files, of GeNIe too, and of pgmpy: they come back, and faults are refused."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind
from bnmind.dynamic import (
    DynamicNetwork,
    compile_dynamic,
    previous,
    read_dynamic,
    write_dynamic,
)
from bnmind.dynamic.network import dynamic_from_json, dynamic_to_json
from bnmind.errors import InvalidModelError, ModelFileError, TooLargeError
from bnmind.pgm import Network, TabularCPD, Variable, noisy_or
from bnmind.pgm.files import read_with_report
from bnmind.pgm.formats import pgmpy_object, quiet_pgmpy
from tests.dynamic.test_inference import WEATHER as UMBRELLAS
from tests.dynamic.test_network import SEEN, STAYS, WEATHER
from tests.dynamic.twin import dynamic_networks
from tests.modes import examples


@settings(max_examples=examples(30))
@given(st.data())
def test_networks_come_back_from_text(data: st.DataObject) -> None:
    network = data.draw(dynamic_networks())
    again = dynamic_from_json(dynamic_to_json(network))
    assert again.variables == network.variables
    for v in network.variables:
        for number in (0, 1):
            one, other = network.cpd(v.name, number), again.cpd(v.name, number)
            assert type(one) is type(other)
            assert other.to_factor().values.tolist() == one.to_factor().values.tolist()


def test_noisy_distributions_stay_noisy(tmp_path: Path) -> None:
    rain, slip = Variable("rain", ("no", "yes")), Variable("slip", ("no", "yes"))
    start = TabularCPD(rain, (), np.array([0.5, 0.5]))
    stays = TabularCPD(rain, (previous(rain),), np.eye(2))
    slips = noisy_or(slip, (rain, previous(rain)), [0.5, 0.25], leak=0.1)
    network = DynamicNetwork(Network((start, noisy_or(slip, (rain,), [0.5]))), (stays, slips))
    write_dynamic(network, tmp_path / "slips.json")
    assert type(read_dynamic(tmp_path / "slips.json").cpd("slip")) is type(slips)


def test_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "weather.json.gz"
    path.write_bytes(gzip.compress(dynamic_to_json(UMBRELLAS).encode()))
    assert repr(read_dynamic(path)) == repr(UMBRELLAS)


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    varying = DynamicNetwork(UMBRELLAS.first, UMBRELLAS.transition, {"rain": lambda number: 0})
    with pytest.raises(ModelFileError, match="vary"):
        write_dynamic(varying, tmp_path / "weather.json")
    with pytest.raises(ModelFileError, match=r"ending in \.json"):
        write_dynamic(UMBRELLAS, tmp_path / "weather.bif")
    with pytest.raises(TooLargeError):
        write_dynamic(UMBRELLAS, tmp_path / "weather.json", max_cells=2)
    assert list(tmp_path.iterdir()) == []


def changed(**changes: Any) -> str:
    record = json.loads(dynamic_to_json(UMBRELLAS))
    for path, value in changes.items():
        *way, last = path.split("__")
        place = record
        for key in way:
            place = place[int(key) if key.isdigit() else key]
        place[int(last) if last.isdigit() else last] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "line 1 column"),
        (changed(schema="bnmind-model"), "at schema"),
        (changed(version=2), "at version"),
        (changed(first=3), "first: "),
        (changed(first__version=9), "in the part first: .* at version"),
        (changed(extra=1), "unknown fields: 'extra'"),
        (changed(transition__potentials=[]), "in the part transition: .*at variables.0"),
        (
            changed(
                transition__potentials__0={"kind": "factor", "scope": ["rain"], "values": [1, 1]}
            ),
            "in the part transition|a factor over rain",
        ),
        (
            changed(transition=json.loads(dynamic_to_json(UMBRELLAS))["first"] | {"variables": []}),
            "in the part transition: .*at potentials",
        ),
    ],
)
def test_faulty_files_are_refused_with_the_place(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "faulty.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=told):
        read_dynamic(path)


def test_a_network_of_one_slice_is_no_dynamic_network(tmp_path: Path) -> None:
    path = tmp_path / "faulty.json"
    text = json.loads(dynamic_to_json(UMBRELLAS))
    text["transition"]["potentials"] = text["transition"]["potentials"][:1]
    text["transition"]["variables"] = [
        v for v in text["transition"]["variables"] if v["name"] != "umbrella"
    ]
    path.write_text(json.dumps(text), encoding="utf-8")
    with pytest.raises(ModelFileError, match="umbrella"):
        read_dynamic(path)


# The numbers of the tutorial on dynamic networks in the manual of SMILE.
TUTORIAL = (Path(__file__).parents[1] / "fuzz" / "seeds" / "dynamic" / "umbrella.xdsl").read_text()
KEEPS = {"Pittsburgh": (0.7, (0.7, 0.3)), "Sahara": (0.01, (0.001, 0.01))}
"""P(rain) in the first slice, and later given rain and no rain, for each location."""


def saved(tmp_path: Path, text: str) -> DynamicNetwork:
    path = tmp_path / "time.xdsl"
    path.write_text(text)
    return read_dynamic(path)


def by_hand(reports: dict[int, bool]) -> tuple[float, list[float]]:
    """Return P(reports), and P(rain) in each of five slices given them, by enumeration."""
    total, rainy = 0.0, np.zeros(5)
    for first, later in KEEPS.values():
        for rain in itertools.product((True, False), repeat=5):
            p = 0.5 * (first if rain[0] else 1 - first)
            for before, now in itertools.pairwise(rain):
                chance = later[0] if before else later[1]
                p *= chance if now else 1 - chance
            for day, umbrella in reports.items():
                chance = 0.9 if rain[day] else 0.2
                p *= chance if umbrella else 1 - chance
            total += p
            rainy += p * np.array(rain)
    return total, (rainy / total).tolist()


@pytest.mark.parametrize("reports", [{}, {1: True, 3: False}])
def test_the_tutorial_of_smile(reports: dict[int, bool], tmp_path: Path) -> None:
    network = saved(tmp_path, TUTORIAL)
    assert repr(network) == "DynamicNetwork(Location, Rain, Umbrella | interface Location, Rain)"
    total, rainy = by_hand(reports)
    found = network.unroll(5).query(
        evidence={f"Umbrella[{day}]": str(is_up).lower() for day, is_up in reports.items()}
    )
    for day, chance in enumerate(rainy):
        assert found[f"Rain[{day}]"]["true"] == pytest.approx(chance, abs=1e-12)
        assert found[f"Location[{day}]"]["Sahara"] == pytest.approx(found["Location[0]"]["Sahara"])
    assert found.log_evidence == pytest.approx(np.log(total), abs=1e-12)
    seen = [None if day not in reports else str(reports[day]).lower() for day in range(5)]
    smooth = compile_dynamic(network).smooth({"Umbrella": seen})
    np.testing.assert_allclose(smooth.marginals["Rain"][:, 0], rainy, atol=1e-12)
    write_dynamic(network, tmp_path / "again.json")
    again = read_dynamic(tmp_path / "again.json")
    assert again.cpd("Rain").to_factor().values.tolist() == (
        network.cpd("Rain").to_factor().values.tolist()
    )


def test_an_anchor_is_a_parent_in_the_first_slice_only(tmp_path: Path) -> None:
    text = TUTORIAL.replace('id="Location"', 'id="Location" dynamic="anchor"').replace(
        "0.7 0.3 0.3 0.7 0.001 0.999 0.01 0.99", "0.7 0.3 0.3 0.7"
    )
    network = saved(tmp_path, text)
    assert [v.name for v in network.cpd("Rain").parents] == ["Rain[t-1]"]
    found = network.unroll(3).query("Rain[2]")["Rain[2]"]["true"]
    first = 0.5 * 0.7 + 0.5 * 0.01
    second = first * 0.7 + (1 - first) * 0.3
    assert found == pytest.approx(second * 0.7 + (1 - second) * 0.3)


def test_a_plate_without_arcs_between_slices(tmp_path: Path) -> None:
    text = re.sub(r"<dynamic .*</dynamic>", "", TUTORIAL, flags=re.DOTALL)
    network = saved(tmp_path, text)
    assert [v.name for v in network.cpd("Rain").parents] == ["Location"]
    assert network.unroll(2).query("Rain[1]")["Rain[1]"]["true"] == pytest.approx(0.355)


def test_encoded_names_are_decoded(tmp_path: Path) -> None:
    text = TUTORIAL.replace("Rain", "heavy_x0020_rain")
    text = text.replace("</extensions>", '<bnmind names="_xHHHH_"/></extensions>')
    names = [v.name for v in saved(tmp_path, text).cpd("heavy rain").scope]
    assert names == ["heavy rain", "Location", "heavy rain[t-1]"]


ENTRY = '<cpt id="Rain" order="1">'


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (' dynamic="plate"', "", "read others), got one without a temporal plate"),
        ('id="Umbrella" dynamic="plate"', 'id="Umbrella" dynamic="terminal"', "a terminal node"),
        ('id="Umbrella" dynamic="plate"', 'id="Umbrella"', "no parent on the plate of 'Umbrella'"),
        ('id="Umbrella" dynamic="plate"', 'id="Umbrella" dynamic="web"', "temporal type 'web'"),
        ('order="1"', 'order="2"', "order 1, got order '2' of 'Rain'"),
        (ENTRY, ENTRY.replace("Rain", "Snow"), "each node of the plate, got 'Snow'"),
        (ENTRY, ENTRY.replace("Rain", "Location"), "each node of the plate, got 'Location'"),
        (ENTRY, f"{ENTRY}<weights>1</weights>", "<weights> in <cpt>"),
        (ENTRY, f"{ENTRY}</cpt>{ENTRY}", "each node of the plate, got 'Rain'|<probabilities>"),
        ("<parents>Rain</parents>\n  <probabilities>0.7", "<parents>Snow</parents>"
         "<probabilities>0.7", "'Snow[t-1]', a parent of Rain without a table"),
        ("0.01 0.99</prob", "0.01 0.98</prob", "a sum of 0.99 given Location=Sahara"),
        ("0.001 0.999 ", "", "8 numbers for Rain in <probabilities>, got 6"),
        ('id="Location"', 'id="Location" dynamic="anchor"', "4 numbers for Rain"),
        ('<cpt id="Location">', '<decision id="Pay"><state id="a"/><state id="b"/></decision>'
         '<cpt id="Location">', "the decision 'Pay'"),
        ("Umbrella", "U[t-1]", "got U[t-1]"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(old: str, new: str, told: str, tmp_path: Path) -> None:
    assert old in TUTORIAL
    with pytest.raises(ModelFileError, match=r"at line \d+, column \d+") as caught:
        saved(tmp_path, TUTORIAL.replace(old, new))
    assert any(part in str(caught.value) for part in told.split("|"))


def test_a_table_of_an_anchors_child_is_needed(tmp_path: Path) -> None:
    text = re.sub(r"<dynamic .*</dynamic>", "", TUTORIAL, flags=re.DOTALL)
    with pytest.raises(ModelFileError, match="a table of Rain for later slices"):
        saved(tmp_path, text.replace('id="Location"', 'id="Location" dynamic="anchor"'))


def test_networks_of_one_slice_do_not_read_them(tmp_path: Path) -> None:
    path = tmp_path / "time.xdsl"
    path.write_text(TUTORIAL)
    for reads in (bnmind.read, read_with_report):
        with pytest.raises(ModelFileError, match=r"bnmind track .* read_dynamic\(path\)\.unroll"):
            reads(path)


def test_rows_that_miss_one_by_rounding(tmp_path: Path) -> None:
    path = tmp_path / "time.xdsl"
    path.write_text(TUTORIAL.replace("0.7 0.3 0.3 0.7 0.001 0.999", "0.7 0.3 0.3 0.7 0.001 0.998"))
    with pytest.raises(ModelFileError, match="normalize=True"):
        read_dynamic(path)
    tables: list[object] = []
    network = read_dynamic(path, normalize=True, on_normalized=tables.append)
    assert network.cpd("Rain").to_factor().values.sum() == pytest.approx(4)
    assert len(tables) == 1


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
    network = DynamicNetwork.from_pgmpy(pgmpy_weather(initialized=initialized))
    assert repr(network) == repr(WEATHER)
    for name in ("rain", "wet"):
        for number in (0, 1):
            expected = WEATHER.cpd(name, number).to_factor().values
            assert network.cpd(name, number).to_factor().values == pytest.approx(expected)


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


def test_faulty_networks_of_pgmpy_are_refused() -> None:
    with pytest.raises(InvalidModelError, match="expected a pgmpy DynamicBayesianNetwork"):
        DynamicNetwork.from_pgmpy(3)
    model = pgmpy_weather()
    model.cpds = [table for table in model.cpds if table.variable != ("rain", 1)]
    with pytest.raises(InvalidModelError, match=r"expected a table of \('rain', 1\)"):
        DynamicNetwork.from_pgmpy(model)
    model = pgmpy_weather()
    model.add_edges_from([(("wet", 0), ("wet", 1))])
    with pytest.raises(InvalidModelError, match="table"):
        DynamicNetwork.from_pgmpy(model)
    model = pgmpy_weather()
    model.cpds = []
    with pytest.raises(InvalidModelError, match=r"(?s)table of \('rain', 0\).*of \('wet', 0\)"):
        DynamicNetwork.from_pgmpy(model)
    model = pgmpy_weather()
    model.cpds[-1].state_names[("rain", 0)] = ["dry", "rainy"]
    with pytest.raises(InvalidModelError, match=r"\('wet', 0\), got \('dry', 'rainy'\)"):
        DynamicNetwork.from_pgmpy(model)


def test_states_have_the_names_of_the_first_slice() -> None:
    table = pgmpy_object("pgmpy.factors.discrete", "TabularCPD")
    first, later, colors = ("color", 0), ("color", 1), ["red", "green"]
    with quiet_pgmpy():
        model = pgmpy_object("pgmpy.models", "DynamicBayesianNetwork")([(first, later)])
        names = {first: colors, later: colors}
        model.add_cpds(
            table(first, 2, [[0.5], [0.5]], state_names={first: colors}),
            table(later, 2, [[1, 0], [0, 1]], [first], [2], state_names=names),
        )
    (variable,) = DynamicNetwork.from_pgmpy(model).variables
    assert variable == Variable("color", ("red", "green"))
