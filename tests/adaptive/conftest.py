"""The words of refusals: all that a test of this room expects are sentences of `refusals.txt`.

Tests look for a part of a message, so a wrong word or number elsewhere in it would go unnoticed.
`refusals.txt` has whole sentences below the name of their test, for people to read. Long ones, and
those that differ from run to run or list what is registered, are left out. A test without sentences
there is left alone. After a change that is meant, delete the sentences of a test, and run it with
``BNMIND_KEEP_REFUSALS=1`` to write them again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bnmind.errors import ContractError

FILE = Path(__file__).with_name("refusals.txt")
LONGEST = 220
VARIES = re.compile(r"among ([^,;]+, ){4}|did you mean|\.\d{5}|0x|/")
IS_WRITING = os.environ.get("BNMIND_KEEP_REFUSALS", "0") not in ("", "0")


@cache
def kept() -> dict[str, list[str]]:
    """Return the sentences of each test."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in FILE.read_text("utf-8").splitlines() if FILE.exists() else ():
        if line.startswith(" "):
            found[name].append(line.strip())
        else:
            name = line
            found[name] = []
    return found


@pytest.fixture(autouse=True)
def refusals(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compare the errors that a test expects with those of the file.

    Examples of Hypothesis differ from run to run.
    """
    if hasattr(getattr(request.node, "obj", None), "hypothesis"):
        yield
        return
    found: list[str] = []
    original = pytest.raises

    def raises(*arguments: Any, **options: Any) -> Any:
        made = original(*arguments, **options)
        return made if len(arguments) > 1 else _Noting(made, found)

    with monkeypatch.context() as patch:
        patch.setattr(pytest, "raises", raises)
        yield
    name = f"{request.path.stem}: {request.node.originalname}"
    if IS_WRITING:
        _keep(name, found)
    elif name in kept():
        assert [one for one in found if one not in kept()[name]] == [], FILE.name


class _Noting:
    """The context of `pytest.raises`, which notes the words of the error."""

    def __init__(self, inner: Any, found: list[str]) -> None:
        self._inner, self._found = inner, found

    def __enter__(self) -> Any:
        return self._inner.__enter__()

    def __exit__(self, kind: Any, fault: Any, trace: Any) -> Any:
        is_expected = self._inner.__exit__(kind, fault, trace)
        text = " ".join(str(fault).split())
        is_ours = is_expected and type(fault).__module__.startswith("bnmind.")
        is_firm = not isinstance(fault, ContractError) and not VARIES.search(text)
        if is_ours and is_firm and len(text) <= LONGEST:
            self._found.append(text)
        return is_expected


def _keep(name: str, found: list[str]) -> None:
    sentences = kept().get(name, [])
    sentences += [one for one in dict.fromkeys(found) if one not in sentences]
    if sentences:
        kept()[name] = sentences
    lines = (line for test in sorted(kept()) for line in (test, *(f"  {s}" for s in kept()[test])))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
