"""The selector, stopper and response model of the page on extensions keep their contracts."""

from __future__ import annotations

import doctest
from functools import cache
from pathlib import Path
from typing import Any

from bnmind.testing import check_response_model, check_selector, check_stopper

PAGE = Path(__file__).parents[1] / "docs" / "extending.md"


@cache
def definitions() -> dict[str, Any]:
    """Return what the imports, classes and functions of the page define."""
    names: dict[str, Any] = {"__name__": __name__}
    for example in doctest.DocTestParser().get_examples(PAGE.read_text(encoding="utf-8")):
        if example.source.startswith(("from ", "import ", "@dataclass", "def ")):
            exec(compile(example.source, PAGE.name, "single"), names)
    # Values must be found by pickle.
    globals().update(
        {name: names[name] for name in ("HardestToPredict", "EachEntropyBelow", "Half")}
    )
    return names


def test_the_selector_keeps_the_contract() -> None:
    check_selector(definitions()["HardestToPredict"]())


def test_the_stopper_keeps_the_contract() -> None:
    check_stopper(definitions()["EachEntropyBelow"](0.3))


def test_the_response_model_keeps_the_contract() -> None:
    check_response_model(definitions()["Half"](guess=0.2, slip=0.1))
