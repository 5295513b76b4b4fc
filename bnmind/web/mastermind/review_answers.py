"""A game that is over, in retrospect: how much each guess lost; ready to be sent as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bnmind.web.base import words

if TYPE_CHECKING:
    from bnmind.lab.mastermind.review import GuessReview
    from bnmind.mastermind import Turn
    from bnmind.web.mastermind.games import Setting

__all__ = ["review"]


def review(setting: Setting, turns: Sequence[Turn], *, won: bool) -> dict[str, Any]:
    """Return each guess beside the most informative one, as the command line does after a game.

    Parameters
    ----------
    setting
        The board, the noise and the prior.
    turns
        The guesses and the reported replies; a win is one of them.
    won
        Whether the last guess was the code.
    """
    import numpy as np

    from bnmind.lab.mastermind.review import review_guesses, review_in_guesses

    reviewed = review_guesses(setting.start(), turns, np.random.default_rng(0), won=won)
    judged = None
    if setting.channel().is_exact and setting.drawn_from() is None:
        judged = review_in_guesses(setting.board(), turns)
    guesses = None if judged is None else sum(one.regret for one in judged)
    return {
        "rows": reviewed.to_dict()["guesses"],
        "regret": sum(one.regret for one in reviewed.guesses),
        "guesses": guesses,
        "words": _lost(reviewed.guesses, guesses),
    }


def _lost(reviewed: Sequence[GuessReview], guesses: float | None) -> str:
    """Return what was lost, in a sentence or two."""
    lost = [one.regret for one in reviewed if one.regret]
    of, n = words.counted(len(reviewed), "guess", "guesses"), len(reviewed) - len(lost)
    if not reviewed:
        return "There was no guess."
    said = "Each guess was the most informative one."
    if lost:
        best = f"{n} were" if n > 1 else "one was" if n else "none was"
        said = f"Of your {of}, {best} the most informative. Lost in all: {sum(lost):.2f} bits."
    if guesses is not None:
        said += f" Against optimal guesses, {guesses:.2f} guesses were lost."
    return said
