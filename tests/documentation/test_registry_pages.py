"""The pages of registries and commands have every member and every option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer.main

from bnmind.adaptive import SELECTORS, STOPPERS
from bnmind.cli.app import app
from bnmind.strategies import STRATEGIES
from docs.sphinx_pages.registry_pages import command_page, registries, registry_page

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
GUIDE = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="utf-8")
PAGE = command_page()
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def test_the_page_has_every_member_of_every_registry() -> None:
    page = registry_page()
    found = registries()
    assert len(found) >= 20
    assert {id(SELECTORS), id(STOPPERS), id(STRATEGIES)} <= {id(r) for _, r in found.values()}
    for title, (public, registry) in found.items():
        section = page.split(f"\n{title}\n")[1]
        assert public.doc
        for name in registry:
            assert f"- ``{name}" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_every_option(name: str) -> None:
    section = PAGE.split(f".. _command-{name}:")[1].split(".. _command-")[0]
    shown = [one for one in COMMANDS[name].params if not getattr(one, "hidden", False)]
    options = {option for parameter in shown for option in parameter.opts}
    for option in options:
        assert option in section or not option.startswith("-")
    assert f"bnmind {name} [OPTIONS]" in section
    assert f"Examples:\n\n.. code-block:: console\n\n   $ bnmind {name}" in section
    assert "\b" not in section


@pytest.mark.parametrize("name", COMMANDS)
def test_the_guide_explains_every_command(name: str) -> None:
    assert re.search(rf"^#+ .*\b{name}\b|bnmind {name}\b|`{name}`", GUIDE, re.MULTILINE)


def test_the_guide_names_only_options_that_exist() -> None:
    known = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
    }
    known |= {"--help", "--version", "--install-completion", "--show-completion"}
    assert set(OPTION.findall(GUIDE)) <= known
