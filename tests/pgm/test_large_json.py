"""JSON files in which very many entries are wrong: few faults are told, and memory stays small."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from bnmind._records import LONG_TEXT
from bnmind.adaptive.records import bank_from_json
from bnmind.errors import ModelFileError
from bnmind.pgm.formats.records import network_or_model_from_json
from tests.fuzz.growth import peak_of
from tests.fuzz.readers import READERS

MANY = LONG_TEXT // 4


def model(**fields: object) -> str:
    head = {"schema": "bnmind-model", "version": 2, "variables": [], "potentials": []}
    return json.dumps({**head, **fields})


BOMBS: dict[str, Callable[[], str]] = {
    "values": lambda: model(potentials=[{"kind": "table", "scope": ["a"], "values": [""] * MANY}]),
    "links": lambda: model(
        potentials=[{"kind": "noisy_maximum", "scope": ["a"], "links": [1] * MANY, "leak": []}]
    ),
    "states": lambda: model(variables=[{"name": "a", "states": [1] * MANY}]),
    "variables": lambda: model(variables=[{}] * MANY),
    "potentials": lambda: model(potentials=[{}] * MANY),
    "fields": lambda: model(**{f"field_{i}": 1 for i in range(MANY)}),
    "terms": lambda: model(
        potentials=[
            {
                "kind": "function",
                "scope": ["a", "b"],
                "function": {"function": "addition", "modulus": 2, "terms": [[""] * MANY]},
            }
        ]
    ),
}


SHAPES = [
    pytest.param(name, marks=() if name in ("values", "fields") else pytest.mark.slow)
    for name in BOMBS
]
"""A list of values and a mapping every day, a list of mappings below; the others are slow."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_faults_of_a_large_model_take_little_memory(name: str) -> None:
    text = BOMBS[name]()
    with pytest.raises(ModelFileError) as caught:
        network_or_model_from_json(text, max_cells=2**20)
    assert len(str(caught.value)) < 1000
    assert peak_of(READERS["model_json"], text.encode()) < 50 * len(text)


def test_faults_of_a_large_bank_take_little_memory() -> None:
    head = {"schema": "bnmind-bank", "version": 1, "skills": [], "network": {}}
    text = json.dumps({**head, "items": [{}] * MANY})
    with pytest.raises(ModelFileError, match=r"items\.0\.name: this key is missing"):
        bank_from_json(text)
    assert peak_of(READERS["bank"], text.encode()) < 50 * len(text)


def test_all_faults_of_a_small_model_are_reported() -> None:
    with pytest.raises(ModelFileError, match=r"variables\.0\.name.*variables\.1\.name.*more"):
        network_or_model_from_json(model(variables=[{}] * 7), max_cells=100)
