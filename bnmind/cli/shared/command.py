"""Commands whose options are the fields of a dataclass."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from dataclasses import MISSING, fields
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, TypeVar, get_type_hints

__all__ = ["until_end", "with_options"]

T = TypeVar("T")


_resources: ContextVar[ExitStack] = ContextVar("resources")


def until_end(resource: AbstractContextManager[T]) -> T:
    """Return what a context yields, and leave the context when the command ends."""
    return _resources.get().enter_context(resource)


def with_options(options: type[T]) -> Callable[[Callable[[T], None]], Callable[..., None]]:
    """Return a decorator for a command that takes its options as one object.

    Typer reads the parameters of a command from its signature. The decorated command has a
    keyword-only parameter for each field, in their order, with its annotation and its default.

    Parameters
    ----------
    options
        A dataclass whose fields are annotated for Typer.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Options:
    ...     name: str
    ...     times: int = 1
    >>> @with_options(Options)
    ... def greet(options: Options) -> None:
    ...     print(*[f"Hello {options.name}"] * options.times, sep=", ")
    >>> greet(name="Jiri", times=2)
    Hello Jiri, Hello Jiri
    """
    hints = get_type_hints(options, include_extras=True)
    parameters = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(options)  # type: ignore[arg-type]
    ]

    def decorate(command: Callable[[T], None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            with ExitStack() as stack:
                token = _resources.set(stack)
                try:
                    command(options(**values))
                finally:
                    _resources.reset(token)

        del run.__wrapped__
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        return run

    return decorate
