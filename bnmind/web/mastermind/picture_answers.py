"""What the pictures of a belief show: entropy by turn, information of all guesses, the network."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import Field

from bnmind.errors import TooLargeError
from bnmind.web.base import words
from bnmind.web.mastermind.games import Code, GameQuestion

if TYPE_CHECKING:
    from bnmind.junction import JunctionTree
    from bnmind.mastermind import Posterior

__all__ = ["PictureQuestion", "StageQuestion", "known", "stage_picture"]

_BINS = 24
_MOST_PEGS, _MOST_COLORS = 6, 9
"""Larger networks do not fit a page."""
_MOST_JOINT = 2**16
"""The most cells of the joint distribution of all pegs, if no color occurs twice."""
_SAME = 1e-9
"""Information that differs by less is equal, in bits."""


class PictureQuestion(GameQuestion):
    """A game, and a guess to mark among all guesses."""

    guess: Code | None = Field(None, description="The guess to mark, such as the next one.")


class StageQuestion(GameQuestion):
    """A game, the next guess, and a stage of the network."""

    guess: Code
    stage: int = Field(
        1,
        ge=1,
        le=3,
        description="1: the full network. 2: the guess is inserted."
        " 3: the table of C is replaced by an auxiliary variable B.",
    )


def known(question: PictureQuestion) -> dict[str, Any]:
    """Return what the pictures of a belief show; equal questions share the work."""
    return dict(_known(question))


@lru_cache(maxsize=64)
def _known(question: PictureQuestion) -> dict[str, Any]:
    from bnmind.lab.mastermind.advice import ending, most_probable
    from bnmind.lab.mastermind.explanation import color_probabilities

    turns = question.history()
    over = ending(question.channel(), turns, goes_on=question.goes_on)
    belief = question.start()
    entropies = [belief.entropy()]
    for turn in turns[:-1] if over else turns:
        belief = belief.update(turn.guess, turn.reply)
        entropies.append(belief.entropy())
    board = belief.board
    found = board.format(turns[-1].guess) if over else None
    likely = [(found, 1.0)] if found is not None else most_probable(belief)
    return {
        "entropies": [*entropies, 0.0] if over else entropies,
        "n_codes": board.n_codes,
        "found": found,
        "has_network": not over and _does_not_fit(question) is None,
        "most_probable": [
            {"code": code, "probability": probability} for code, probability in likely
        ],
        "positions": None if over else color_probabilities(belief),
        "information": None if over else _information(belief, question.guess),
    }


def _information(belief: Posterior, guess: str | None) -> dict[str, Any]:
    """Return how many guesses tell how much, and where one guess is among them."""
    import numpy as np

    from bnmind.lab.mastermind.explanation import information_of_guesses
    from bnmind.strategies import describe_guess

    values, numbers, is_sample = information_of_guesses(belief, np.random.default_rng(0))
    chosen = None
    if guess is not None:
        chosen = describe_guess(belief, belief.board.parse(guess)).information
    best = max(float(values.max()), chosen or 0.0)
    counts, edges = np.histogram(
        values, bins=np.linspace(0.0, max(best, _SAME), _BINS + 1), weights=numbers
    )
    better = None if chosen is None else int(numbers[values > chosen + _SAME].sum())
    number = int(numbers.sum())
    return {
        "edges": edges.tolist(),
        "guesses": [int(count) for count in counts],
        "n_guesses": number,
        "is_sample": is_sample,
        "best": best,
        "chosen": chosen,
        "better": better,
        "words": _compared(chosen, better, number, is_sample=is_sample),
    }


def _compared(chosen: float | None, better: int | None, number: int, *, is_sample: bool) -> str:
    """Return how a guess compares with others, in a sentence.

    >>> _compared(3.04, 0, 1296, is_sample=False)
    'No other of 1,296 guesses should tell more than its 3.04 bits.'
    >>> _compared(2.5, 7, 500, is_sample=True)
    'Of 500 random guesses, 7 should tell more than its 2.50 bits.'
    """
    others = words.counted(
        number,
        "random guess" if is_sample else "guess",
        "random guesses" if is_sample else "guesses",
    )
    if chosen is None or better is None:
        return ""
    if not better:
        return f"No other of {others} should tell more than its {chosen:.2f} bits."
    return f"Of {others}, {better:,} should tell more than its {chosen:.2f} bits."


def stage_picture(question: StageQuestion) -> dict[str, Any]:
    """Return a stage of Vomlel's network with the belief in its nodes, and its cliques.

    Raises
    ------
    TooLargeError
        If the network would not fit a page.
    """
    from bnmind.lab.mastermind.advice import belief_after
    from bnmind.lab.mastermind.explanation import code_weights
    from bnmind.mastermind import stage
    from bnmind.mastermind.network import evidence_of_guess, node_beliefs, stage_figure

    fault = _does_not_fit(question)
    if fault is not None:
        raise fault
    belief = belief_after(question.start(), question.history())
    board, channel = belief.board, belief.channel
    guess = board.parse(question.guess)
    codes, weights = code_weights(belief)
    shown = stage(board, question.stage, guess=guess, channel=None if channel.is_exact else channel)
    beliefs = node_beliefs(channel, guess, codes=codes, weights=weights)
    size = (question.pegs, question.colors, question.repeats, question.stage)
    tree = _tree(*size)
    return {
        "stage": question.stage,
        "svg": stage_figure(shown, beliefs=beliefs, observed=tuple(evidence_of_guess(guess))),
        "cliques": [
            # Numbers above 2**53 are not exact in JavaScript, so they are sent as text, too.
            {"variables": list(clique.variables), "size": clique.size, "words": f"{clique.size:,}"}
            for clique in tree.cliques
        ],
        "total_size": tree.total_size,
        "largest": tree.largest,
        "tree_svg": _tree_picture(*size),
        "words": f"{words.counted(len(tree.cliques), 'clique')} with {tree.total_size:,} cells in"
        f" all, at most {tree.largest:,} in one.",
    }


def _does_not_fit(question: GameQuestion) -> TooLargeError | None:
    """Return why the network of a board is not shown, or None if it is."""
    pegs, colors = question.pegs, question.colors
    if pegs > _MOST_PEGS or colors > _MOST_COLORS:
        return TooLargeError(
            f"the network is shown for at most {_MOST_PEGS} positions and {_MOST_COLORS} colors;"
            " bnmind network shows larger ones",
            needed=max(pegs, colors),
            budget=_MOST_COLORS,
        )
    if not question.repeats and colors**pegs > _MOST_JOINT:
        return TooLargeError(
            "the pegs of a code without repeats depend on each other, so its network is shown for"
            f" at most {_MOST_JOINT:,} combinations of colors, not {colors**pegs:,}",
            needed=colors**pegs,
            budget=_MOST_JOINT,
        )
    return None


@lru_cache(maxsize=64)
def _tree(pegs: int, colors: int, repeats: bool, number: int) -> JunctionTree:
    """Return the junction tree of a stage, which does not depend on the guess."""
    from bnmind.mastermind import Board, stage

    return stage(Board(pegs, colors, repeats=repeats), number).tree


@lru_cache(maxsize=64)
def _tree_picture(pegs: int, colors: int, repeats: bool, number: int) -> str:
    from bnmind.mastermind import Board, stage
    from bnmind.mastermind.network import tree_figure

    return tree_figure(stage(Board(pegs, colors, repeats=repeats), number))
