"""Help texts that list the members of registries.

The registries are imported only when the help is shown, so that other commands start fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from typer.core import TyperCommand

from bnmind._registry import Registered, usage

__all__ = ["Described", "command_with_members"]


class Described(Protocol):
    """A member of a registry that says in a few words what it is."""

    @property
    def about(self) -> str:
        """The member, in a few words."""


def command_with_members(
    **sections: Callable[[], Mapping[str, Described]],
) -> type[TyperCommand]:
    """Return a class of commands whose help ends with the members of registries.

    Parameters
    ----------
    sections
        The title of each section, and a function that imports and returns the registry.
    """

    class CommandWithMembers(TyperCommand):
        """A command whose help lists the members of registries."""

        def format_options(self, ctx: Any, formatter: Any) -> None:
            """Write the options, then a section for each registry."""
            super().format_options(ctx, formatter)
            for title, registry in sections.items():
                with formatter.section(title.replace("_", " ")):
                    formatter.write_dl(
                        [
                            (_usage(name, member), member.about)
                            for name, member in registry().items()
                        ]
                    )

    return CommandWithMembers


def _usage(name: str, member: Described) -> str:
    return usage(name, member) if isinstance(member, Registered) else name
