"""The metadata of a release: bounds of versions, the citation, the notice, the README on PyPI."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SETTINGS: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = SETTINGS["project"]
RUN: set[str] = set(PROJECT["dependencies"]).union(
    *(PROJECT["optional-dependencies"][extra] for extra in ("test", "files", "lab", "web")),
    *(PROJECT["optional-dependencies"][extra] for extra in ("notebook", "distributed")),
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOOLS = re.compile(r"mypy|ruff|.*-stubs")
"""Libraries that check the source, and do not run."""


@pytest.fixture(scope="module")
def links() -> ModuleType:
    """Return the module that hatchling calls; it needs `.[release]`."""
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("project_links", ROOT / ".ci/project_links.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_the_page_on_pypi_has_no_link_to_a_file(links: ModuleType) -> None:
    text = links.readme_elsewhere(README, "", "0.1.0")
    assert not re.findall(r"\]\((?!https?:)[^)]*\)", text)
    assert "I test people" in text
    assert "[" not in re.sub(r"```.*?```|`[^`]*`", "", text, flags=re.DOTALL)


def test_a_repository_makes_the_links_absolute(links: ModuleType) -> None:
    home = "https://code.example/bnmind"
    text = links.readme_elsewhere(README, home, "0.1.0")
    before, after = (re.findall(r"\]\(([^)\s]*)\)", one) for one in (README, text))
    assert len(before) == len(after)
    for here, there in zip(before, after, strict=True):
        kind = "raw" if here.endswith(".png") else "blob"
        path = f"README.md{here}" if here.startswith("#") else here
        assert there == (here if here.startswith("http") else f"{home}/{kind}/v0.1.0/{path}")
        assert here.startswith("http") or (ROOT / path.partition("#")[0]).exists()


def test_urls_follow_from_the_address_of_the_repository(links: ModuleType) -> None:
    settings = SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["custom"]
    home = "https://code.example/bnmind"
    found = links.project_urls({**settings, "repository": home}, "0.1.0")
    assert {"Homepage", "Documentation", "Source", "Issues", "Changelog", "Papers"} == set(found)
    assert found["Changelog"] == f"{home}/blob/v0.1.0/CHANGELOG.md"
    assert all(len(name) <= 32 for name in found)  # the longest that PyPI takes
    elsewhere = {**settings, "repository": home, "documentation": "https://pages.example"}
    assert links.project_urls(elsewhere, "0.1.0")["Documentation"] == "https://pages.example"
    assert links.project_urls({**settings, "repository": ""}, "0.1.0") == settings["urls"]


def test_the_citation_names_the_repository_too() -> None:
    home = SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"]
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^repository-code: (\S+)$", text, re.MULTILINE) == ([home] if home else [])
