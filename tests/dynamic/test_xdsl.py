"""Networks over time in files of GeNIe: what is read, by hand, and what is refused."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import bnmind
from bnmind.dynamic import DynamicNetwork, compile_dynamic, read_dynamic, write_dynamic
from bnmind.errors import ModelFileError
from bnmind.pgm.files import read_with_report

# The numbers of the tutorial on dynamic networks in the manual of SMILE.
RAIN = (Path(__file__).parents[1] / "fuzz" / "seeds" / "dynamic" / "umbrella.xdsl").read_text()
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
    network = saved(tmp_path, RAIN)
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
    text = RAIN.replace('id="Location"', 'id="Location" dynamic="anchor"').replace(
        "0.7 0.3 0.3 0.7 0.001 0.999 0.01 0.99", "0.7 0.3 0.3 0.7"
    )
    network = saved(tmp_path, text)
    assert [v.name for v in network.cpd("Rain").parents] == ["Rain[t-1]"]
    found = network.unroll(3).query("Rain[2]")["Rain[2]"]["true"]
    first = 0.5 * 0.7 + 0.5 * 0.01
    second = first * 0.7 + (1 - first) * 0.3
    assert found == pytest.approx(second * 0.7 + (1 - second) * 0.3)


def test_a_plate_without_arcs_between_slices(tmp_path: Path) -> None:
    text = re.sub(r"<dynamic .*</dynamic>", "", RAIN, flags=re.DOTALL)
    network = saved(tmp_path, text)
    assert [v.name for v in network.cpd("Rain").parents] == ["Location"]
    assert network.unroll(2).query("Rain[1]")["Rain[1]"]["true"] == pytest.approx(0.355)


def test_encoded_names_are_decoded(tmp_path: Path) -> None:
    text = RAIN.replace("Rain", "heavy_x0020_rain")
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
    assert old in RAIN
    with pytest.raises(ModelFileError, match=r"at line \d+, column \d+") as caught:
        saved(tmp_path, RAIN.replace(old, new))
    assert any(part in str(caught.value) for part in told.split("|"))


def test_a_table_of_an_anchors_child_is_needed(tmp_path: Path) -> None:
    text = re.sub(r"<dynamic .*</dynamic>", "", RAIN, flags=re.DOTALL)
    with pytest.raises(ModelFileError, match="a table of Rain for later slices"):
        saved(tmp_path, text.replace('id="Location"', 'id="Location" dynamic="anchor"'))


def test_networks_of_one_slice_do_not_read_them(tmp_path: Path) -> None:
    path = tmp_path / "time.xdsl"
    path.write_text(RAIN)
    for reads in (bnmind.read, read_with_report):
        with pytest.raises(ModelFileError, match=r"bnmind track .* read_dynamic\(path\)\.unroll"):
            reads(path)


def test_rows_that_miss_one_by_rounding(tmp_path: Path) -> None:
    path = tmp_path / "time.xdsl"
    path.write_text(RAIN.replace("0.7 0.3 0.3 0.7 0.001 0.999", "0.7 0.3 0.3 0.7 0.001 0.998"))
    with pytest.raises(ModelFileError, match="normalize=True"):
        read_dynamic(path)
    tables: list[object] = []
    network = read_dynamic(path, normalize=True, on_normalized=tables.append)
    assert network.cpd("Rain").to_factor().values.sum() == pytest.approx(4)
    assert len(tables) == 1
