"""Priors over the colors of a code: of tournament code-makers, of fixed colors, and learning ones.

==================  ================================================================================
prior               the code-maker
==================  ================================================================================
`Alternating`       alternates between two colors
`FirstLastEqual`    gives the first and the last peg the same color
`OnlyColors`        uses only some of the colors
`OnlyOnce`          uses each color at most once
`ColorPool`         first chooses a few colors, then each peg from these colors
`FixedColors`       draws each peg by itself, with fixed probabilities of the colors
`LearnedColors`     has favorite colors at each position, which are learned
`NumberOfColors`    prefers codes of many or few different colors
`LearnedNumber`     the same, learned
==================  ================================================================================

*Favorite colors.* The pegs are independent. The unknown probabilities of the colors at a position
have a symmetric Dirichlet distribution of parameter α. After N codes, c of which have a color at a
position, the next code has that color there with probability (c + α) / (N + α·k).

*Numbers of colors.* Notation: n pegs, k colors, d different colors in the code. S(n, d) is the
number of sequences of length n that use all of d colors; the board has C(k, d)·S(n, d) codes of d
colors. If the number is learned, the unknown probabilities of codes of d colors have a Dirichlet
distribution whose mean is their frequency among all codes of the board, so the first code is
uniform.

References
----------
The code-makers "two-color-alternating", "first-and-last", "ab-color", "only-once", "two-color",
"usually-fewer" and "prefer-fewer" of the tournament in which the authors of *An Updated Genetic
Algorithm for Mastermind* played. Gelman et al., *Bayesian Data Analysis*, third edition, section
3.4.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from annotated_types import Gt
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._messages import shown
from bnmind._values import Chances, Finite, Natural, Positive, Shape, chances, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.prior import (
    ClosedFormPrior,
    Codes,
    code_array,
    distinct_colors,
    drawn_colors,
    logs_of,
)

_AT_EACH_PEG = Shape("board.pegs", "board.colors")

# --- A code-maker that alternates between two colors ----------------------------------------------


@dataclass(frozen=True)
class Alternating(ClosedFormPrior):
    """The prior that is uniform over the codes ABAB… of two different colors.

    Examples
    --------
    >>> Alternating(Board(4, 6)).distribution().possible_codes()
    30
    """

    board: Board
    """The board of the codes, of at least two pegs; if of more, colors may repeat."""
    name = "alternating"
    """The name of the prior at the command line and in files."""

    def _faults(self) -> Iterator[str]:
        if self.board.pegs < 2 or (self.board.pegs > 2 and not self.board.repeats):
            more = "at least two pegs, and repeats if there are more"
            yield f"the prior alternating needs {more}, got {self.board}"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        alternates = (codes[:, 0] != codes[:, 1]) & (codes[:, 2:] == codes[:, :-2]).all(axis=1)
        return np.where(alternates, -math.log(math.perm(self.board.colors, 2)), -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        return drawn_colors(self.board, n, rng)[:, np.arange(self.board.pegs) % 2]


# --- A code-maker whose first and last peg have the same color ------------------------------------


@dataclass(frozen=True)
class FirstLastEqual(ClosedFormPrior):
    """The prior that is uniform over the codes whose first and last peg have the same color.

    Examples
    --------
    >>> FirstLastEqual(Board(4, 6)).distribution().possible_codes()
    216
    """

    board: Board
    """The board of the codes; colors may repeat."""
    _needs_repeats = True
    name = "first-last-equal"
    """The name of the prior at the command line and in files."""

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        free = max(1, self.board.pegs - 1)
        equal = codes[:, 0] == codes[:, -1]
        return np.where(equal, -free * math.log(self.board.colors), -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        shape = (n, self.board.pegs)
        codes = rng.integers(1, self.board.colors, size=shape, dtype=np.uint8, endpoint=True)
        codes[:, -1] = codes[:, 0]
        return codes


# --- A code-maker that uses only some of the colors -----------------------------------------------


@dataclass(frozen=True)
class OnlyColors(ClosedFormPrior):
    """The prior that is uniform over the codes of some colors.

    Examples
    --------
    >>> prior = OnlyColors(Board(4, 6), (1, 2))
    >>> prior.name, prior.distribution().possible_codes()
    ('only-colors:1+2', 16)
    """

    board: Board
    """The board of the codes."""
    colors: Annotated[tuple[int, ...], lambda colors: tuple(sorted(set(colors)))]
    """The colors that the code-maker uses."""

    def _faults(self) -> Iterator[str]:
        most, least = self.board.colors, 1 if self.board.repeats else self.board.pegs
        if not least <= len(self.colors) or not 1 <= self.colors[0] <= self.colors[-1] <= most:
            yield f"expected at least {least} of the colors 1 to {most}, got {self.colors}"

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return f"only-colors:{'+'.join(map(str, self.colors))}"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        usual = np.zeros(self.board.colors + 1, dtype=np.bool_)
        usual[list(self.colors)] = True
        number, pegs = len(self.colors), self.board.pegs
        n_codes = number**pegs if self.board.repeats else math.perm(number, pegs)
        return np.where(usual[codes].all(axis=1), -math.log(n_codes), -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        colors = np.array(self.colors, dtype=np.uint8)
        if self.board.repeats:
            return rng.choice(colors, size=(n, self.board.pegs))
        return rng.permuted(np.tile(colors, (n, 1)), axis=1)[:, : self.board.pegs]


# --- A code-maker that uses each color at most once -----------------------------------------------


@dataclass(frozen=True)
class OnlyOnce(ClosedFormPrior):
    """The prior that is uniform over the codes without repeated colors.

    Guesses may repeat colors, unlike on a board without repeats.

    Examples
    --------
    >>> OnlyOnce(Board(4, 6)).distribution().possible_codes()
    360
    """

    board: Board
    """The board of the codes, with at least as many colors as pegs."""
    name = "only-once"
    """The name of the prior at the command line and in files."""

    def _faults(self) -> Iterator[str]:
        if self.board.pegs > self.board.colors:
            yield f"the prior only-once needs at least as many colors as pegs, got {self.board}"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        pegs = self.board.pegs
        probability = -math.log(math.perm(self.board.colors, pegs))
        return np.where(distinct_colors(codes) == pegs, probability, -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        return drawn_colors(self.board, n, rng)[:, : self.board.pegs]


# --- A code-maker that draws each peg by itself, with fixed probabilities of the colors -----------


@dataclass(frozen=True, eq=False)
class FixedColors(ClosedFormPrior):
    """The prior of independent pegs, each with given probabilities of the colors.

    Examples
    --------
    >>> prior = FixedColors.from_weights(Board(2, 3), [2, 1, 1])
    >>> prior.name, round(prior.distribution().probability((1, 2)), 6)
    ('fixed:0.5,0.25,0.25', 0.125)
    """

    board: Board
    """The board of the codes; colors may repeat."""
    _needs_repeats = True
    probabilities: Annotated[Floats, chances(each=" at each position"), _AT_EACH_PEG]
    """``(pegs, colors)``, read-only; each row sums to one."""

    @classmethod
    @checked
    def from_weights(cls, board: Board, weights: ArrayLike) -> FixedColors:
        """Return the prior with probabilities proportional to the weights.

        Parameters
        ----------
        board
            The board of the codes.
        weights
            ``(colors,)``, the same for all positions, or ``(pegs, colors)``; not negative.

        Raises
        ------
        InvalidArgumentError
            If there are not as many weights as colors, a weight is negative or not finite, or all
            weights of a position are zero.
        """
        values = np.array(number_array(weights, "the weights of the colors"))
        if values.shape not in ((board.colors,), (board.pegs, board.colors)):
            raise InvalidArgumentError(
                f"expected {board.colors} weights, one for each color, or {board.pegs} positions of"
                f" {board.colors} weights, got {shown(weights)}",
                weights,
            )
        rows = np.broadcast_to(values, (board.pegs, board.colors))
        totals = rows.sum(axis=1, keepdims=True)
        if not ((rows >= 0).all() and np.isfinite(rows).all() and (totals > 0).all()):
            raise InvalidArgumentError(
                "expected weights of colors that are not negative and, at each position, not all"
                f" zero, got {shown(weights)}",
                weights,
            )
        return cls(board, rows / totals)

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        rows = [",".join(f"{p:.6g}" for p in row) for row in self.probabilities]
        return f"fixed:{rows[0] if len(set(rows)) == 1 else '/'.join(rows)}"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.probabilities)
        positions = np.arange(self.board.pegs)
        total: Floats = logs[positions, np.asarray(codes, dtype=np.intp) - 1].sum(axis=1)
        return total

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        columns = [
            rng.choice(self.board.colors, size=n, p=row / row.sum()) for row in self.probabilities
        ]
        return code_array(np.column_stack(columns) + 1)


def parse_fixed_colors(board: Board, text: str) -> FixedColors:
    """Parse weights of colors: numbers between commas, positions between slashes.

    Raises
    ------
    InvalidArgumentError
        If the text has another form, or does not fit the board.
    """
    rows: list[Sequence[float]] = []
    for row in text.split("/"):
        try:
            rows.append([float(word) for word in row.split(",")])
        except ValueError:
            raise InvalidArgumentError(
                "expected numbers between commas after fixed:, one for each color, and a slash"
                f" between positions if they differ, got {shown(text)}",
                text,
            ) from None
    if len({len(row) for row in rows}) > 1:
        raise InvalidArgumentError(
            f"expected {board.colors} numbers at each position after fixed:, got {shown(text)}",
            text,
        )
    return FixedColors.from_weights(board, rows[0] if len(rows) == 1 else rows)


# --- A prior that learns the favorite colors of a code-maker at each position ---------------------


@dataclass(frozen=True, eq=False)
class LearnedColors(ClosedFormPrior):
    """The prior of the next code, given the colors of the earlier ones, position by position.

    Examples
    --------
    >>> prior = LearnedColors.start(Board(2, 3)).observe((1, 2)).observe((1, 3))
    >>> prior.expected.probabilities[0].tolist()
    [0.6, 0.2, 0.2]
    """

    board: Board
    """The board of the codes; colors may repeat."""
    _needs_repeats = True
    counts: Annotated[Floats, Gt(0), Finite, _AT_EACH_PEG]
    """``(pegs, colors)``, the number of earlier codes with each color at each position, plus α;
    positive and read-only."""
    name = "learned-colors"
    """The name of the prior at the command line and in files."""

    @classmethod
    @checked
    def start(cls, board: Board, alpha: float = 1.0) -> LearnedColors:
        """Return the prior before the first code, which is uniform.

        Parameters
        ----------
        board
            The board.
        alpha
            The pseudo-count of each color at each position, above 0.
        """
        return cls(board, np.full((board.pegs, board.colors), float(alpha)))

    @property
    def expected(self) -> FixedColors:
        """The expected probabilities of the colors, which are those of the next code."""
        return FixedColors(self.board, self.counts / self.counts.sum(axis=1, keepdims=True))

    @checked
    def observe(self, code: Sequence[int]) -> LearnedColors:
        """Return the prior of the next code after another code."""
        counts = self.counts.copy()
        counts[np.arange(self.board.pegs), np.array(self.board.checked(code)) - 1] += 1
        return LearnedColors(self.board, counts)

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        return self.expected.log_probabilities(codes)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent draws of the next code, ``(n, pegs)``."""
        return self.expected.draw(n, rng)


# --- Code-makers that first choose a few colors, then each peg from these colors ------------------


_PREFERRED = (0.50, 0.25, 0.13, 0.08, 0.03)  # the rest is shared by six and more colors


@dataclass(frozen=True)
class ColorPool(ClosedFormPrior):
    """The prior of a code-maker that chooses the colors of a code before the code.

    The code-maker draws a number m, then m of the k colors, then each peg from these m colors,
    all uniformly. A code of d colors therefore has the probability

        Σ_m P(m) · C(k − d, m − d) / C(k, m) · m⁻ⁿ.

    Examples
    --------
    >>> prior = two_color(Board(4, 6))
    >>> codes = np.array([[1, 1, 1, 1], [1, 1, 2, 2], [1, 1, 2, 3]])
    >>> [round(1 / p) if p else "never" for p in np.exp(prior.log_probabilities(codes)).tolist()]
    [48, 240, 'never']
    """

    board: Board
    """The board of the codes; colors may repeat."""
    _needs_repeats = True
    sizes: Annotated[tuple[float, ...], Chances, Shape("board.colors")]
    """The probability of a pool of 1, 2, …, k colors; they sum to one."""
    name: str = "color-pool"
    """The name of the prior at the command line and in files."""

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        k, pegs = self.board.colors, self.board.pegs
        by_number = np.full(min(k, pegs) + 1, -np.inf)
        for d in range(1, len(by_number)):
            terms = [
                math.log(p)
                + math.log(math.comb(k - d, m - d))
                - math.log(math.comb(k, m))
                - pegs * math.log(m)
                for m, p in enumerate(self.sizes, start=1)
                if m >= d and p > 0
            ]
            if terms:
                by_number[d] = np.logaddexp.reduce(terms)
        return by_number[distinct_colors(codes)]

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        sizes = rng.choice(self.board.colors, size=n, p=np.array(self.sizes)) + 1
        pools = drawn_colors(self.board, n, rng)
        places = rng.integers(0, sizes[:, None], size=(n, self.board.pegs))
        return np.take_along_axis(pools, places, axis=1)


def two_color(board: Board) -> ColorPool:
    """Return the prior of a code-maker that uses two colors, both or one of them.

    Parameters
    ----------
    board
        The board.
    """
    return ColorPool(board, _sizes(board, [(2, 1.0)]), "two-color")


def usually_fewer(board: Board) -> ColorPool:
    """Return the prior of a code-maker that chooses two or three colors nine times out of ten.

    The tenth time it uses all colors.

    Parameters
    ----------
    board
        The board.
    """
    return ColorPool(
        board, _sizes(board, [(2, 0.45), (3, 0.45), (board.colors, 0.1)]), "usually-fewer"
    )


def prefer_fewer(board: Board) -> ColorPool:
    """Return the prior of a code-maker that chooses one color in half of all games.

    It chooses two colors with probability 0.25, three with 0.13, four with 0.08, five with 0.03,
    and six or more with 0.01, all these numbers alike.

    Parameters
    ----------
    board
        The board.
    """
    more = range(6, max(board.colors, 6) + 1)
    sizes = [*enumerate(_PREFERRED, start=1), *((m, 0.01 / len(more)) for m in more)]
    return ColorPool(board, _sizes(board, sizes), "prefer-fewer")


def _sizes(board: Board, wanted: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """Return the probability of each size; more colors than the board has mean all of them."""
    sizes = [0.0] * board.colors
    for m, p in wanted:
        sizes[min(m, board.colors) - 1] += p
    total = math.fsum(sizes)
    return tuple(p / total for p in sizes)


# --- A prior that depends on the number of different colors in a code -----------------------------


DEFAULT_STRENGTH = 1.0
"""The usual strength of the preference for fewer colors."""


@dataclass(frozen=True)
class NumberOfColors(ClosedFormPrior):
    """The prior that gives all codes of d colors the same probability.

    Examples
    --------
    >>> prior = fewer_colors(Board(4, 6), 1.0)
    >>> p = prior.distribution()
    >>> round(p.probability((1, 1, 2, 2)) / p.probability((1, 1, 2, 3)), 6) == round(math.e, 6)
    True
    """

    board: Board
    """The board of the codes; colors may repeat."""
    _needs_repeats = True
    numbers: Annotated[tuple[float, ...], Chances, Shape("board.most_colors")]
    """The probability that a code has 1, 2, …, min(n, k) colors; they sum to one."""
    name: str = "number-of-colors"
    """The name of the prior at the command line and in files."""
    logs: tuple[float, ...] | None = None
    """The natural logarithms of `numbers`, for probabilities that are too small for a number;
    computed if None."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(logs=logs_of(self.numbers, self.logs))

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        counts = codes_by_number(self.board)
        assert self.logs is not None
        by_number = [log - math.log(n) for log, n in zip(self.logs, counts, strict=True)]
        return np.array([-np.inf, *by_number])[distinct_colors(codes)]

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``.

        Each peg of a code of d colors is a new color with the probability that this happens in
        a uniform draw from all sequences that use all d colors.
        """
        pegs = self.board.pegs
        numbers = rng.choice(len(self.numbers), size=n, p=np.array(self.numbers)) + 1
        chances = _chances_of_new(pegs, len(self.numbers))
        used = np.zeros(n, dtype=np.intp)
        places = np.empty((n, pegs), dtype=np.intp)
        for peg in range(pegs):
            is_new = rng.random(n) < chances[peg, numbers, used]
            places[:, peg] = np.where(is_new, used, rng.integers(0, np.maximum(used, 1)))
            used += is_new
        return np.take_along_axis(drawn_colors(self.board, n, rng), places, axis=1)


def fewer_colors(board: Board, strength: float = DEFAULT_STRENGTH) -> NumberOfColors:
    """Return the prior that prefers codes of fewer colors.

    Parameters
    ----------
    board
        The board of the codes.
    strength
        The probability of a code is proportional to exp(−strength · number of its colors). Zero is
        the uniform prior; a negative number prefers more colors.

    Raises
    ------
    InvalidArgumentError
        If the strength is not a number from −100 to 100.
    """
    if not abs(strength) <= 100:
        raise InvalidArgumentError(
            f"expected a strength from -100 to 100, got {strength}", strength
        )
    name = "fewer-colors" if strength == DEFAULT_STRENGTH else f"fewer-colors:{strength:g}"
    counts = codes_by_number(board)
    logs = np.array([math.log(n) - strength * d for d, n in enumerate(counts, start=1)])
    return number_from_logs(board, logs, name)


def number_from_logs(board: Board, logs: Floats, name: str) -> NumberOfColors:
    """Return the prior whose numbers of colors have these log weights, up to a constant."""
    relative = logs - logs.max()
    exact = relative - math.log(math.fsum(np.exp(relative)))
    return NumberOfColors(board, tuple(np.exp(exact).tolist()), name, tuple(exact.tolist()))


def codes_by_number(board: Board) -> tuple[int, ...]:
    """Return the number of codes of 1, 2, …, min(n, k) colors: C(k, d)·S(n, d), with repeats."""
    n, k = board.pegs, board.colors
    return tuple(
        math.comb(k, d) * sum((-1) ** i * math.comb(d, i) * (d - i) ** n for i in range(d))
        for d in range(1, min(n, k) + 1)
    )


@lru_cache(maxsize=32)
def _chances_of_new(pegs: int, most: int) -> Floats:
    """Return the probability that a peg has a new color, by the peg, d and the colors used.

    Let N(r, j) be the number of ways to continue with r pegs when j of the d colors are used, so
    that all d are used at the end: N(r, j) = j·N(r − 1, j) + (d − j)·N(r − 1, j + 1).
    """
    chances = np.zeros((pegs, most + 1, most + 1))
    for d in range(1, most + 1):
        ways = [0] * d + [1, 0]  # N(0, j) for j = 0 … d + 1
        for left in range(1, pegs + 1):
            new = [(d - j) * ways[j + 1] for j in range(d + 1)]
            longer = [j * ways[j] + new[j] for j in range(d + 1)]
            for j in range(d + 1):
                chances[pegs - left, d, j] = new[j] / longer[j] if longer[j] else 0.0
            ways = [*longer, 0]
    return sealed(chances)


# --- A prior that learns how many different colors a code-maker uses ------------------------------


@dataclass(frozen=True)
class LearnedNumber(ClosedFormPrior):
    """The prior of the next code, given the numbers of colors of the earlier ones.

    Examples
    --------
    >>> prior = LearnedNumber.start(Board(4, 6)).observe((1, 1, 2, 2))
    >>> [round(p, 3) for p in prior.expected.numbers]
    [0.002, 0.581, 0.278, 0.139]
    """

    board: Board
    """The board of the codes; colors may repeat."""
    _needs_repeats = True
    seen: Annotated[tuple[Natural, ...], Shape("board.most_colors")]
    """The number of earlier codes of 1, 2, …, min(n, k) colors."""
    alpha: Positive = 1.0
    """The weight of the frequencies among all codes, in codes; positive."""
    name = "learned-number"
    """The name of the prior at the command line and in files."""

    @classmethod
    @checked
    def start(cls, board: Board, alpha: float = 1.0) -> LearnedNumber:
        """Return the prior before the first code, which weighs as much as `alpha` codes.

        Parameters
        ----------
        board
            The board.
        alpha
            The number of codes that the uniform start counts for, above 0.
        """
        return cls(board, (0,) * board.most_colors, alpha)

    @property
    def expected(self) -> NumberOfColors:
        """The expected probabilities of the numbers, which are those of the next code."""
        counts = codes_by_number(self.board)
        # The frequency of the codes of few colors may be too small for a number.
        before = [math.log(count) - math.log(self.board.n_codes) for count in counts]
        with np.errstate(divide="ignore"):
            seen = np.log(np.array(self.seen, dtype=np.float64))
        logs = np.logaddexp(seen, math.log(self.alpha) + np.array(before))
        return number_from_logs(self.board, logs, "number-of-colors")

    @checked
    def observe(self, code: Sequence[int]) -> LearnedNumber:
        """Return the prior of the next code after another code."""
        number = len(set(self.board.checked(code)))
        seen = tuple(count + (d == number) for d, count in enumerate(self.seen, start=1))
        return LearnedNumber(self.board, seen, self.alpha)

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        return self.expected.log_probabilities(codes)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent draws of the next code, ``(n, pegs)``."""
        return self.expected.draw(n, rng)
