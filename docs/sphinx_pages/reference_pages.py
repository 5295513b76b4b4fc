"""The pages of the reference: one for each room and sub-room that has public names.

They are written when the pages are built, below ``docs/api/``, and are not kept. Sphinx's autodoc
adds signatures and docstrings; this module only says what stands where.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from docs.sphinx_pages.docstrings import hidden_members
from docs.sphinx_pages.links import place_of
from docs.sphinx_pages.public_names import (
    ROOT,
    PublicName,
    home_of,
    homes,
    public_modules,
    public_names,
)
from docs.sphinx_pages.supporting_types import OPAQUE, supporting_types

__all__ = ["reference_pages"]

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Tests of people": ("bnmind.adaptive",),
    "Networks": (
        *("bnmind.pgm", "bnmind.junction", "bnmind.questions", "bnmind.sensitivity"),
        *("bnmind.fitting", "bnmind.dynamic", "bnmind.rank_one", "bnmind.views"),
    ),
    "Mastermind": ("bnmind.mastermind", "bnmind.strategies"),
}
"""The rooms by whom they are for; all others are for everybody."""

LONGEST_VALUE = 60


def page_of(public: PublicName) -> str:
    """Return the page that a thing is described on: its room, or the part that defines it."""
    home = home_of(public)
    part = ".".join(public.defined_in.split(".")[:3])
    if part.count(".") == 2 and (ROOT.joinpath(*part.split(".")) / "__init__.py").is_file():
        return part
    return home.module


def room_of(page: str) -> str:
    """Return the room that a page belongs to."""
    return ".".join(page.split(".")[:2])


def reference_pages() -> dict[str, str]:
    """Return the text of each page by its file name."""
    pages: dict[str, list[PublicName]] = {}
    for public in homes().values():
        pages.setdefault(page_of(public), []).append(public)
    rooms: dict[str, list[str]] = {}
    for page in sorted(pages):
        parts = rooms.setdefault(room_of(page), [])
        if page != room_of(page):
            parts.append(page)
    texts = {
        f"{page}.rst": _page(page, names) for page, names in pages.items() if page not in rooms
    }
    for room, parts in rooms.items():
        texts[f"{room}.rst"] = _room(room, pages.get(room, []), {p: pages[p] for p in parts})
    texts["index.rst"] = _index(rooms)
    return texts


def _docstring(module: str) -> str:
    place = ROOT.joinpath(*module.split("."))
    inner = place / "__init__.py"
    path = inner if inner.is_file() else place.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    # Without examples and later paragraphs, which speak to those who read the file.
    return text.split("\n\n")[0]


def _title(text: str, sign: str = "=") -> str:
    return f"{text}\n{sign * len(text)}\n"


def _table(names: Iterable[PublicName]) -> str:
    """Return a table of names, each with a link and its first sentence."""
    lines = [".. list-table::", "   :class: names", "   :widths: 30 70", ""]
    for public in sorted(names, key=_place):
        home = home_of(public)
        lines.append(f"   * - :py:obj:`{public.name} <{home.path}>`")
        lines.append(f"     - {home.summary or '–'}")
    return "\n".join(lines) + "\n"


def _place(public: PublicName) -> tuple[int, str]:
    """Return where a name stands among others: classes first, then functions, then data."""
    kinds = ("class", "enum", "function", "data", "exception")
    return kinds.index(public.kind), public.name.lower()


def _entry(public: PublicName) -> str:
    """Return the directive that describes a thing."""
    if public.kind == "function":
        return f".. autofunction:: {public.path}\n"
    # Bases that are no public names are how a class is made.
    shown = any(place_of(base, public.module) for base in public.bases)
    bases = "   :show-inheritance:\n" if shown else ""
    if public.kind == "exception":
        return f".. autoexception:: {public.path}\n   :members:\n   :show-inheritance:\n"
    if public.kind in ("class", "enum"):
        more = "   :undoc-members:\n" if public.kind == "enum" else bases
        kind = getattr(importlib.import_module(public.module), public.name)
        hidden = hidden_members(kind) if isinstance(kind, type) else {}
        more += "".join(f"\n   .. {how}:: {name}\n" for name, how in hidden.items())
        return f".. autoclass:: {public.path}\n   :members:\n{more}"
    lines = [f".. py:data:: {public.path}"]
    if public.annotation:
        lines.append(f"   :type: {' '.join(public.annotation.split())}")
    if public.value and len(public.value) <= LONGEST_VALUE and "\n" not in public.value:
        lines.append(f"   :value: {public.value}")
    lines += ["", *(f"   {line}".rstrip() for line in public.doc.splitlines())]
    return "\n".join(lines) + "\n"


def _entries(names: Iterable[PublicName]) -> str:
    return "\n".join(_entry(public) for public in sorted(names, key=_place))


def _doors(names: Iterable[PublicName]) -> str:
    """Say where the names are imported from."""
    doors = sorted({home_of(public).module for public in names})
    return f"Import from {' and '.join(f'``{door}``' for door in doors)}.\n"


def _page(page: str, names: list[PublicName]) -> str:
    parts = (_title(page), _docstring(page) + "\n", _doors(names), _table(names), _entries(names))
    return "\n".join(parts)


def _toctree(names: Iterable[str]) -> str:
    return "\n".join([".. toctree::", "   :hidden:", "", *(f"   {name}" for name in names)]) + "\n"


def _room(room: str, own: list[PublicName], parts: Mapping[str, list[PublicName]]) -> str:
    """Return the page of a room: all its names, and what none of its parts describes."""
    texts = [_title(room), _docstring(room) + "\n"]
    if parts:
        texts.append(_toctree(parts))
        for part, names in parts.items():
            texts += [_title(part.removeprefix(f"{room}."), "-"), _docstring(part) + "\n"]
            texts += [f"Described on :doc:`{part}`.\n", _table(names)]
        if own:
            texts.append(_title("In the room itself", "-"))
    if own:
        texts += [_doors(own), _table(own), _entries(own)]
    return "\n".join([*texts, _supporting(room)])


def _supporting(room: str) -> str:
    """Return the section of the types that signatures of a room name, and nobody imports."""
    types = [one for one in supporting_types().values() if supported_room(one) == room]
    if not types:
        return ""
    lines = [
        _title("Supporting types", "-"),
        "Signatures on these pages name these types. You get their objects from the functions and"
        " objects above, and need not import them: the modules that they are in may change.\n",
    ]
    for one in sorted(types, key=_place):
        opaque = one.name in OPAQUE.get(one.module, ())
        entry = _entry(one)
        if opaque:
            entry = f".. py:class:: {one.path}\n\n   {one.summary}\n"
        lines.append(entry)
    return "\n".join(lines)


def supported_room(supporting: PublicName) -> str:
    """Return the room whose page describes a supporting type."""
    room = room_of(supporting.module)
    return room if room in public_modules() else "bnmind.testing"


def _index(rooms: Iterable[str]) -> str:
    grouped = {room for group in GROUPS.values() for room in group}
    groups = {**GROUPS, "For everybody": tuple(room for room in rooms if room not in grouped)}
    front = [public for public in public_names() if public.module == "bnmind"]
    things = len(homes())
    texts = [
        _title("Python reference"),
        f"All {things:,} public names of bnmind, by the package that users import them from. "
        f"{len(public_modules())} packages and modules offer them; other modules may change.\n",
        _toctree(sorted(rooms)),
        _title("bnmind", "-"),
        "The names that most programs need, as ``bnmind.read`` or ``bnmind.posterior``.\n",
        _table(front),
    ]
    for group, members in groups.items():
        texts += [_title(group, "-"), ".. list-table::", "   :class: names", ""]
        for room in members:
            texts += [f"   * - :doc:`{room}`", f"     - {_docstring(room)}"]
        texts.append("")
    return "\n".join(texts)


def write_pages(folder: Path, texts: Mapping[str, str]) -> None:
    """Write pages into a folder, but for those that did not change; others there are removed."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
