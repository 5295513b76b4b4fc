"""Banks in files: what is written is read, and what is damaged is named."""

from __future__ import annotations

import json
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Dina,
    GradedResponse,
    Item,
    ItemBank,
    Logistic,
    Session,
    irt_bank,
    read_bank,
    write_bank,
)
from bnmind.adaptive.records import bank_from_json, bank_to_json
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.pgm import NoisyMinimum
from bnmind.pgm.formats.declared import ModelFileWarning
from tests.banks import banks
from tests.modes import examples

BANK = ItemBank.from_qmatrix(
    [[1, 0], [1, 1]],
    items=[
        Item(
            name="item_1",
            content="fractions",
            text="½ + ½",
            cost=2.0,
            time=30.0,
            enemies=("item_2",),
            testlet="t",
        ),
        Item("item_2"),
    ],
).with_title("A bank", "made up")


def assert_same(found: ItemBank, bank: ItemBank, *, with_models: bool = True) -> None:
    assert (found.skills, found.labels) == (bank.skills, bank.labels)
    assert (found.title, found.source) == (bank.title, bank.source)
    assert found.item_names == bank.item_names
    for name in bank.item_names:
        one, other = found.item(name), bank.item(name)
        assert (one.content, one.text, one.cost) == (other.content, other.text, other.cost)
        assert (one.time, one.enemies, one.testlet) == (other.time, other.enemies, other.testlet)
        if with_models:
            assert repr(one.gate) == repr(other.gate)
        assert found.responses(name) == bank.responses(name)
        assert found.cause(name) == bank.cause(name)
        np.testing.assert_allclose(found.channel(name), bank.channel(name), rtol=0, atol=1e-15)


@settings(max_examples=examples(30))
@given(st.data())
def test_json_says_everything(data: st.DataObject) -> None:
    bank = data.draw(banks())
    assert_same(bank_from_json(bank_to_json(bank)), bank)


def test_json_keeps_what_items_and_curves_are(tmp_path: Path) -> None:
    falling = GradedResponse(-1.0, (0.5, -1.0))
    one = irt_bank([Logistic(1.1, 0.3, 0.2), Logistic(-0.5, 2, 0), falling])
    for bank in (BANK, one):
        write_bank(bank, tmp_path / "bank.json")
        assert_same(read_bank(tmp_path / "bank.json"), bank)


class Odd(Dina):
    """A response model of the user's own."""


def test_gates_of_ones_own_become_tables(tmp_path: Path) -> None:
    bank = ItemBank.from_response_models([[1], [1]], [Odd(0.1, 0.2), Dina(0.1, 0.2)])
    write_bank(bank, tmp_path / "bank.json")
    found = read_bank(tmp_path / "bank.json")
    assert found.item("item_1").gate is None
    assert found.item("item_2").gate == Dina(0.1, 0.2)
    np.testing.assert_allclose(found.channel("item_1"), bank.channel("item_1"))


@pytest.mark.parametrize("suffix", ["bif", "xdsl", "net", "xmlbif"])
def test_network_files_have_the_roles_beside_them(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bank.{suffix}"
    write_bank(BANK, path)
    assert (tmp_path / f"bank.{suffix}.roles.json").exists()
    assert_same(read_bank(path), BANK)


def test_nothing_is_left_of_a_failed_write(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot write"):
        write_bank(BANK, tmp_path / "nowhere" / "bank.json")
    assert list(tmp_path.iterdir()) == []


def broken(change: object) -> str:
    record = json.loads(bank_to_json(BANK))
    change(record)  # type: ignore[operator]
    return json.dumps(record)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (bank_to_json(BANK)[:-30], "bnmind-bank"),
        ("[]", "bnmind-bank"),
        (broken(lambda r: r.update(version=3)), "made by a newer bnmind"),
        (broken(lambda r: r.update(schema="bnmind-model")), "schema bnmind-bank"),
        (
            broken(lambda r: r["items"][0].update(cost=0)),
            "the cost of item item_1 must be positive",
        ),
        (broken(lambda r: r["items"][0].update(colour="red")), "items.0: unknown fields: 'colour'"),
        (broken(lambda r: r["items"][0]["gate"].update(guess=2)), "in item item_1"),
        (
            broken(lambda r: r["items"][0]["gate"].update(kind="odd")),
            "a response model among .*'odd'",
        ),
        (broken(lambda r: r["items"][0]["gate"].update(odd=1)), "a response model for item item_1"),
        (broken(lambda r: r["items"][0]["gate"].update(guess="x")), "item_1"),
        (broken(lambda r: r["items"][0].update(parents=["who"])), "parents of item_1, got who"),
        (broken(lambda r: r["items"][0].update(enemies=["who"])), "who, an enemy of item_1,"),
        (broken(lambda r: r["skills"].clear()), "at least one skill"),
        (broken(lambda r: r["network"].pop("variables")), "bnmind-model 2, got variables"),
        (broken(lambda r: r["items"].append(r["items"][0])), "item_1"),
    ],
)
def test_damaged_banks_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bank.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=words) as caught:
        read_bank(path)
    assert str(path) in str(caught.value)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot read"):
        read_bank(tmp_path / "bank.json")
    with pytest.raises(ModelFileError, match="ends in"):
        read_bank(tmp_path / "bank.txt")
    (tmp_path / "empty.json").write_text("")
    with pytest.raises(ModelFileError, match="empty"):
        read_bank(tmp_path / "empty.json")


@pytest.mark.parametrize(
    "gate",
    [
        {"kind": "dina", "guess": [], "slip": 0.1},
        {"kind": "dino", "guess": 0.1, "slip": [0.1]},
        {"kind": "noisy-and", "guess": 0.1, "ceiling": [1]},
        {"kind": "noisy-or", "guess": 0.1, "floor": [[0]]},
        {"kind": "dina", "guess": 0.1, "slip": 0.1, "required": 1},
        {"kind": "sequential", "steps": [{"kind": "dina", "guess": [0.1], "slip": 0.1}]},
    ],
)
def test_response_models_with_lists_for_numbers_are_refused(tmp_path: Path, gate: object) -> None:
    text = bank_to_json(ItemBank.from_qmatrix([[1]]))
    record = json.loads(text)
    record["items"][0]["gate"] = gate
    (tmp_path / "bank.json").write_text(json.dumps(record))
    with pytest.raises(ModelFileError, match="item_1"):
        read_bank(tmp_path / "bank.json")


def bank_of_skills(n_skills: int, gate: dict[str, object]) -> str:
    """Return a bank of one item that needs all of so many skills."""
    skills = [f"s{number}" for number in range(n_skills)]
    network = {
        "schema": "bnmind-model",
        "version": 2,
        "variables": [{"name": name, "states": ["0", "1"]} for name in skills],
        "potentials": [{"kind": "table", "scope": [name], "values": [0.5, 0.5]} for name in skills],
    }
    return json.dumps(
        {
            "schema": "bnmind-bank",
            "version": 1,
            "skills": [{"name": name} for name in skills],
            "items": [{"name": "item_1", "parents": skills, "gate": gate}],
            "network": network,
        }
    )


@pytest.mark.parametrize("n_skills", [22, 26, 33, 70])
@pytest.mark.parametrize(
    "gate",
    [
        {"kind": "dina", "guess": 0.1, "slip": 0.1},
        {"kind": "dino", "guess": 0.1, "slip": 0.1},
        {"kind": "graded", "slopes": 1.0, "thresholds": [0.0]},
        {"kind": "sequential", "steps": [{"kind": "noisy-or", "guess": 0.1}]},
    ],
    ids=lambda gate: str(gate["kind"]),
)
def test_a_few_parameters_that_stand_for_a_large_table_are_refused(
    tmp_path: Path, n_skills: int, gate: dict[str, object]
) -> None:
    path = tmp_path / "bank.json"
    path.write_text(bank_of_skills(n_skills, gate))
    tracemalloc.start()
    try:
        with pytest.raises(TooLargeError, match=r"item item_1; .*noisy-and .*bank\.json") as caught:
            read_bank(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert caught.value.needed == 2 ** (n_skills + 1)
    assert most < 20_000_000


def test_gates_without_tables_may_have_any_number_of_skills(tmp_path: Path) -> None:
    for kind in ("noisy-and", "noisy-or"):
        path = tmp_path / "bank.json"
        path.write_text(bank_of_skills(70, {"kind": kind, "guess": 0.1}))
        assert len(read_bank(path).cause("item_1")) == 70


def test_tables_of_all_items_are_counted_together() -> None:
    bank = ItemBank.from_qmatrix([[1, 1], [1, 1], [1, 0]])
    assert bank_from_json(bank_to_json(bank), max_cells=20).item_names == bank.item_names
    with pytest.raises(
        TooLargeError, match=r"20 cells, 8 of them for item item_1; the limit is 19"
    ):
        bank_from_json(bank_to_json(bank), max_cells=19)


HUGE = "1" + "0" * 400


@pytest.mark.parametrize(
    "number", [HUGE, f"-{HUGE}", "1e999", "NaN", "Infinity", '"x"', "[]", "{}"]
)
@pytest.mark.parametrize(
    ("gate", "field"),
    [
        ({"kind": "dina", "guess": 0.1, "slip": "?"}, "slip"),
        ({"kind": "dino", "guess": "?", "slip": 0.1}, "guess"),
        ({"kind": "noisy-and", "guess": ["?"]}, "guess"),
        ({"kind": "noisy-or", "guess": 0.1, "floor": "?"}, "floor"),
        ({"kind": "graded", "slopes": "?", "thresholds": [0.0]}, "slopes"),
        ({"kind": "graded", "slopes": 1.0, "thresholds": ["?"]}, "thresholds"),
        ({"kind": "logistic", "difficulty": "?"}, "difficulty"),
        ({"kind": "graded-response", "slope": "?", "thresholds": [0.0]}, "slope"),
        ({"kind": "dina", "guess": 0.1, "slip": 0.1, "required": ["?"]}, "required"),
        ({"kind": "free-table", "probabilities": [[0.5, "?"], [0.5, 0.5]]}, "G-DINA model"),
    ],
)
def test_parameters_that_are_no_numbers_are_refused(
    tmp_path: Path, gate: dict[str, object], field: str, number: str
) -> None:
    path = tmp_path / "bank.json"
    path.write_text(bank_of_skills(1, gate).replace('"?"', number))
    with pytest.raises(ModelFileError, match=rf"{field}|item_1") as caught:
        read_bank(path)
    assert len(str(caught.value)) < 1000


def test_an_item_in_the_network_may_have_its_response_model_beside_it(tmp_path: Path) -> None:
    record = json.loads(bank_of_skills(1, {"kind": "dina", "guess": 0.25, "slip": 0.25}))
    record["network"]["variables"].append({"name": "item_1", "states": ["0", "1"]})
    table = {"kind": "table", "scope": ["item_1", "s0"], "values": [0.75, 0.25, 0.25, 0.75]}
    record["network"]["potentials"].append(table)
    path = tmp_path / "bank.json"
    path.write_text(json.dumps(record))
    assert read_bank(path).item("item_1").gate == Dina(0.25, 0.25)
    for name, value, words in (
        ("slip", 0.5, "is not that of its response model"),
        ("required", [1, 1], "1 levels for item_1"),
        ("required", 1, "expected required to be a sequence"),
        ("guess", "x", "expected guess to be a number"),
    ):
        changed = json.loads(json.dumps(record))
        changed["items"][0]["gate"][name] = value
        path.write_text(json.dumps(changed))
        with pytest.raises(ModelFileError, match=words):
            read_bank(path)


def test_a_bank_whose_network_was_rounded_is_read_on_request(tmp_path: Path) -> None:
    path = tmp_path / "bank.bif"
    write_bank(BANK, path)
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"table 0\.\d+, 0\.\d+;", "table 0.333, 0.666;", text), encoding="utf-8")
    with pytest.raises(ModelFileError, match="normalize=True"):
        read_bank(path)
    assert read_bank(path, normalize=True).items == BANK.items


CAR = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Car" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="age" diagtype="observation" ranked="true">
      <state id="old"/><state id="new"/>
      <probabilities>0.3 0.7</probabilities>
    </cpt>
    <cpt id="battery" diagtype="target">
      <state id="flat" fault="true"/><state id="good"/>
      <parents>age</parents>
      <probabilities>0.2 0.8 0.05 0.95</probabilities>
    </cpt>
    <cpt id="starter" diagtype="target">
      <state id="broken" fault="true"/><state id="good"/>
      <probabilities>0.1 0.9</probabilities>
    </cpt>
    <cpt id="radio" diagtype="target">
      <state id="broken" fault="true"/><state id="good"/>
      <probabilities>0.1 0.9</probabilities>
    </cpt>
    <noisymax id="starts" diagtype="observation" ranked="true">
      <state id="no"/><state id="yes"/>
      <parents>battery starter</parents>
      <question>Does the engine
        start?</question>
      <strengths>0 1 0 1</strengths>
      <parameters>0.9 0.1 0 1 0.8 0.2 0 1 0.05 0.95</parameters>
    </noisymax>
    <cpt id="lights" diagtype="observation" ranked="true">
      <state id="dim"/><state id="bright"/>
      <parents>battery</parents>
      <cost>2.5</cost>
      <probabilities>0.9 0.1 0.2 0.8</probabilities>
    </cpt>
    <cpt id="color" diagtype="auxiliary">
      <state id="red"/><state id="blue"/>
      <probabilities>0.5 0.5</probabilities>
    </cpt>
  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe 4.0" name="A car that does not start">
      <node id="battery"><name>Car battery</name></node>
      <submodel id="s"><node id="lights"><name>Head lights</name></node></submodel>
    </genie>
  </extensions>
</smile>
"""


def written(directory: Path, text: str = CAR) -> Path:
    path = directory / "car.xdsl"
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> ItemBank:
    with pytest.warns(ModelFileWarning) as caught:
        bank = read_bank(path)
    assert [str(one.message).rsplit(": ", 1)[1] for one in caught] == ["age", "radio"]
    return bank


def test_targets_are_skills_and_ranked_observations_are_items(tmp_path: Path) -> None:
    bank = read(written(tmp_path))
    assert (bank.skills, bank.labels) == (("battery", "starter"), ("Car battery", "starter"))
    assert bank.item_names == ("starts", "lights")
    assert [item.text for item in bank.items] == ["Does the engine start?", "Head lights"]
    assert [item.cost for item in bank.items] == [1.0, 2.5]
    assert bank.title == "A car that does not start"
    assert isinstance(bank.network.cpd("starts"), NoisyMinimum)
    # A noisy-max: it starts if no cause prevents it.
    starts = bank.channel("starts")[:, 1].reshape(2, 2)
    np.testing.assert_allclose(starts, 0.95 * np.outer([0.1, 1], [0.2, 1]))
    session = Session.start(bank)
    session = session.answer("starts", "no")
    assert session.posterior["battery"]["flat"] > 0.2


def test_the_bank_of_a_diagnostic_network_is_a_bank_like_others(tmp_path: Path) -> None:
    bank = read(written(tmp_path))
    for name in ("bank.json", "bank.xdsl"):
        write_bank(bank, tmp_path / name)
        again = read_bank(tmp_path / name)
        assert (again.skills, again.labels, again.items) == (bank.skills, bank.labels, bank.items)


def test_costs_beside_the_nodes_are_read(tmp_path: Path) -> None:
    costs = (
        '<observationcosts><node id="starts"><cost>4</cost></node>'
        '<node id="lights">1 2</node></observationcosts>'
    )
    text = CAR.replace("<cost>2.5</cost>", "").replace("<extensions>", f"{costs}<extensions>")
    with pytest.warns(ModelFileWarning) as caught:
        bank = read_bank(written(tmp_path, text))
    assert "count as 1: lights" in str(caught[-1].message)
    assert [item.cost for item in bank.items] == [4.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('diagtype="target"', "", "a file of roles beside the network; got 0 targets and 3"),
        ('diagtype="observation"', "", "got 3 targets and 0 observations"),
        ("2.5</cost>", "much</cost>", "expected the cost of lights, got much"),
    ],
)
@pytest.mark.filterwarnings("ignore::bnmind.pgm.files.ModelFileWarning")
def test_other_networks_need_roles(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, CAR.replace(old, new))
    with pytest.raises(ModelFileError, match=message) as caught:
        read_bank(path)
    assert str(path) in str(caught.value)
