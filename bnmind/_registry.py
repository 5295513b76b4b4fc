"""Registries: the members of a family by the names that users write.

A registry is an immutable mapping from a name to a `Registered` member. Command lines, help texts
and documentation read it, and contract tests run over it. On the command line a member is written
``NAME`` or ``NAME:ARGUMENT``; `made_by_name` makes it.
"""

from __future__ import annotations

import csv
import math
import pickle
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from bnmind._messages import shown
from bnmind.errors import BnmindError, InvalidArgumentError, UnknownNameError

_Made_co = TypeVar("_Made_co", covariant=True)
_Member = TypeVar("_Member")
_Class = TypeVar("_Class", bound=Callable[..., Any])


@dataclass(frozen=True)
class Argument:
    """The argument that a member takes after a colon."""

    sign: str
    """The placeholder in help texts, such as ``N``."""
    about: str
    """A description, such as "a whole number"."""
    read: Callable[[str], Any]
    """Return the value of a text; raise `InvalidArgumentError` if it has none."""
    example: str
    """A text that has a value, for contract tests."""


@dataclass(frozen=True)
class Registered(Generic[_Made_co]):
    """A member of a registry, as users name it.

    Calling it makes the member that is named without an argument.
    """

    about: str
    """The member, in a few words."""
    plain: Callable[[], _Made_co] | None = None
    """Makes the member named without an argument; None if it needs one."""
    argument: Argument | None = None
    """The argument; None if the member takes none."""
    given: Callable[[Any], _Made_co] | None = None
    """Makes the member from the value of the argument."""

    def __post_init__(self) -> None:
        if (self.argument is None) != (self.given is None) or not (self.plain or self.given):
            raise InvalidArgumentError("a member needs `plain`, or an argument and `given`, or all")

    def __call__(self) -> _Made_co:
        """Return the member named without an argument."""
        if self.plain is None:
            raise InvalidArgumentError("this member needs an argument")
        return self.plain()


class Registrar(dict[str, Registered[_Member]]):
    """The members of a family, in the order in which they are registered by decorators."""

    def __call__(
        self,
        name: str,
        about: str,
        argument: Argument | None = None,
        *,
        plain: Callable[[], _Member] | None = None,
        given: Callable[[Any], _Member] | None = None,
    ) -> Callable[[_Class], _Class]:
        """Return a decorator that registers a class by a name; the others as for `Registered`.

        The class makes what no function is given for: the member with the argument, if it takes
        one, else the member without.
        """

        def register(kind: _Class) -> _Class:
            made: Any = kind
            alone = plain or (made if argument is None else None)
            of_argument = given or (None if argument is None else made)
            self[name] = Registered(about, alone, argument, of_argument)
            return kind

        return register


def made_by_name(
    kind: str, registry: Mapping[str, Registered[_Member]], text: str, *, shown_in: str = ""
) -> _Member:
    """Return the member that a text names, as ``NAME`` or ``NAME:ARGUMENT``, in any case.

    Parameters
    ----------
    kind
        The family, such as "selector", for messages.
    registry
        The members of the family.
    text
        The name, and the argument if there is one.
    shown_in
        The whole text that the user wrote, if this is a part of it, for messages.

    Raises
    ------
    UnknownNameError
        If no member has the name.
    InvalidArgumentError
        If the argument is missing, is of another kind, or does not belong there.
    """
    name, _, argument = as_registered(registry, text).partition(":")
    if name not in registry:
        raise UnknownNameError(kind, name, registry, meant=_with_colon(name, registry))
    member = registry[name]
    whole = shown(shown_in or text)
    if not argument:
        if member.plain is not None:
            return member.plain()
        assert member.argument is not None  # as `Registered` checks
        raise InvalidArgumentError(
            f"the {kind} {name} needs {member.argument.about} after a colon,"
            f" {usage(name, member)}; got {whole}",
            text,
        )
    if member.argument is None or member.given is None:
        raise InvalidArgumentError(f"the {kind} {name} takes no argument; got {whole}", text)
    try:
        value = member.argument.read(argument)
    except InvalidArgumentError as fault:
        raise InvalidArgumentError(
            f"the {kind} {name} needs {member.argument.about} after the colon; got {whole}", text
        ) from fault
    try:
        return member.given(value)
    except BnmindError as fault:
        raise InvalidArgumentError(f"in {whole}: {fault}", text) from fault


def leads_to(find: Callable[[Any], object], name: Any, part: object) -> bool:
    """Return whether what a function finds by a name is the same as a part.

    Parts are the same if they are equal, or hold the same.
    """
    try:
        found = find(name)
        if type(found) is not type(part):
            return False
        return bool(found == part) or pickle.dumps(found) == pickle.dumps(part)
    except (BnmindError, pickle.PicklingError, AttributeError, TypeError, ValueError):
        return False


def _with_colon(text: str, known: Collection[str]) -> str:
    """Return ``NAME:ARGUMENT`` for ``NAME=ARGUMENT``, and for a number of items; else nothing.

    >>> _with_colon("items=5", ["items"]), _with_colon("5", ["items", "certainty"])
    ('items:5', 'items:5')
    """
    name, sign, argument = text.partition("=")
    if sign and name in known and argument:
        return f"{name}:{argument}"
    return f"items:{text}" if text.isdecimal() and {"items", "certainty"} <= {*known} else ""


def as_registered(registry: Mapping[str, object], text: str) -> str:
    """Return ``NAME`` or ``NAME:ARGUMENT`` with the name in the case of letters of the registry.

    Examples
    --------
    >>> as_registered({"gdi": 1, "items": 2}, "GDI"), as_registered({"items": 2}, "Items:N")
    ('gdi', 'items:N')
    """
    name, colon, argument = text.partition(":")
    if name in registry:
        return text
    folded = name.casefold()
    same = [known for known in registry if known.casefold() == folded]
    return f"{same[0]}{colon}{argument}" if len(same) == 1 else text


def usage(name: str, member: Registered[object]) -> str:
    """Return how a member is written: ``NAME``, ``NAME:ARGUMENT`` or ``NAME[:ARGUMENT]``.

    Examples
    --------
    >>> usage("items", Registered("a number of items", None, COUNT, range))
    'items:N'
    """
    if member.argument is None:
        return name
    argument = f":{member.argument.sign}"
    return f"{name}{argument}" if member.plain is None else f"{name}[{argument}]"


def listed_names(text: str, separator: str) -> tuple[str, ...]:
    """Return the names between separators; one that holds a separator stands in double quotes.

    Raises
    ------
    InvalidArgumentError
        If a quote is not closed.

    Examples
    --------
    >>> listed_names('No of people,"a, b"', ",")
    ('No of people', 'a, b')
    """
    try:
        rows = list(csv.reader([text], delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        raise InvalidArgumentError(
            f"expected names between {separator}, those with quotes or {separator} in them in"
            f' double quotes ("" for a quote), got {shown(text)}',
            text,
        ) from None
    return tuple(name.strip() for name in rows[0]) if rows else ()


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidArgumentError(f"expected a number, got {shown(text)}", text)
    return number


def _count(text: str) -> int:
    number = _number(text)
    if number % 1:
        raise InvalidArgumentError(f"expected a whole number, got {shown(text)}", text)
    return int(number)


NUMBER = Argument("NUMBER", "a number", _number, "0.5")
COUNT = Argument("N", "a whole number", _count, "3")
NAMES = Argument(
    "NAME+NAME",
    "names joined by + (a name that holds + in double quotes)",
    lambda text: listed_names(text, "+"),
    "skill_1",
)
