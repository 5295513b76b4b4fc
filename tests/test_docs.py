"""The console sessions on the pages run, and a terminal of 80 columns shows what the pages say.

In a session `…` stands for anything. Questions are answered with what the page has after them.
Links lead somewhere.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from bnmind.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SESSION = re.compile(r"^```console\n\$ bnmind (.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SESSIONS = [
    pytest.param(*found.groups(), id=f"{page.name}:{number}")
    for page in PAGES
    if not page.stem.startswith(("tutorial-", "start-", "how-to-add-"))
    for number, found in enumerate(SESSION.finditer(page.read_text(encoding="utf-8")), 1)
]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[)#]")


@pytest.mark.parametrize(("arguments", "expected"), SESSIONS)
def test_session(
    arguments: str,
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").symlink_to(ROOT / "models")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    told = re.finditer(r"^(?:Guess|Reply|Answer)[^:\n]*:(.*)$", expected, re.MULTILINE)

    def answer(question: str = "") -> str:
        text = str(next(told)[1]).strip()
        sys.stdout.write(f"{question}{text}\n")
        return text

    monkeypatch.setattr("builtins.input", answer)
    with pytest.raises(SystemExit):
        app(shlex.split(arguments), prog_name="bnmind")
    heard = capsys.readouterr()
    plain = re.sub(r"\x1b\[[\d;]*m", "", heard.out + heard.err)
    said = "".join(f"{line.rstrip()}\n" for line in plain.splitlines())
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    assert re.fullmatch(pattern, said, re.DOTALL), said


def test_there_are_sessions() -> None:
    assert len(SESSIONS) >= 5


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "models/README.md"])
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_citation_names_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
