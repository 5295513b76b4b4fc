"""Banks in files: what is written is read, and what is damaged is named."""

from __future__ import annotations

import json
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
    irt_bank,
    logistic_items,
    read_bank,
    write_bank,
)
from bnmind.adaptive.bank_json import bank_from_json, bank_to_json
from bnmind.errors import ModelFileError
from tests.banks import banks

BANK = ItemBank.from_qmatrix(
    [[1, 0], [1, 1]],
    items=[
        Item("item_1", "fractions", "½ + ½", 2.0, 30.0, ("item_2",), "t"),
        Item("item_2"),
    ],
    title="A bank",
    source="made up",
)


def assert_same(found: ItemBank, bank: ItemBank, *, gates: bool = True) -> None:
    assert (found.skills, found.labels) == (bank.skills, bank.labels)
    assert (found.title, found.source) == (bank.title, bank.source)
    assert found.item_names == bank.item_names
    for name in bank.item_names:
        one, other = found.item(name), bank.item(name)
        assert (one.content, one.text, one.cost) == (other.content, other.text, other.cost)
        assert (one.time, one.enemies, one.testlet) == (other.time, other.enemies, other.testlet)
        if gates:
            assert repr(one.gate) == repr(other.gate)
        assert found.responses(name) == bank.responses(name)
        assert found.cause(name) == bank.cause(name)
        np.testing.assert_allclose(found.channel(name), bank.channel(name), rtol=0, atol=1e-15)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_json_says_everything(data: st.DataObject) -> None:
    bank = data.draw(banks())
    assert_same(bank_from_json(bank_to_json(bank)), bank)


def test_json_keeps_what_items_and_curves_are(tmp_path: Path) -> None:
    one = irt_bank([*logistic_items([[1.1, 0.3, 0.2]]), GradedResponse(1.0, (-1.0, 0.5))])
    for bank in (BANK, one):
        write_bank(bank, tmp_path / "bank.json")
        assert_same(read_bank(tmp_path / "bank.json"), bank)


class Odd(Dina):
    """A gate of the user's own."""


def test_gates_of_ones_own_become_tables(tmp_path: Path) -> None:
    bank = ItemBank.from_gates([[1], [1]], [Odd(0.1, 0.2), Dina(0.1, 0.2)])
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
    with pytest.raises(ModelFileError, match="can be written"):
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
        (broken(lambda r: r.update(version=2)), "made by a newer bnmind"),
        (broken(lambda r: r.update(schema="bnmind-model")), "schema bnmind-bank"),
        (broken(lambda r: r["items"][0].update(cost=0)), "items.0.cost"),
        (broken(lambda r: r["items"][0].update(colour="red")), "items.0.colour"),
        (broken(lambda r: r["items"][0]["gate"].update(guess=2)), "in item item_1"),
        (broken(lambda r: r["items"][0]["gate"].update(kind="odd")), "a gate among .*'odd'"),
        (broken(lambda r: r["items"][0]["gate"].update(odd=1)), "a gate for item item_1"),
        (broken(lambda r: r["items"][0]["gate"].update(guess="x")), "item_1"),
        (broken(lambda r: r["items"][0].update(parents=["who"])), "parents of item_1, got who"),
        (broken(lambda r: r["items"][0].update(enemies=["who"])), "got who"),
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
    with pytest.raises(ModelFileError, match="can be read"):
        read_bank(tmp_path / "bank.json")
    with pytest.raises(ModelFileError, match="ending in"):
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
def test_gates_with_lists_for_numbers_are_refused(tmp_path: Path, gate: object) -> None:
    text = bank_to_json(ItemBank.from_qmatrix([[1]]))
    record = json.loads(text)
    record["items"][0]["gate"] = gate
    (tmp_path / "bank.json").write_text(json.dumps(record))
    with pytest.raises(ModelFileError, match="item_1"):
        read_bank(tmp_path / "bank.json")
