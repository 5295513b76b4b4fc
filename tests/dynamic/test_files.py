"""Files of dynamic networks come back, and faulty ones are refused with the place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.dynamic import DynamicNetwork, previous, read_dynamic, write_dynamic
from bnmind.dynamic.files import dynamic_from_json, dynamic_to_json
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.pgm import Network, TabularCPD, Variable, noisy_or
from tests.dynamic.test_inference import WEATHER
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
    path.write_bytes(gzip.compress(dynamic_to_json(WEATHER).encode()))
    assert repr(read_dynamic(path)) == repr(WEATHER)


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    varying = DynamicNetwork(WEATHER.first, WEATHER.transition, {"rain": lambda number: 0})
    with pytest.raises(ModelFileError, match="vary"):
        write_dynamic(varying, tmp_path / "weather.json")
    with pytest.raises(ModelFileError, match=r"ending in \.json"):
        write_dynamic(WEATHER, tmp_path / "weather.bif")
    with pytest.raises(TooLargeError):
        write_dynamic(WEATHER, tmp_path / "weather.json", max_cells=2)
    assert list(tmp_path.iterdir()) == []


def changed(**changes: Any) -> str:
    record = json.loads(dynamic_to_json(WEATHER))
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
            changed(transition=json.loads(dynamic_to_json(WEATHER))["first"] | {"variables": []}),
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
    text = json.loads(dynamic_to_json(WEATHER))
    text["transition"]["potentials"] = text["transition"]["potentials"][:1]
    text["transition"]["variables"] = [
        v for v in text["transition"]["variables"] if v["name"] != "umbrella"
    ]
    path.write_text(json.dumps(text), encoding="utf-8")
    with pytest.raises(ModelFileError, match="umbrella"):
        read_dynamic(path)
