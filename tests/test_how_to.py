"""The pages on adding a member work line by line: their files, their commands and their tests.

A block of Python that begins with ``# name.py`` is a file. ``$ python name.py`` and ``$ bnmind …``
run, and print what the page says; `…` stands for anything. The functions ``test_…`` run last.
"""

from __future__ import annotations

import importlib
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_tutorials import DOCS, commands, printed_by

PAGES = sorted(DOCS.glob("how-to-add-*.md"))
FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _in_a_directory_of_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    yield
    for name in ("mine", "test_mine"):
        sys.modules.pop(name, None)


SLOW = {"strategy", "selector", "response-model", "functional-node"}
"""They play many games, simulate tests or learn."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=family, marks=[pytest.mark.slow] if family in SLOW else [])
        for page in PAGES
        for family in [page.stem.removeprefix("how-to-add-")]
    ],
)
def test_a_page_works_line_by_line(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = dict(FILE.findall(page.read_text(encoding="utf-8")))
    assert {"mine.py", "test_mine.py"} <= set(files)
    for name, content in files.items():
        Path(name).write_text(content, encoding="utf-8")
    importlib.invalidate_caches()
    for command, expected in commands(page):
        if command.startswith("python "):
            runpy.run_path(command.removeprefix("python "), run_name="__main__")
            said = capsys.readouterr().out
        else:
            said = printed_by(command, expected, capsys)
        pattern = ".*".join(re.escape(part) for part in expected.split("…"))
        assert re.fullmatch(pattern, said, re.DOTALL), f"$ {command}\n{said}"
    module = importlib.import_module("test_mine")
    tests = [test for name, test in vars(module).items() if name.startswith("test_")]
    assert tests
    for test in tests:
        test()


def test_each_family_has_its_page() -> None:
    assert {page.stem.removeprefix("how-to-add-") for page in PAGES} == {
        *("strategy", "score", "selector", "stopper", "response-model", "functional-node"),
        *("file-format", "order-finder", "skill-distribution"),
    }
