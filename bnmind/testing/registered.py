"""Promises of a registered name: the help lists it, errors suggest it, its class is public."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from bnmind._registry import Registered, made_by_name, usage
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.testing.promises import Promises

__all__ = ["Family", "examples", "help_of"]

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_SUFFIX = re.compile(r"\.[a-z0-9]+")
_LONGEST = 80


@dataclass(frozen=True)
class Family:
    """A family of members that have names."""

    kind: str
    """One member, such as "selector"."""
    room: str
    """The package from which the classes of the members are imported."""
    registry: Mapping[str, Any]
    """The members by name; each says in `about` what it is."""
    commands: tuple[str, ...] = ()
    """The commands whose help lists the names."""
    rooms: tuple[str, ...] = ()
    """Other packages from which some classes are imported."""
    suffixes: bool = False
    """Whether the names are suffixes of files."""

    def check_name(self, name: str, *, listed: bool = True) -> Promises:
        """Raise `ContractError` unless users find a name; return the promises of the name.

        Parameters
        ----------
        name
            A key of the registry.
        listed
            Whether the help lists it.

        Raises
        ------
        UnknownNameError
            If the registry has no such name.
        """
        if name not in self.registry:
            raise UnknownNameError(self.kind, name, self.registry)
        promises = Promises(self.kind, name)
        member = self.registry[name]
        plain = _SUFFIX if self.suffixes else _NAME
        promises.keep(plain.fullmatch(name), "its name is plain: lower case, joined by hyphens")
        about = getattr(member, "about", "")
        promises.keep(
            isinstance(about, str) and about.strip() and "\n" not in about,
            "the registry says in a line what it is",
        )
        promises.keep(len(about) <= _LONGEST, f"that line has at most {_LONGEST} letters", about)
        registry: Any = self.registry
        promises.refuse(
            lambda: registry.__setitem__(name, member),
            "nobody can change the registry of its name",
            kinds=(TypeError, AttributeError),
        )
        written = usage(name, member) if isinstance(member, Registered) else name
        for command in self.commands if listed else ():
            text = help_of(command)
            line = re.search(rf"^ *{re.escape(written)} +{re.escape(about)}$", text, re.MULTILINE)
            promises.keep(line, "the help lists it", f"bnmind {command} --help has no {written}")
        return promises

    def check_export(self, name: str, member: object) -> None:
        """Raise `ContractError` unless the class of a member is a public name of its room.

        A class of another package than bnmind is its author's affair.
        """
        kind = member if isinstance(member, type) else type(member)
        if kind.__module__.partition(".")[0] != "bnmind":
            return
        Promises(self.kind, name).keep(
            any(_exports(room, kind) for room in (self.room, *self.rooms)),
            "its class is a public name of its room",
            f"{kind.__name__} is not in {self.room}.__all__",
        )


def _exports(room: str, kind: type) -> bool:
    """Return whether a package lists a class among its names."""
    package = importlib.import_module(room)
    return kind.__name__ in package.__all__ and getattr(package, kind.__name__) is kind


def examples(family: Family, text: str) -> list[Any]:
    """Return the members that a name makes, once its promises are kept.

    Parameters
    ----------
    family
        The family, whose registry holds `Registered` members.
    text
        A name, which stands for the member without an argument and for one with an example of an
        argument; or a name with an argument, as in ``items:3``.

    Raises
    ------
    InvalidArgumentError
        If the text has an argument that does not fit.
    """
    name, colon, _ = text.partition(":")
    promises = family.check_name(name)
    member: Registered[Any] = family.registry[name]
    texts = [text] if colon else [name] * (member.plain is not None)
    if member.argument is not None and not colon:
        texts.append(f"{name}:{member.argument.example}")
    wrong = f"{name}:\x00?" if member.argument is None else f'{name}:"'
    promises.refuse(
        lambda: made_by_name(family.kind, family.registry, wrong),
        "an argument that it does not take is refused",
        wrong.replace("\x00", "?"),
        kinds=InvalidArgumentError,
    )
    try:
        made_by_name(family.kind, family.registry, f"{name}x")
    except UnknownNameError as error:
        promises.keep(name in error.close, "a misspelled name is answered with it", f"{name}x")
    if colon:  # a wrong argument is the fault of the caller
        made_by_name(family.kind, family.registry, text)
    found = []
    for one in texts:
        with promises.no_error("its name makes it", one):
            found.append(made_by_name(family.kind, family.registry, one))
        family.check_export(name, found[-1])
    return found


@cache
def help_of(command: str) -> str:
    """Return the help of a command, with long lines.

    >>> "Selectors:" in help_of("test").splitlines()
    True
    """
    from typer.main import get_command

    from bnmind.cli.app import app

    group: Any = get_command(app)
    one = group.get_command(None, command)
    context = one.make_context(command, [], resilient_parsing=True, terminal_width=10**4)
    text: str = one.get_help(context)
    return text
