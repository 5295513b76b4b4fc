"""The ready item banks are what the library makes."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import ItemBank, read_bank

MODELS = Path(__file__).parents[2] / "models"


def made() -> dict[str, ItemBank]:
    banks: dict[str, ItemBank] = runpy.run_path(str(MODELS / "make_banks.py"))["banks"]()
    return banks


def test_banks_made_by_the_script_are_there_and_described() -> None:
    described = (MODELS / "README.md").read_text(encoding="utf-8")
    for name in made():
        assert (MODELS / "banks" / name).exists()
        assert f"`banks/{name}`" in described


@pytest.mark.parametrize("name", sorted(made()))
def test_files_hold_the_banks_of_the_library(name: str) -> None:
    written, bank = read_bank(MODELS / "banks" / name), made()[name]
    assert (written.skills, written.items) == (bank.skills, bank.items)
    for item in bank.item_names:
        np.testing.assert_allclose(written.channel(item), bank.channel(item), rtol=0, atol=1e-15)
