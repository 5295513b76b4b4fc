"""Priors: the probability of each secret code before the first guess.

A mixture learns which of several code-makers it plays against. The code-maker is one of the members
of a family. After a code s, the probability w_i of member i becomes w_i·p_i(s) / Σ_j w_j·p_j(s),
where p_i(s) is the probability of s under member i.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Protocol, Self, TypeAlias, cast

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Chances, Must, Shape, Value, sealed
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of, require_believable
from bnmind.mastermind.distribution import CodeDistribution

# --- The prior protocol: the probability of each secret code before the first guess ---------------


Codes: TypeAlias = NDArray[np.uint8]
"""Codes as rows of colors 1..k, ``(n, pegs)``."""

_BLOCK = 2**18  # number of codes that are weighed at a time


class Prior(Protocol):
    """A probability distribution over the secret code before the first guess.

    A prior need not list the codes: boards of any size have log weights and draws.
    """

    @property
    def board(self) -> Board:
        """The board of the codes."""

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""

    def log_weights(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's weight, ``(m,)``.

        The weights are probabilities up to a constant factor, the same for all codes; an impossible
        code has −∞.

        Parameters
        ----------
        codes
            ``(m, pegs)``, codes of the board. They are not checked.
        """

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``.

        Parameters
        ----------
        n
            The number of codes, at least 0.
        rng
            The source of random numbers.
        """

    def distribution(self) -> CodeDistribution:
        """Return the probability of each code.

        Raises
        ------
        TooLargeError
            If the board has too many codes to list.
        """


class LearningPrior(Prior, Protocol):
    """A prior that learns from the earlier codes of a code-maker."""

    def observe(self, code: Sequence[int]) -> Self:
        """Return the prior of the next code after another code.

        Parameters
        ----------
        code
            The colors of the code that was revealed, each from 1 to the number of colors.
        """


def distribution_before(board: Board, prior: Prior | Floats | None) -> CodeDistribution:
    """Return the distribution of the code before the first guess; uniform if the prior is None.

    Raises
    ------
    InvalidArgumentError
        If the prior belongs to another board.
        If an array is not a distribution over the codes of the board.
    TooLargeError
        If the board has too many codes to list.
    """
    if prior is None:
        return CodeDistribution.uniform(board)
    if hasattr(prior, "log_weights"):
        given = cast(Prior, prior)
        require_same_board(board, given)
        return given.distribution()
    return CodeDistribution(board, prior)


def observed(prior: Prior, code: Sequence[int]) -> Prior:
    """Return the prior of the next code after another code; itself if it does not learn."""
    return cast(LearningPrior, prior).observe(code) if hasattr(prior, "observe") else prior


def require_same_board(board: Board, prior: Prior) -> None:
    """Raise `InvalidArgumentError` if a prior belongs to another board."""
    if prior.board != board:
        raise InvalidArgumentError(
            f"expected a prior of the board {board}, got {prior.name} of the board {prior.board}",
            prior,
        )


def code_array(codes: NDArray[np.integer]) -> Codes:
    """Return codes as bytes."""
    return np.asarray(codes, dtype=np.uint8)


def listed_distribution(prior: Prior) -> CodeDistribution:
    """Return the distribution of a prior, from the log weight of every code.

    Parameters
    ----------
    prior
        The prior.

    Raises
    ------
    TooLargeError
        If the board has too many codes to list.
    InvalidArgumentError
        If every code has weight zero.
    """
    board = prior.board
    require_believable(board)
    logs = np.empty(board.n_codes)
    for start in range(0, board.n_codes, _BLOCK):
        stop = min(start + _BLOCK, board.n_codes)
        logs[start:stop] = prior.log_weights(digits_of(board, np.arange(start, stop)))
    largest = float(logs.max())
    if largest == -np.inf:
        raise InvalidArgumentError(
            f"the prior {prior.name} gives every code of the board {board} the probability zero",
            prior,
        )
    logs -= largest
    weights = np.exp(logs, out=logs)
    weights /= weights.sum()
    weights.setflags(write=False)
    return CodeDistribution(board, weights)


# --- The common part of the priors whose probabilities have a closed form -------------------------


_ROUNDING = 1e-9


class ClosedFormPrior(Value, ABC):
    """A prior that computes the probability of a code, not only a weight.

    Such priors can be the members of a `MixturePrior`.
    """

    board: Board
    """The board of the codes."""

    _needs_repeats: ClassVar[bool] = False
    """Whether the prior needs a board on which colors may repeat."""

    def _faults(self) -> Iterator[str]:
        if self._needs_repeats and not self.board.repeats:
            yield f"the prior {self.name} needs a board whose colors may repeat, got {self.board}"

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the prior at the command line and in files."""

    @abstractmethod
    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``.

        Parameters
        ----------
        codes
            ``(m, pegs)``, codes of the board. They are not checked.
        """

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""

    def observe(self, code: Sequence[int]) -> Self:
        """Return the prior of the next code after another code; by default it learns nothing.

        Parameters
        ----------
        code
            The colors of the code that was revealed, each from 1 to the number of colors.
        """
        return self

    def __eq__(self, other: object) -> bool:
        """Return whether another prior is of the same kind with equal fields."""
        if type(other) is not type(self):
            return NotImplemented
        names = [field.name for field in fields(cast(Any, self))]
        return all(_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __hash__(self) -> int:
        return hash((type(self), self.board, self.name))

    def log_weights(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's weight, here its probability."""
        return self.log_probabilities(codes)

    def distribution(self) -> CodeDistribution:
        """Return the probability of each code.

        Raises
        ------
        TooLargeError
            If the board has too many codes to list.
        """
        return listed_distribution(self)


def _equal(one: Any, other: Any) -> bool:
    return np.array_equal(one, other) if isinstance(one, np.ndarray) else bool(one == other)


def logs_of(probabilities: tuple[float, ...], logs: tuple[float, ...] | None) -> tuple[float, ...]:
    """Return the natural logarithms of probabilities, or the given ones if they agree.

    Raises
    ------
    InvalidArgumentError
        If the given logarithms are not those of the probabilities.
    """
    if logs is None:
        return tuple(math.log(p) if p > 0 else -math.inf for p in probabilities)
    fits = len(logs) == len(probabilities) and all(
        log <= _ROUNDING and abs(math.exp(log) - p) <= _ROUNDING
        for log, p in zip(logs, probabilities, strict=True)
    )
    if not fits:
        raise InvalidArgumentError(f"expected the logarithms of {probabilities}, got {logs}", logs)
    return logs


def normalized(weights: Floats) -> Floats:
    """Return weights divided by their sum, read-only."""
    return sealed(weights / weights.sum())


def distinct_colors(codes: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the number of different colors in each code, ``(m,)``."""
    in_order = np.sort(codes, axis=1)
    changes: NDArray[np.intp] = np.count_nonzero(in_order[:, 1:] != in_order[:, :-1], axis=1)
    return changes + 1


def drawn_colors(board: Board, n: int, rng: np.random.Generator) -> Codes:
    """Return all colors in random order, for each of `n` codes, ``(n, colors)``."""
    colors = np.tile(np.arange(1, board.colors + 1, dtype=np.uint8), (n, 1))
    return rng.permuted(colors, axis=1)


# --- The uniform prior: every code is equally probable --------------------------------------------


UNIFORM = "uniform"
"""The name of the prior; records without a prior mean this one."""


@dataclass(frozen=True)
class UniformPrior(ClosedFormPrior):
    """The prior of a code-maker without preferences.

    Examples
    --------
    >>> prior = UniformPrior(Board(4, 6))
    >>> round(2 ** prior.distribution().entropy())
    1296
    """

    board: Board
    """The board of the codes."""

    name = UNIFORM
    """The name of the prior at the command line and in files."""

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        return np.full(len(codes), -math.log(self.board.n_codes))

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        board = self.board
        if board.repeats:
            return rng.integers(
                1, board.colors, size=(n, board.pegs), dtype=np.uint8, endpoint=True
            )
        return np.ascontiguousarray(drawn_colors(board, n, rng)[:, : board.pegs])

    def distribution(self) -> CodeDistribution:
        """Return the probability of each code.

        Raises
        ------
        TooLargeError
            If the board has too many codes to list.
        """
        return CodeDistribution.uniform(self.board)


# --- A prior that learns which of several code-makers it plays against ----------------------------


_OfOneBoard = Must(", all of one board", lambda members: len({one.board for one in members}) < 2)


@dataclass(frozen=True)
class MixturePrior(ClosedFormPrior):
    """The prior of the next code of a code-maker who is one of several.

    Examples
    --------
    >>> from bnmind.mastermind.color_priors import OnlyOnce
    >>> from bnmind.mastermind.prior import UniformPrior
    >>> board = Board(4, 6)
    >>> prior = MixturePrior((UniformPrior(board), OnlyOnce(board)), (0.5, 0.5))
    >>> prior = prior.observe((1, 2, 3, 4)).observe((3, 1, 6, 2))
    >>> [round(weight, 3) for weight in prior.weights]
    [0.072, 0.928]
    """

    members: Annotated[tuple[ClosedFormPrior, ...], MinLen(1), _OfOneBoard]
    """The possible code-makers, at least one, all of the same board."""
    weights: Annotated[tuple[float, ...], Chances, Shape("members")]
    """The probability of each member; they sum to one."""
    name: str = "mixture"
    """The name of the prior at the command line and in files."""
    logs: tuple[float, ...] | None = None
    """The natural logarithms of the weights, for weights that are too small for a number; computed
    if None."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(logs=logs_of(self.weights, self.logs))

    @property
    def board(self) -> Board:  # type: ignore[override]
        """The board of the codes."""
        return self.members[0].board

    @checked
    def observe(self, code: Sequence[int]) -> MixturePrior:
        """Return the prior of the next code after another code; the members learn too.

        Raises
        ------
        ImpossibleEvidenceError
            If the code is impossible under every member.
        """
        row = np.array([self.board.checked(code)])
        logs = self._logs(row)[:, 0]
        largest = float(logs.max())
        if largest == -np.inf:
            text = self.board.format(code)
            raise ImpossibleEvidenceError(
                f"no member of the prior {self.name} makes the code {text}", {"code": text}
            )
        logs = logs - largest - math.log(math.fsum(np.exp(logs - largest)))
        return MixturePrior(
            tuple(member.observe(code) for member in self.members),
            tuple(np.exp(logs).tolist()),
            self.name,
            tuple(logs.tolist()),
        )

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        logs: Floats = np.logaddexp.reduce(self._logs(codes), axis=0)
        return logs

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent draws of the next code, ``(n, pegs)``."""
        chosen = rng.choice(len(self.members), size=n, p=np.array(self.weights))
        codes = np.empty((n, self.board.pegs), dtype=np.uint8)
        for index, member in enumerate(self.members):
            own = np.flatnonzero(chosen == index)
            codes[own] = member.draw(len(own), rng)
        return codes

    def _logs(self, codes: NDArray[np.integer]) -> Floats:
        """Return log(w_i·p_i(s)), ``(members, m)``."""
        assert self.logs is not None
        return np.stack(
            [
                weight + member.log_probabilities(codes)
                for weight, member in zip(self.logs, self.members, strict=True)
            ]
        )
