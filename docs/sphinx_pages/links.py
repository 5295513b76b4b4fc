"""Links from the names in docstrings and types to their place in the reference.

Docstrings and types name a thing by the file that defines it, or by its bare name; the reference
has it under the name by which users import it.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from docs.sphinx_pages.public_names import defined_at, homes, public_names
from docs.sphinx_pages.supporting_types import our_types, supporting_types

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["place_of", "readable", "setup"]


@functools.cache
def _places() -> tuple[Mapping[str, str], Mapping[str, tuple[str, ...]]]:
    """Return the described name of each dotted name, and all those of each bare name."""
    dotted = {f"{module}.{name}": home.path for (module, name), home in homes().items()}
    dotted |= {public.path: homes()[public.thing].path for public in public_names()}
    dotted |= {one.path: one.path for one in supporting_types().values()}
    bare: dict[str, tuple[str, ...]] = {}
    for home in (*homes().values(), *supporting_types().values()):
        bare[home.name] = (*bare.get(home.name, ()), home.path)
    return dotted, bare


@functools.cache
def _classes() -> frozenset[str]:
    """Return the names that may have attributes: a module may have the name of a function."""
    described = (*homes().values(), *supporting_types().values())
    return frozenset(one.path for one in described if one.kind != "function")


def place_of(target: str, room: str = "") -> str | None:
    """Return the name in the reference of what a text calls `target`, or None.

    Parameters
    ----------
    target
        A dotted or a bare name, perhaps with an attribute.
    room
        The module that the text is in, such as ``bnmind.mastermind``: its names come first.

    Examples
    --------
    >>> place_of("bnmind.mastermind.board.Board")
    'bnmind.mastermind.Board'
    >>> place_of("Channel.parse")
    'bnmind.mastermind.Channel.parse'
    >>> place_of("Posterior", "bnmind.questions")
    >>> place_of("Posterior", "bnmind.mastermind.priors")
    'bnmind.mastermind.Posterior'
    """
    dotted, bare = _places()
    near = ".".join(room.split(".")[:2])
    head, tail = target, ""
    while head:
        if head in dotted and (not tail or dotted[head] in _classes()):
            return dotted[head] + tail
        known = bare.get(head, ())
        if len(known) > 1:
            known = tuple(path for path in known if f"{path}.".startswith(f"{near}."))
        if len(known) == 1:
            return known[0] + tail
        head, _, last = head.rpartition(".")
        tail = f".{last}{tail}"
    return None


def described_thing(place: str) -> Any:
    """Return the object that the reference describes at a place.

    Parameters
    ----------
    place
        As `place_of` returns it, perhaps with attributes: ``bnmind.mastermind.Board.code``.
    """
    for public in (*homes().values(), *supporting_types().values()):
        if f"{place}.".startswith(f"{public.path}."):
            thing = getattr(importlib.import_module(public.module), public.name)
            attributes = place.removeprefix(public.path).split(".")[1:]
            return functools.reduce(getattr, attributes, thing)
    raise LookupError(f"the reference has no {place}")


_NAME = r"~?(?:\w+\.)*"
_ARRAY = re.compile(rf"{_NAME}ndarray\[tuple\[{_NAME}Any, \.\.\.\], {_NAME}dtype\[([^\[\]]*)\]\]")
_SUPPORTS = rf"{_NAME}_SupportsArray\[{_NAME}dtype\[[^\[\]]*\]\]"
_NESTED = rf"{_NAME}_NestedSequence\[[\w\s|]*\]"
_ARRAY_LIKE = re.compile(
    rf"(?:{_NAME}_Buffer \| )?{_SUPPORTS} \| {_NAME}_NestedSequence\[{_SUPPORTS}\]"
    rf"(?: \| complex \| bytes \| str \| {_NESTED})?"
)
_OURS = re.compile(r"~?\b(bnmind(?:\.\w+)+)")
_MARKED = re.compile(rf"{_NAME}Annotated\[")
_PLAIN_MARK = re.compile(rf" {_NAME}(?:Ge|Gt|Le|Lt|MinLen|MaxLen)\(")


def _with_plain_marks(types: str) -> str:
    """Return types without the marks that hold functions, whose texts are no expressions."""
    found = _MARKED.search(types)
    if found is None:
        return types
    parts, depth = [""], 0
    for token in re.finditer(r"'[^']*'|.", types[found.end() :]):
        depth += (token[0] in "[(") - (token[0] in "])")
        if depth < 0:
            break
        if depth == 0 and token[0] == ",":
            parts.append("")
        else:
            parts[-1] += token[0]
    first = _with_plain_marks(parts[0])
    marks = [mark for mark in parts[1:] if _PLAIN_MARK.match(mark)]
    rest = _with_plain_marks(types[found.end() + token.end() :])
    if not marks:
        return types[: found.start()] + first + rest
    return types[: found.end()] + ",".join((first, *marks)) + "]" + rest


def readable(types: str) -> str:
    """Return types as their authors wrote them: NumPy's aliases, and our names by their home.

    >>> readable("~numpy.ndarray[tuple[~typing.Any, ...], ~numpy.dtype[~numpy.float64]] | None")
    '~numpy.typing.NDArray[~numpy.float64] | None'
    >>> readable("~bnmind.mastermind.board.Board")
    '~bnmind.mastermind.Board'

    A default that is made for each object is no expression.

    >>> readable("(rules: tuple[str, ...] = <factory>)")
    '(rules: tuple[str, ...] = ...)'

    Nor is a mark that holds a function.

    >>> readable("Annotated[int, Ge(ge=1), Must(words=' (odd)', test=<function odd at 0x7f>)]")
    'Annotated[int, Ge(ge=1)]'

    Nor is a range that Python could not look up.

    >>> readable("(evidence: Evidence | None, n_samples: Count)")
    '(evidence: Evidence | None, n_samples: int)'
    """
    types = _with_plain_marks(re.sub(r"= <[^<>]*>", "= ...", types))
    types = re.sub(r": (Count|Natural)\b", ": int", types)
    types = _ARRAY_LIKE.sub("~numpy.typing.ArrayLike", types)
    types = _ARRAY.sub(r"~numpy.typing.NDArray[\1]", types)
    return _OURS.sub(lambda found: "~" + (place_of(found[1]) or found[1]), types)


def _signature(*event: Any) -> tuple[str, str] | None:
    thing, _, arguments, result = event[-4:]
    if arguments is None:
        return None
    if getattr(thing, "_is_protocol", False) and isinstance(thing, type):
        return "", ""  # nobody makes one
    return readable(arguments), readable(result or "")


def _bases(*event: Any) -> None:
    """Leave out the bases that are no public names, and those of Python: how a class is made."""
    bases = event[-1]
    bases[:] = [base for base in bases if not _is_hidden(getattr(base, "__origin__", base))] or [
        object
    ]


def _is_hidden(base: Any) -> bool:
    module = getattr(base, "__module__", "")
    if module in ("typing", "abc", "builtins"):
        return not (isinstance(base, type) and issubclass(base, Exception))
    return module.startswith("bnmind") and place_of(f"{module}.{base.__qualname__}") is None


def _candidates(node: Any, page: str) -> Iterator[str]:
    """Yield the names in the reference that a reference may mean, the nearest first."""
    target = node["reftarget"].removesuffix("()").lstrip("~.")
    room = node.get("py:module") or page.removeprefix("api/")
    around = node.get("py:class") or ""
    if around:
        yield f"{around}.{target}"
        yield f"{room}.{around}.{target}"
    yield f"{room}.{target}"
    if meant := _imported(node, target):
        yield meant
    if found := place_of(target, room):
        yield found


def _imported(node: Any, target: str) -> str | None:
    """Return the place of a bare name in a signature, if the file of the signature imports it."""
    around = _signature_around(node)
    path = f"{around['module']}.{around['fullname']}" if around is not None else ""
    while path and "." not in target:
        for public in (*homes().values(), *supporting_types().values()):
            if public.path == path:
                try:
                    module, name = defined_at(public.defined_in, target)
                except LookupError:
                    return None
                return place_of(f"{module}.{name}")
        path = path.rpartition(".")[0]
    return None


def _exists(dotted: str) -> bool:
    """Return whether a name of ours exists, public or not."""
    parts = dotted.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            if name in getattr(thing, "__annotations__", {}):
                return True
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True
    return False


def _is_our_type(target: str) -> bool:
    """Return whether a type is one of ours; a type variable stands for any type."""
    module, _, name = target.rpartition(".")
    if not module.startswith("bnmind"):
        return not module and name in our_types()
    return not isinstance(getattr(importlib.import_module(module), name, None), TypeVar)


def _signature_around(node: Any) -> Any:
    """Return the signature that a node is in, or None."""
    from sphinx.addnodes import desc_signature

    while node is not None and not isinstance(node, desc_signature):
        node = node.parent
    return node


def setup(app: Sphinx) -> None:
    """Let Sphinx find our names, and write types as their authors did."""
    from sphinx.addnodes import pending_xref
    from sphinx.domains.python import PyAttribute, PyProperty
    from sphinx.transforms.post_transforms import SphinxPostTransform
    from sphinx.util import logging
    from sphinx.util.nodes import find_pending_xref_condition, make_refnode

    logger = logging.getLogger(__name__)

    class PublicLinks(SphinxPostTransform):  # type: ignore[misc]
        """Replaces each reference to a name by a link, or by its text if it has no place."""

        default_priority = 5  # before those of Sphinx, which would search and guess

        def run(self, **_: Any) -> None:
            objects = self.env.domains.python_domain.objects
            for node in list(self.document.findall(pending_xref)):
                if node.get("refdomain") != "py":
                    continue
                target = node["reftarget"]
                place = next(
                    (name for name in _candidates(node, self.env.docname) if name in objects), None
                )
                # A type shows its short name where that is a link.
                shown = find_pending_xref_condition(node, "*" if place is None else "resolved")
                content = (shown or node)[0].deepcopy()
                if place is not None:
                    entry = objects[place]
                    content = make_refnode(
                        self.app.builder,
                        node.get("refdoc", self.env.docname),
                        entry.docname,
                        entry.node_id,
                        content,
                        place,
                    )
                elif re.fullmatch(r"bnmind(\.\w+)+", target) and not _exists(target):
                    logger.warning("there is no %s", target, location=node, type="ref")
                elif _is_our_type(target) and _signature_around(node) is not None:
                    logger.warning(
                        "a signature names the type %s, which the reference does not describe:"
                        " make it a public name, or enter it in"
                        " docs/sphinx_pages/supporting_types.py",
                        target,
                        location=node,
                        type="ref",
                    )
                node.replace_self(content)

    class Attribute(PyAttribute):  # type: ignore[misc]
        def run(self) -> list[Any]:
            _make_readable(self.options)
            return list(super().run())

    class Property(PyProperty):  # type: ignore[misc]
        def run(self) -> list[Any]:
            _make_readable(self.options)
            return list(super().run())

    app.add_post_transform(PublicLinks)
    app.add_directive_to_domain("py", "attribute", Attribute, override=True)
    app.add_directive_to_domain("py", "property", Property, override=True)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-bases", _bases)


def _make_readable(options: dict[str, Any]) -> None:
    if "type" in options:
        options["type"] = readable(options["type"])
