"""Promises: statements about a member that are tried with examples, and what breaks them.

`Promises` are those of a member, and `Family` those of a registered name: the help lists it, errors
suggest it, and its class is public.
"""

from __future__ import annotations

import dataclasses
import importlib
import pickle
import random
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NoReturn

import numpy as np

from bnmind._messages import one_line, shown
from bnmind._registry import Registered, made_by_name, usage
from bnmind.errors import BnmindError, ContractError, InvalidArgumentError, UnknownNameError


@dataclasses.dataclass(frozen=True)
class Promises:
    """The promises of a family, as one member keeps or breaks them."""

    family: str
    """The family, such as "selector"."""
    member: object
    """The member."""

    def broken(self, promise: str, example: str = "") -> NoReturn:
        """Raise `ContractError`: the member breaks a promise."""
        raise ContractError(self.member, promise, example, family=self.family)

    def keep(self, kept: object, promise: str, example: str = "") -> None:
        """Raise `ContractError` unless a promise is kept."""
        if not kept:
            self.broken(promise, example)

    @contextmanager
    def no_error(self, promise: str, example: str = "") -> Iterator[None]:
        """Raise `ContractError` if what is done inside ends in an error of any other kind."""
        try:
            yield
        except ContractError:
            raise
        except Exception as fault:
            text = f"{type(fault).__name__}: {one_line(str(fault), longest=200)}"
            self.broken(promise, f"{example}: {text}" if example else text)

    def refuse(
        self,
        call: Callable[[], object],
        promise: str,
        example: str = "",
        *,
        kinds: type[Exception] | tuple[type[Exception], ...] = BnmindError,
    ) -> None:
        """Raise `ContractError` unless a call ends in an error of some kinds, with words in it."""
        try:
            call()
        except kinds as error:
            self.keep(str(error).strip(), f"{promise} with words", example)
        except Exception as fault:
            self.broken(promise, f"{example}: {type(fault).__name__} instead".lstrip(": "))
        else:
            self.broken(promise, f"{example}: no error".lstrip(": "))

    def accepts(self, call: Callable[[], object], promise: str, example: str) -> bool:
        """Return whether a call succeeds, or is refused by an error of bnmind."""
        try:
            call()
        except BnmindError:
            return False
        except Exception as fault:
            self.broken(promise, f"{example}: {type(fault).__name__}: {fault}")
        return True

    def has(self, *names: str) -> None:
        """Raise `ContractError` unless the member has what the protocol of its family names."""
        self.keep(not isinstance(self.member, type), "it is an object, not a class")
        missing = [name for name in names if not hasattr(self.member, name)]
        self.keep(not missing, f"it has {', '.join(names)}", f"it has no {', '.join(missing)}")

    def about(self) -> None:
        """Raise `ContractError` unless the member says in a line what it is."""
        self.has("about")
        text: Any = getattr(self.member, "about", "")
        self.keep(
            isinstance(text, str) and text.strip() and "\n" not in text,
            "it says in a line what it is",
            shown(text),
        )

    def value(self) -> None:
        """Raise `ContractError` unless the member is immutable and survives pickle."""
        member: Any = self.member
        self.keep(not isinstance(member, type), "it is an object, not a class")
        self.keep(dataclasses.is_dataclass(member), "it is an object of a frozen dataclass")
        for field in dataclasses.fields(member):
            before = getattr(member, field.name)
            try:
                setattr(member, field.name, None)
            except (AttributeError, TypeError):
                continue
            with self.no_error("its fields can be set back"):
                setattr(member, field.name, before)
            self.broken("it cannot be changed", f"its field {field.name} could be set")
        for field in dataclasses.fields(member):
            self.keep(
                not _can_be_changed(getattr(member, field.name)),
                "it cannot be changed",
                f"its field {field.name} is a {type(getattr(member, field.name)).__name__} that can"
                " be written to",
            )
        for one in (member, *_nudged(member)):
            with self.no_error("pickle stores and restores it, as parallel work needs"):
                again = pickle.loads(pickle.dumps(one))
            self.keep(
                repr(again) == repr(one) and _numbers(again) == _numbers(one),
                "pickle restores it as it was",
                f"{shown(again)} {_numbers(again)}, not {shown(one)} {_numbers(one)}",
            )

    @contextmanager
    def pure(self, *given: object, example: str = "") -> Iterator[None]:
        """Raise `ContractError` if what is done inside changes the member or what it is given.

        The global random generators of Python and NumPy may not be used either.
        """
        own, before = fingerprint(self.member, hidden=True), [fingerprint(one) for one in given]
        drawn = _global_generators()
        yield
        self.keep(
            _global_generators() == drawn, "it draws from the generator that it is given", example
        )
        self.keep(
            own == fingerprint(self.member, hidden=True), "a call does not change it", example
        )
        after = [fingerprint(one) for one in given]
        self.keep(before == after, "a call does not change what it is given", example)


def _can_be_changed(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return value.flags.writeable
    return type(value) in (list, dict, set, bytearray)


def _nudged(member: Any) -> Iterator[object]:
    """Yield the member with another value of one number: a lost default value shows no loss."""
    for name, value in _numbers(member).items():
        for other in (value * 0.9375, value * 0.9375 + 0.01):
            try:
                yield dataclasses.replace(member, **{name: other})
            except Exception:  # a value that does not fit
                continue
            break


def _numbers(member: Any) -> dict[str, float]:
    """Return the fields that are numbers; some are left out of the text of a member."""
    fields = [field.name for field in dataclasses.fields(member) if field.init]
    return {name: getattr(member, name) for name in fields if type(getattr(member, name)) is float}


def _global_generators() -> tuple[object, ...]:
    """Return the state of the global generators of Python and NumPy."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002
    return random.getstate(), name, np.asarray(keys).tobytes(), tuple(rest)


def fingerprint(value: object, *, hidden: bool = False) -> bytes:
    """Return bytes that differ if the content of a value differs.

    Parameters
    ----------
    value
        The value.
    hidden
        Whether attributes of a dataclass that are no fields count, too.

    Examples
    --------
    >>> fingerprint([1, 2]) == fingerprint([1, 2]), fingerprint([1, 2]) == fingerprint([2, 1])
    (True, False)
    """
    if isinstance(value, np.ndarray):
        return repr((value.shape, value.dtype.str)).encode() + value.tobytes()
    content: object = value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [getattr(value, field.name) for field in dataclasses.fields(value)]
        content = (type(value), fields, _hidden(value) if hidden else None)
    try:
        return pickle.dumps(content)
    except Exception:  # an object of the user's own may refuse
        return repr(content).encode()


def _hidden(value: object) -> dict[str, object]:
    """Return the attributes of a dataclass that are neither fields nor remembered results."""
    kind: Any = type(value)
    known = {field.name for field in dataclasses.fields(kind)}
    return {
        name: one
        for name, one in getattr(value, "__dict__", {}).items()
        if name not in known and not isinstance(getattr(kind, name, None), cached_property)
    }


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
