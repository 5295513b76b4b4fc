"""The metadata of a release: bounds of versions, the citation, the notice, the README on PyPI."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]
RUN: set[str] = set(PROJECT["dependencies"]).union(
    *(PROJECT["optional-dependencies"][extra] for extra in ("test", "files", "lab", "web")),
    *(PROJECT["optional-dependencies"][extra] for extra in ("notebook", "distributed")),
)
TOOLS = re.compile(r"mypy|ruff|.*-stubs")
"""Libraries that check the source, and do not run."""


def _name(requirement: str) -> str:
    return re.split(r"[\[>=<;! ]", requirement, maxsplit=1)[0].lower()


def _pinned(file: str) -> dict[str, str]:
    rows = re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / file).read_text(), re.MULTILINE)
    return {name.lower().replace("_", "-"): version for name, version in rows}


def test_the_lowest_versions_are_those_that_are_allowed() -> None:
    floors = {_name(one): one.partition(">=")[2].partition(";")[0] for one in RUN}
    tested = {name: floor for name, floor in floors.items() if not TOOLS.fullmatch(name)}
    assert _pinned("constraints-lowest.txt") == tested


def test_one_library_has_one_lowest_version() -> None:
    lists = (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    floors = {
        (_name(one), one.partition(">=")[2].partition(";")[0]) for kind in lists for one in kind
    }
    names = [name for name, _ in floors]
    assert len(names) == len(set(names))


def test_the_tested_versions_are_pinned() -> None:
    pinned = _pinned("constraints.txt")
    wanted = {_name(one) for kind in PROJECT["optional-dependencies"].values() for one in kind}
    assert (wanted | {_name(one) for one in PROJECT["dependencies"]}) - set(pinned) == set()


def test_the_citation_is_of_this_version_and_names_the_papers() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in text
    references = text.partition("references:")[2]
    assert references.count("  - type: ") >= 5


@pytest.mark.parametrize("file", PROJECT["license-files"])
def test_licenses_are_there(file: str) -> None:
    assert (ROOT / file).is_file()


def test_the_notice_names_every_folder_of_data_that_is_not_made_up() -> None:
    from bnmind.datasets import EXAMPLES

    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    told = {"banks": "fraction-subtraction.json", "diagnosis": "asia.xdsl"}
    ours = ("made up for bnmind", "simulated; nobody sat this test")
    for one in EXAMPLES.values():
        if one.source not in ours:
            assert (
                told.get(one.name, one.name if one.name != "networks" else "mastermind-*") in notice
            )


def test_the_page_on_pypi_has_no_link_to_a_file() -> None:
    hook = SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in hook["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", text)
    assert "I test people" in text
    assert "[" not in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)
