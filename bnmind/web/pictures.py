"""Pictures of a belief: entropy by turn, information of all guesses, Vomlel's network.

The server keeps nothing between requests.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from pydantic import Field

from bnmind.errors import TooLargeError
from bnmind.web.forms import Form
from bnmind.web.games import Code, GameQuestion, LikelyCode, likely_codes
from bnmind.web.work import NETWORKS, work_of

if TYPE_CHECKING:
    from bnmind.junction import JunctionTree
    from bnmind.mastermind import Posterior

_BINS = 24
_MOST_PEGS, _MOST_COLORS = 6, 9
"""Larger networks do not fit a page."""
_MOST_JOINT = 2**16
"""The most cells of the joint distribution of all pegs, if no color occurs twice."""
_SAME = 1e-9
"""Information that differs by less is equal, in bits."""


class PictureQuestion(GameQuestion):
    """A game, and a guess to mark among all guesses."""

    guess: Code | None = None
    """The guess to mark, such as the next one."""


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


class Information(Form):
    """How many guesses tell how much."""

    edges: list[float]
    """In bits; one more than there are numbers of guesses."""
    guesses: list[int]
    """How many guesses tell between two edges."""
    n_guesses: int
    is_sample: bool
    """Whether the guesses are some random ones."""
    best: float
    chosen: float | None
    """What the given guess should tell, in bits."""
    better: int | None
    """How many guesses should tell more."""
    words: str


class Known(Form):
    """What is known about the code, and how it became known."""

    entropies: list[float]
    """At the start and after each row, in bits."""
    n_codes: int
    found: str | None
    has_network: bool
    """Whether `stage` has pictures of this game."""
    most_probable: list[LikelyCode]
    positions: tuple[tuple[float, ...], ...] | None
    information: Information | None


class Clique(Form):
    """A clique of a junction tree."""

    variables: list[str]
    size: int
    """The number of cells of its table."""
    words: str
    """The number of cells as text, which is exact in any language."""


class Stage(Form):
    """A stage of Vomlel's network."""

    stage: int = Field(json_schema_extra={"enum": [1, 2, 3]})
    svg: str
    cliques: list[Clique]
    total_size: int
    largest: int
    tree_svg: str
    words: str


@lru_cache(maxsize=64)
def knowledge_of(question: PictureQuestion) -> Known:
    """Return what the pictures of a belief show; equal questions share the work."""
    from bnmind.lab.mastermind.advice import color_probabilities, ending, most_probable

    turns = question.history()
    over = ending(question.channel(), turns, goes_on=question.goes_on)
    belief = question.start()
    entropies = [belief.entropy()]
    for turn in turns[:-1] if over else turns:
        belief = belief.update(turn.guess, turn.reply)
        entropies.append(belief.entropy())
    found = belief.board.format(turns[-1].guess) if over else None
    return Known(
        entropies=[*entropies, 0.0] if over else entropies,
        n_codes=belief.board.n_codes,
        found=found,
        has_network=not over and _does_not_fit(question) is None,
        most_probable=likely_codes(most_probable(belief) if found is None else [(found, 1.0)]),
        positions=None if over else color_probabilities(belief),
        information=None if over else _information(belief, question.guess),
    )


def _information(belief: Posterior, guess: str | None) -> Information:
    """Return how many guesses tell how much, and where one guess is among them."""
    import numpy as np

    from bnmind.lab.mastermind.advice import information_of_guesses
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
    return Information(
        edges=edges.tolist(),
        guesses=[int(count) for count in counts],
        n_guesses=number,
        is_sample=is_sample,
        best=best,
        chosen=chosen,
        better=better,
        words=_compared(chosen, better, number, is_sample=is_sample),
    )


def _compared(chosen: float | None, better: int | None, number: int, *, is_sample: bool) -> str:
    """Return how a guess compares with others, in a sentence.

    >>> _compared(3.04, 0, 1296, is_sample=False)
    'No other of 1,296 guesses should tell more than its 3.04 bits.'
    >>> _compared(2.5, 7, 500, is_sample=True)
    'Of 500 random guesses, 7 should tell more than its 2.50 bits.'
    """
    from bnmind.lab.mastermind import words

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


def picture_of_stage(question: StageQuestion) -> Stage:
    """Return a stage of Vomlel's network with the belief in its nodes, and its cliques.

    Raises
    ------
    TooLargeError
        If the network would not fit a page.
    """
    from bnmind.lab.mastermind import words
    from bnmind.lab.mastermind.advice import belief_after, code_weights
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
    tree, tree_svg = _tree(question.pegs, question.colors, question.repeats, question.stage)
    return Stage(
        stage=question.stage,
        svg=stage_figure(shown, beliefs=beliefs, observed=tuple(evidence_of_guess(guess))),
        # Numbers above 2**53 are not exact in JavaScript, so they are sent as text, too.
        cliques=[
            Clique(variables=list(clique.variables), size=clique.size, words=f"{clique.size:,}")
            for clique in tree.cliques
        ],
        total_size=tree.total_size,
        largest=tree.largest,
        tree_svg=tree_svg,
        words=f"{words.counted(len(tree.cliques), 'clique')} with {tree.total_size:,} cells in"
        f" all, at most {tree.largest:,} in one.",
    )


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
def _tree(pegs: int, colors: int, repeats: bool, number: int) -> tuple[JunctionTree, str]:
    """Return the junction tree of a stage, which does not depend on the guess, and its picture."""
    from bnmind.mastermind import Board, stage
    from bnmind.mastermind.network import tree_figure

    shown = stage(Board(pegs, colors, repeats=repeats), number)
    return shown.tree, tree_figure(shown)


router = APIRouter(prefix="/api", tags=["Pictures of a belief"])


@router.post("/known", summary="The entropy by turn, and the information of all guesses")
async def known(question: PictureQuestion, request: Request) -> Known:
    """Return what is known about the code, and how it became known.

    `entropies` holds the entropy before the first guess and after each reply, in bits.
    `information` says how many guesses have an expected information between two `edges`.
    """
    return await work_of(request).run(request, partial(knowledge_of, question))


@router.post("/stage", summary="Vomlel's network, with the belief in its nodes")
async def stage(question: StageQuestion, request: Request) -> Stage:
    """Return a stage of the network and its junction tree as SVG, and the sizes of the cliques."""
    work = partial(picture_of_stage, question)
    return await work_of(request).run(request, work, needs=NETWORKS)
