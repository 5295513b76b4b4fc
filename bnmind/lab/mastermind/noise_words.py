"""Plain sentences about the noise of a game, by the name of its channel."""

from __future__ import annotations

__all__ = ["noise_clause", "noise_in_words"]


def noise_in_words(name: str) -> str:
    """Return how often replies are false, by the name of a channel.

    >>> noise_in_words("exact"), noise_in_words("file:channel.csv")
    ('Every reply is true.', 'The noise is that of file:channel.csv.')
    >>> noise_in_words("false:0.2")
    'With probability 0.2, a random reply replaces the true one (false:0.2).'
    """
    clause = noise_clause(name)
    return f"{clause[0].upper()}{clause[1:]}."


def noise_clause(name: str) -> str:
    """Return the same as the part of a sentence that follows "that".

    >>> noise_clause("independent:0.1")
    'each number of a reply is wrong with probability 0.1 (independent:0.1)'
    """
    kind, _, level = name.partition(":")
    if kind == "exact":
        return "every reply is true"
    if kind == "false" and level:
        return f"with probability {level}, a random reply replaces the true one ({name})"
    if kind == "independent" and level:
        return f"each number of a reply is wrong with probability {level} ({name})"
    if kind == "unknown":
        return "a reply is false with an unknown probability, learned from the game (unknown)"
    return f"the noise is that of {name}"
