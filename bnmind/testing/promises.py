"""Promises: statements about a member that are tried with examples, and what breaks them."""

from __future__ import annotations

import dataclasses
import pickle
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from bnmind._messages import one_line, shown
from bnmind.errors import BnmindError, ContractError

__all__ = ["Promises", "fingerprint"]


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
