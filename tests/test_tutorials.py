"""The tutorials run from the first command to the last, in one directory, and print what they say.

In what a command prints `…` stands for anything. Questions are answered with what the page has
after them. A block of Python that begins with ``# name.py`` is a file, which `python name.py` runs.
`cat FILE` shows a file of the reader, which is written if it is not there. The Python
blocks of the pages are doctests, as on all pages.
"""

from __future__ import annotations

import os
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bnmind.cli.app import app

DOCS = Path(__file__).parents[1] / "docs"
TUTORIALS = sorted((*DOCS.glob("tutorial-*.md"), *DOCS.glob("start-*.md")))
FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """Yield each command of a page, and what the page says that it prints."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.replace("\\\n", "").partition("\n")
            yield command, printed


def printed_by(command: str, page_says: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a command prints; its questions are answered as on the page."""
    told = re.finditer(r"^(?:Answer|Enter|Guess|Reply)[^:\n]*:(.*)$", page_says, re.MULTILINE)

    def answer(question: str = "") -> str:
        text = str(next(told)[1]).strip()
        sys.stdout.write(f"{question}{text}\n")
        return text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("builtins.input", answer)
        patch.setenv("TERM", "xterm")
        patch.setattr(sys.stdout, "isatty", lambda: True)
        with pytest.raises(SystemExit):
            app(shlex.split(command)[1:], prog_name="bnmind")
    heard = capsys.readouterr()
    # A terminal shows notes before the results that are written when they are complete.
    plain = re.sub(r"\x1b\[[\d;]*m", "", heard.err + heard.out)
    return "".join(f"{line.rstrip()}\n" for line in plain.splitlines())


def write_files(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the blocks of Python that begin with ``# name.py`` as files, which can be imported."""
    for name, content in FILE.findall(page.read_text(encoding="utf-8")):
        Path(name).write_text(content, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)
    monkeypatch.syspath_prepend(str(Path.cwd()))


def assert_printed(said: str, command: str, expected: str) -> None:
    """Check what a command prints; `…` stands for anything."""
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    assert re.fullmatch(pattern, said, re.DOTALL), f"$ {command}\n{said}"


def shown_or_written(file: Path, expected: str) -> None:
    """Check that a file has the content that the page shows; write it if it is not there."""
    if file.exists():
        pattern = ".*".join(re.escape(part) for part in expected.split("…"))
        assert re.fullmatch(pattern, file.read_text(encoding="utf-8"), re.DOTALL), file
    else:
        assert "…" not in expected, f"{file}: the reader has to know the whole file"
        file.write_text(expected, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_says(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write_files(page, monkeypatch)
    for command, expected in commands(page):
        if command.startswith("cd "):
            monkeypatch.chdir(command.removeprefix("cd "))
            continue
        if command.startswith("python "):
            runpy.run_path(command.removeprefix("python "), run_name="__main__")
            assert_printed(capsys.readouterr().out, command, expected)
            continue
        if command.startswith("cat "):
            shown_or_written(Path(command.removeprefix("cat ")), expected)
            continue
        assert command.startswith("bnmind "), command
        assert_printed(printed_by(command, expected, capsys), command, expected)


def test_there_are_tutorials_and_a_start_for_each_reader() -> None:
    assert [page.stem for page in TUTORIALS] == [
        "start-mastermind",
        "start-networks",
        "start-testing",
        "tutorial-class-report",
        "tutorial-dashboard",
        "tutorial-lying-friend",
    ]


@pytest.mark.parametrize("page", sorted(DOCS.glob("start-*.md")), ids=lambda page: page.stem)
def test_a_start_begins_with_pip_and_needs_no_checkout(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert "pip install" in text[: text.index("```console")]
    assert "models/" not in text
    assert "](images/" in text
    assert text.rstrip().rpartition("\n## ")[2].startswith("Where to go next")


# --- The notebook ---------------------------------------------------------------------------------


def test_the_notebook_is_written_from_the_page() -> None:
    script = runpy.run_path(str(DOCS / "make_tutorial.py"))
    written = script["NOTEBOOK"].read_text(encoding="utf-8")
    made = script["notebook"](script["PAGE"].read_text(encoding="utf-8"))
    assert written == made, "run python docs/make_tutorial.py"


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first two of its commands: all of them are those of the page, which run above."""
    import nbclient
    import nbformat

    (tmp_path / "bnmind").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bnmind "$@"\n')
    (tmp_path / "bnmind").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(DOCS.parent))
    monkeypatch.delenv("MPLBACKEND", raising=False)  # a notebook shows pictures
    notebook = nbformat.read(DOCS.parent / "examples" / "class-report.ipynb", as_version=4)
    shown = {cell["id"]: texts(cell) for cell in notebook.cells if cell.cell_type == "code"}
    run = [cell for cell in notebook.cells if cell.source.startswith("!")]
    assert len(run) > 9
    notebook.cells = [cell for cell in notebook.cells if cell not in run[2:]]
    client = nbclient.NotebookClient(
        notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()  # raises if a cell does
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if cell.source.startswith("!"):
            assert not re.search(r"^error: ", texts(cell), re.MULTILINE)
        elif not cell.source.startswith("%"):
            assert texts(cell) == shown[cell["id"]], cell.source


def texts(cell: Any) -> str:
    """Return what a cell shows as text, except that of pictures."""
    found = []
    for output in cell.outputs:
        if output.output_type == "stream":
            found.append(output.text)
        elif "image/png" not in output.data:
            found.append(output.data["text/plain"] + "\n")
    return "".join(found)
