"""The page of all registries, and the page of all commands, from the registries and the help.

A new member, registry, command or option appears there by itself.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import dedent
from typing import Any

from bnmind._registry import Registered, usage
from docs.sphinx_pages.links import place_of
from docs.sphinx_pages.public_names import PublicName, homes

__all__ = ["command_page", "registries", "registry_page"]

LITERAL = re.compile(r"(\w+://[\w:/.@-]*\w|(?<![\w-])--[a-z][\w-]*)")
"""Options and addresses."""

SPECIAL = re.compile(r"([\\*`|_])")


def registries() -> dict[str, tuple[PublicName, Mapping[str, Any]]]:
    """Return each public mapping whose members say in a few words what they are, by its title."""
    found: list[tuple[PublicName, Mapping[str, Any]]] = []
    for public in homes().values():
        if public.kind == "data":
            thing = getattr(importlib.import_module(public.module), public.name)
            if isinstance(thing, Mapping) and all(hasattr(row, "about") for row in thing.values()):
                found.append((public, thing))
    names = [public.name for public, _ in found]
    titles = {}
    for public, thing in sorted(found, key=lambda pair: pair[0].path):
        title = public.name.replace("_", " ").capitalize().replace("Irt", "IRT")
        if names.count(public.name) > 1:
            title += f" ({public.module})"
        titles[title] = public, thing
    return titles


def _plain(text: str) -> str:
    """Return a text in which no sign means anything to Sphinx, with options as code."""
    parts = LITERAL.split(" ".join(text.split()))
    return "".join(
        f"``{part}``" if number % 2 else SPECIAL.sub(r"\\\1", part)
        for number, part in enumerate(parts)
    )


def _paragraph(text: str) -> list[str]:
    """Return a paragraph of a help text; lines that it keeps as they are become code."""
    if not text.startswith("\b\n"):
        return [_plain(text), ""]
    first, *kept = text.removeprefix("\b\n").split("\n")
    lines = []
    if first.startswith(" "):
        kept = [first, *kept]
    else:
        lines = [_plain(first), ""]
    code = dedent("\n".join(kept)).split("\n")
    is_session = code[0].startswith("bnmind ")
    lines += [f".. code-block:: {'console' if is_session else 'text'}", ""]
    return [*lines, *(f"   {'$ ' if is_session else ''}{line}" for line in code), ""]


def _maker(member: Any) -> str:
    """Return a link to the class of a member, if its entry names one."""
    for name in ("plain", "given", "make"):
        maker = getattr(member, name, None)
        if isinstance(maker, type):
            place = place_of(f"{maker.__module__}.{maker.__qualname__}")
            if place is not None:
                return f":py:obj:`{maker.__name__} <{place}>`"
    return "–"


def _list(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], widths: str) -> Iterator[str]:
    yield from (
        ".. list-table::",
        "   :class: names",
        "   :header-rows: 1",
        f"   :widths: {widths}",
    )
    yield ""
    for row in [head, *rows]:
        for number, cell in enumerate(row):
            yield f"   {'*' if number == 0 else ' '} - {cell}"
    yield ""


def _title(text: str, sign: str) -> Iterator[str]:
    yield from (text, sign * len(text), "")


def registry_page() -> str:
    """Return the page of all registries."""
    lines = [
        *_title("Registries", "="),
        "Each family has one registry: a mapping from a name to a member. The command line, files "
        "and this page read it. ``NAME:ARGUMENT`` stands for a member with an argument, and "
        "``NAME[:ARGUMENT]`` for one that takes it or not. :doc:`../extending` says how to add "
        "one.",
        "",
    ]
    for title, (public, registry) in registries().items():
        lines += [*_title(title, "-"), f":py:obj:`{public.path}`: {public.summary}", ""]
        rows = []
        for name, member in registry.items():
            written = usage(name, member) if isinstance(member, Registered) else name
            rows.append((f"``{written}``", _plain(str(member.about)), _maker(member)))
        if all(maker == "–" for *_, maker in rows):
            lines += _list(("name", "meaning"), [row[:2] for row in rows], "30 70")
        else:
            lines += _list(("name", "meaning", "class"), rows, "25 50 25")
    return "\n".join(lines)


def _commands() -> Iterator[tuple[str, str, Any]]:
    """Yield the group, the name and the command of each command."""
    import typer.main

    from bnmind.cli.app import GROUPS, app

    commands: Any = typer.main.get_command(app)
    for group, members in GROUPS.items():
        for name in members:
            yield group, name, commands.commands[name]


def command_page() -> str:
    """Return the page of all commands with all their arguments and options, as in their help."""
    lines = [
        *_title("Commands and options", "="),
        "This page has all commands with their options, as ``bnmind COMMAND --help`` prints them. "
        ":doc:`../cli` explains them with examples. The names of strategies, selectors, stoppers, "
        "priors and formats, which the help lists below the options, are in :doc:`registries`.",
        "",
    ]
    last = ""
    for group, name, command in _commands():
        if group != last:
            lines += _title(group, "-")
        last = group
        context = command.make_context(name, [], resilient_parsing=True)
        pieces = " ".join(command.collect_usage_pieces(context))
        lines += [f".. _command-{name}:", "", *_title(name, "~")]
        lines += [".. code-block:: text", "", f"   bnmind {name} {pieces}", ""]
        for paragraph in (command.help or "").split("\n\n"):
            lines += _paragraph(paragraph)
        records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
        rows = [(f"``{record[0]}``", _plain(record[1]) or "–") for record in records if record]
        lines += _list(("option", "meaning"), rows, "35 65")
    return "\n".join(lines)
