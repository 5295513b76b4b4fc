"""The frame of players that search for a code: opening, colors to try, and the reasons given."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.strategies.base.beginnings import UsesHistory
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.evolutionary.color_sets import (
    ColorRemoval,
    MonochromeProbing,
    allowed_colors,
    next_probe,
)
from bnmind.strategies.evolutionary.fitness import PLAYED, Replies, replies_of
from bnmind.strategies.evolutionary.openings import Opening, PatternOpening
from bnmind.strategies.evolutionary.operators import Choices, Rates, all_choices, choices_of

__all__ = [
    "Found",
    "Population",
    "SearchesCodes",
    "Setup",
    "as_guess",
    "faults_of_rates",
]


@dataclass(frozen=True)
class Population(Value):
    """The codes that a player keeps for its next turn.

    Raises
    ------
    InvalidArgumentError
        If the colors are not those of whole codes of the board.
    """

    board: Board
    """The board of the codes."""
    pegs_in_a_row: bytes
    """The colors of all codes, one byte for each peg."""

    def _faults(self) -> Iterator[str]:
        colors = np.frombuffer(self.pegs_in_a_row, dtype=np.uint8)
        if (
            len(colors) % self.board.pegs
            or not ((colors > 0) & (colors <= self.board.colors)).all()
        ):
            yield f"expected colors 1 to {self.board.colors}, {self.board.pegs} for each code"

    @classmethod
    def of(cls, board: Board, codes: NDArray[np.uint8]) -> Population:
        """Return the population of codes, ``(codes, pegs)``.

        Parameters
        ----------
        board
            The board of the codes.
        codes
            ``(codes, pegs)``: colors from 0.
        """
        return cls(board, codes.tobytes())

    @staticmethod
    def kept(memory: object, board: Board) -> NDArray[np.uint8]:
        """Return the codes of a memory, ``(codes, pegs)``; none if it is not one of the board.

        Parameters
        ----------
        memory
            The memory of the last turn, a `Population` or anything else.
        board
            The board of the game.
        """
        if not isinstance(memory, Population) or memory.board != board:
            return np.zeros((0, board.pegs), dtype=np.uint8)
        return memory.codes()

    def codes(self) -> NDArray[np.uint8]:
        """Return the codes, ``(codes, pegs)``, colors 1..k."""
        return np.frombuffer(self.pegs_in_a_row, dtype=np.uint8).reshape(-1, self.board.pegs)


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    code: tuple[int, ...]
    """The code to guess."""
    cost: int = 0
    """Its cost; 0 if it agrees with all replies."""
    evaluated: int = 0
    """The number of codes whose cost was computed."""
    tied: int = 1
    """The number of codes found that are as good."""
    memory: Population | None = None
    """The codes kept for the next turn."""


def _no_removal() -> ColorRemoval:
    return ColorRemoval(absent=False, positions=False)


@dataclass(frozen=True)
class Setup(Value):
    """The parts of a player around its search."""

    opening: Opening = field(default_factory=PatternOpening)
    """The first guess."""
    removal: ColorRemoval = field(default_factory=_no_removal)
    """The facts that exclude colors; used if the player assumes true replies."""
    probing: MonochromeProbing | None = None
    """The guesses of a single color on large boards; None for none. They are made if the player
    assumes true replies."""

    def planned(self, belief: Belief, rng: np.random.Generator) -> Found | None:
        """Return a guess that needs no search, or None.

        Parameters
        ----------
        belief
            The turns of the game, and the channel that the player assumes.
        rng
            The random generator of the opening.
        """
        board, history = belief.board, belief.history
        if self.probing and self.probing.applies_to(board) and belief.channel.is_exact:
            probe = next_probe(board, history)
            if probe is not None:
                return Found(probe)
        return None if history else Found(self.opening.guess(board, rng))

    def replies(self, belief: Belief) -> Replies:
        """Return the replies of the game as arrays.

        Parameters
        ----------
        belief
            The turns of the game, and the channel that the player assumes.
        """
        return replies_of(belief.board, belief.history, ends=belief.channel.ends)

    def choices(self, belief: Belief) -> Choices:
        """Return the colors to try.

        Parameters
        ----------
        belief
            The turns of the game, and the channel that the player assumes.
        """
        if not belief.channel.is_exact:
            return all_choices(belief.board)
        return choices_of(belief.board, allowed_colors(belief.board, belief.history, self.removal))


class SearchesCodes(UsesHistory):
    """A player that guesses the best code that its random search finds."""

    __slots__ = ()

    setup: Setup

    @property
    def deterministic(self) -> bool:
        """The search is random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the next guess; the score is its cost, 0 if it agrees with all replies."""
        found = self.setup.planned(belief, rng)
        if found is None:
            found = self.search(belief, rng, situation.memory)
        return as_guess(belief.board, found)

    @abstractmethod
    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies.

        Parameters
        ----------
        belief
            The replies.
        rng
            The random generator of the search.
        memory
            The codes kept at the last turn, a `Population`; None if there are none.
        """


def as_guess(board: Board, found: Found) -> tuple[int, GuessInfo]:
    """Return the guess of a search as a strategy returns it; the score is the cost."""
    cost = found.cost % PLAYED
    note = ""
    if found.cost:
        note = f"found no code that agrees with all replies; this one differs by {cost} pegs"
    index = board.index(found.code)
    info = GuessInfo(
        guess=index,
        score=float(cost),
        tied=max(1, found.tied),
        evaluated=found.evaluated,
        memory=found.memory,
        note=note,
    )
    return index, info


def faults_of_rates(rates: Rates) -> Iterator[str]:
    """Yield a sentence for each rate that is no probability."""
    for name, rate in zip(rates._fields, rates, strict=True):
        if not 0 <= rate <= 1:
            yield f"expected the rate of {name.replace('_', ' ')} from 0 to 1, got {rate}"
