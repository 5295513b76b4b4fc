"""Docstrings as autodoc reads them.

Where a docstring leaves the arguments to the method that it overrides, it gets a link to that
method. A colon in the first line of an attribute stays: Napoleon takes what stands before it for
the type, which the signature has already.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import TYPE_CHECKING, Any

from docs.sphinx_pages.links import place_of
from docs.sphinx_pages.public_names import homes
from docs.sphinx_pages.supporting_types import supporting_types

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["described_in", "hidden_members", "setup"]


def described_in(kind: type, method: str) -> str | None:
    """Return the public method that describes the arguments of one that stands for it, or None.

    It is that of a base, or of a protocol that the class has all members of, and has all its
    parameters.

    >>> from bnmind.strategies import Knuth
    >>> described_in(Knuth, "choose")
    'bnmind.strategies.Strategy.choose'
    """
    if _has_parameters(kind, method):
        return None
    for base in (*kind.__mro__[1:], *_protocols()):
        place = place_of(f"{base.__module__}.{base.__qualname__}")
        if (
            place is not None
            and method in vars(base)
            and _has_parameters(base, method)
            and _names(kind, method) <= _names(base, method)
            and all(_has(kind, name) for name in _members(base))
        ):
            return f"{place}.{method}"
    return None


def hidden_members(kind: type) -> dict[str, str]:
    """Return the members that a class has from bases that are no public names.

    The reference has no entry for such a base, so it describes them with the class.

    Returns
    -------
    dict
        For each name, the directive of autodoc that describes it.

    Examples
    --------
    >>> from bnmind.adaptive import Dina
    >>> hidden_members(Dina)
    {'cpd': 'automethod', 'n_responses': 'autoproperty'}
    """
    found: dict[str, str] = {}
    seen = set(vars(kind))
    for base in kind.__mro__[1:]:
        ours = base.__module__.startswith("bnmind.")
        if ours and place_of(f"{base.__module__}.{base.__qualname__}") is None:
            for name in sorted(vars(base).keys() - seen):
                member = vars(base)[name]
                if name.startswith("_") or not getattr(member, "__doc__", None):
                    continue
                if isinstance(member, property | functools.cached_property):
                    found[name] = "autoproperty"
                elif inspect.isroutine(member):
                    found[name] = "automethod"
        seen |= vars(base).keys()
    return found


def _names(kind: type, method: str) -> set[str]:
    """Return the names of the parameters of a method."""
    return set(inspect.signature(getattr(kind, method)).parameters) - {"self"}


def _members(base: type) -> set[str]:
    """Return the names of the public methods and properties of a class and of its bases."""
    return {
        name
        for one in base.__mro__
        if one.__module__.startswith("bnmind.")
        for name in vars(one)
        if not name.startswith("_")
    }


def _has(kind: type, name: str) -> bool:
    """Return whether objects of a class have an attribute, perhaps a field without a default."""
    return hasattr(kind, name) or any(
        name in vars(one).get("__annotations__", ()) for one in kind.__mro__
    )


@functools.cache
def _protocols() -> tuple[type, ...]:
    things = (
        getattr(importlib.import_module(home.module), home.name)
        for home in (*homes().values(), *supporting_types().values())
        if home.kind == "class"
    )
    return tuple(thing for thing in things if getattr(thing, "_is_protocol", False))


def _has_parameters(kind: type, method: str) -> bool:
    # Without `inspect.getdoc`, which would take the docstring of the base.
    own = inspect.getattr_static(kind, method, None)
    return "Parameters\n" in (getattr(getattr(own, "__func__", own), "__doc__", None) or "")


def _point(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    if what != "method":
        return
    kind_path, _, method = name.rpartition(".")
    module, _, kind_name = kind_path.rpartition(".")
    kind = getattr(importlib.import_module(module), kind_name, None)
    if isinstance(kind, type) and (place := described_in(kind, method)):
        lines += ["", f"The arguments are those of :py:obj:`{place}`.", ""]


_COLON = "\ue000"
"""Stands for a colon while Napoleon reads an attribute: no docstring has this character."""


def _hide_colons(_: Sphinx, what: str, *event: Any) -> None:
    lines = event[-1]
    if what in ("attribute", "data", "property") and lines:
        lines[0] = lines[0].replace(":", _COLON)


def _show_colons(*event: Any) -> None:
    lines = event[-1]
    lines[:] = [line.replace(_COLON, ":") for line in lines]


def setup(app: Sphinx) -> None:
    """Let autodoc add the links, and keep the colons."""
    # Napoleon has the priority 500.
    app.connect("autodoc-process-docstring", _hide_colons, priority=400)
    app.connect("autodoc-process-docstring", _show_colons, priority=600)
    app.connect("autodoc-process-docstring", _point)
