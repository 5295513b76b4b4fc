"""Names that a shell completes: members of registries, imported only when Tab is pressed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

__all__ = ["NOISES", "completing", "completing_members"]

Completer = Callable[[str], list[tuple[str, str]]]
"""From the beginning of a word to the words, each with a line about it."""

NOISES = {
    "exact": "Every reply is true.",
    "false:": "A random reply replaces the true one with this probability.",
    "independent:": "Each number is wrong with this probability.",
    "file:": "A CSV file of true and reported replies.",
}


def completing(words: Callable[[], Mapping[str, str]]) -> Completer:
    """Return a completer of some words.

    Parameters
    ----------
    words
        Returns the words, each with a line about it.

    Examples
    --------
    >>> [word for word, _ in completing(lambda: NOISES)("f")]
    ['false:', 'file:']
    """

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [(word, about) for word, about in words().items() if word.startswith(incomplete)]

    return complete


def completing_members(module: str, registry: str) -> Completer:
    """Return a completer of the names of a registry; a name that needs an argument gets a colon.

    Examples
    --------
    >>> completing_members("bnmind.adaptive", "STOPPERS")("it")
    [('items:', 'N items were asked')]
    """

    def words() -> dict[str, str]:
        found: dict[str, str] = {}
        for name, member in getattr(import_module(module), registry).items():
            needs = getattr(member, "argument", None) is not None and member.plain is None
            found[f"{name}:" if needs else name] = member.about
        return found

    return completing(words)
