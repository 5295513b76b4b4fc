"""The pages on adding a member work line by line: their files, their commands and their tests.

A block of Python that begins with ``# name.py`` is a file. ``$ python name.py`` and ``$ bnmind …``
run, and print what the page says; `…` stands for anything. The functions ``test_…`` run last.
"""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path

import pytest

from tests.test_tutorials import DOCS, assert_printed, commands, printed_by, write_files

PAGES = sorted(DOCS.glob("how-to-add-*.md"))


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
def test_a_page_works_line_by_line(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write_files(page, monkeypatch)
    assert Path("mine.py").exists()
    for command, expected in commands(page):
        if command.startswith("python "):
            runpy.run_path(command.removeprefix("python "), run_name="__main__")
            said = capsys.readouterr().out
        else:
            said = printed_by(command, expected, capsys)
        assert_printed(said, command, expected)
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
