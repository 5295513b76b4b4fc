"""Each page stands in one section of the first page."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

from docs.sphinx_pages.reference_pages import reference_pages

DOCS = Path(__file__).parents[2] / "docs"
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
SECTION = re.compile(
    r'^```\{toctree\}\n:caption: "([^"]+)"\n((?::[^\n]*\n)*)\n(.*?)^```$', re.M | re.S
)
SECTIONS = {title: entries.split() for title, _, entries in SECTION.findall(INDEX)}


def test_the_sections_are_those_that_readers_look_for() -> None:
    kinds = list(dict.fromkeys(title.split(":")[0] for title in SECTIONS))
    expected = ["Start", "Tutorials", "How-to", "Theory", "Results", "Reference", "Project"]
    assert kinds == expected
    assert INDEX.count("{toctree}") == len(SECTIONS)


def test_each_page_is_in_one_section() -> None:
    entries = [entry for entries in SECTIONS.values() for entry in entries]
    for page in DOCS.glob("*.md"):
        found = [entry for entry in entries if fnmatch(page.stem, entry)]
        assert len(found) == (page.stem != "index"), (page.stem, found)


def test_each_entry_has_a_page() -> None:
    made = {f"api/{name.removesuffix('.rst')}" for name in reference_pages()}
    made |= {"api/registries", "api/commands"}
    for entries in SECTIONS.values():
        for entry in entries:
            assert entry in made or "*" in entry or (DOCS / f"{entry}.md").exists(), entry
