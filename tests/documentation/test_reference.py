"""The reference has every public name, once, and its links know each by all its names."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from functools import cache

import pytest

from docs.sphinx_pages.links import place_of, readable
from docs.sphinx_pages.public_names import home_of, homes, public_modules, public_names
from docs.sphinx_pages.reference_pages import GROUPS, page_of, reference_pages, room_of
from docs.sphinx_pages.supporting_types import our_types, supporting_types
from tests.examples import PACKAGES

pages = cache(reference_pages)
DIRECTIVE = re.compile(r"^\.\. (?:auto\w+|py:data|py:class):: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("module", ["bnmind", *(f"bnmind.{name}" for name in PACKAGES)])
def test_every_name_of_a_package_is_found(module: str) -> None:
    listed = importlib.import_module(module).__all__
    assert module in public_modules()
    assert sorted(listed) == sorted(p.name for p in public_names() if p.module == module)


def test_every_name_is_described_once() -> None:
    described = Counter(name for text in pages().values() for name in DIRECTIVE.findall(text))
    entries = (*homes().values(), *supporting_types().values())
    assert described == Counter(one.path for one in entries)
    assert len(described) > 800


def test_members_from_bases_without_an_entry_are_described_with_the_class() -> None:
    after = pages()["bnmind.questions.rst"].split(
        "autoclass:: bnmind.questions.ranking.QuestionRanking\n"
    )
    assert "   .. automethod:: to_frame\n" in after[1].split("\n.. auto")[0]


def test_every_name_has_a_line_in_a_table() -> None:
    for public in homes().values():
        for page in {page_of(public), room_of(page_of(public))}:
            assert f"<{public.path}>`" in pages()[f"{page}.rst"]


def test_a_name_is_described_where_it_is_imported_from() -> None:
    paths = {public.path: home_of(public).path for public in public_names()}
    assert paths["bnmind.Board"] == "bnmind.mastermind.Board"
    assert paths["bnmind.adaptive.AIMS"] == "bnmind.adaptive.AIMS"
    for home in homes().values():
        thing = getattr(importlib.import_module(home.module), home.name)
        assert getattr(thing, "__module__", home.defined_in) in (home.defined_in, "builtins") or (
            home.kind == "data"
        ), home


def test_every_group_has_its_rooms() -> None:
    assert {f"{room}.rst" for group in GROUPS.values() for room in group} <= set(pages())


def test_every_name_has_a_summary() -> None:
    entries = (*homes().values(), *supporting_types().values())
    assert [one.path for one in entries if not one.summary] == []


def test_supporting_types_are_types_of_ours() -> None:
    assert {one.name for one in supporting_types().values()} <= our_types()
    assert place_of("Steps", "bnmind.pgm") == "bnmind.pgm.functions.Steps"
    assert place_of("Registered") == "bnmind._registry.Registered"


def test_types_are_readable() -> None:
    nested = (
        "~numpy._typing._array_like._Buffer | ~numpy._typing._array_like._SupportsArray["
        "~numpy.dtype[~typing.Any]] | ~numpy._typing._nested_sequence._NestedSequence["
        "~numpy._typing._array_like._SupportsArray[~numpy.dtype[~typing.Any]]] | complex | bytes"
        " | str | ~numpy._typing._nested_sequence._NestedSequence[complex | bytes | str]"
    )
    assert readable(f"(a: {nested}, *, b: {nested} | None = None)") == (
        "(a: ~numpy.typing.ArrayLike, *, b: ~numpy.typing.ArrayLike | None = None)"
    )


def test_a_bare_name_that_two_rooms_have_is_that_of_the_room() -> None:
    assert place_of("Posterior", "bnmind.junction") == "bnmind.junction.Posterior"
    assert place_of("Posterior", "bnmind.mastermind") == "bnmind.mastermind.Posterior"
    assert place_of("Posterior", "bnmind.lab") is None
    assert place_of("nothing") is None
