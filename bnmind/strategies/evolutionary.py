"""Players that search for a code: their frame, simulated annealing, and a genetic algorithm.

**Colors to try.** A true reply can exclude colors for good:

* 0 black and 0 white: no color of the guess occurs in the code.
* 0 black: no position has the color that it has in the guess.
* All pegs black or white: the code has only colors of the guess.

On boards without repeats, only colors that are excluded everywhere are removed.

On large boards the first guesses can each have a single color. After them the number of pegs of
each color is known, at a price of almost one guess a color.

**Simulated annealing** guesses the best code found within a number of codes:

=======  ==================================================================
symbol   name here
=======  ==================================================================
c        the current code, at first random
f        its cost, see `code_cost`
T        the temperature
=======  ==================================================================

Each step proposes another code: with probability ½ a random pair of pegs is exchanged, otherwise a
random peg gets a random color. A better or equal code replaces the current one, a worse one
with probability exp(−(f' − f) / T). The temperature falls by the same factor at each step, from
`Cooling.start` to `Cooling.end`. A run ends at the first *eligible* code, one that agrees with all
replies; after `Cooling.steps` steps the next run starts from another random code. After `runs` runs
without an eligible code the player guesses the best code found, as the published one does when its
time is up. So the guess may be impossible although a possible code is left; `GuessInfo.note` then
says so. This happens on boards of two colors: about once in 150 searches for the last possible code
of a random game, on 4x2 and 5x2. Codes guessed in vain are never entered, and on such boards they
can wall off the code that is sought.

Runs are independent, so the eligible codes of many runs are a spread-out sample of the possible
codes. A player that collects them (`Collection`) guesses the one of the best score over the sample,
as `Genetic` does.

We know the published algorithm only from its abstract and from Snyder's summary: permutation and
mutation create new codes, a cost function measures the consistency, and the best code found within
a time limit is played. The schedule of the temperature is ours, and a limit in codes replaces the
limit in time, so that a seed determines the game.

**The genetic algorithm** of Berghman, Goossens and Leus collects eligible codes, then chooses.
After a fixed first guess, each turn starts from a random population. Every generation is bred from
the one before by crossover, mutation, permutation and inversion; a child that is in the new
generation already is replaced by a random code. The eligible codes that occur, those that agree
with all replies, are collected in a set. Once the set is full, or after a number of generations,
the player guesses the code of the set that leaves the fewest codes of the set eligible on average,
each code of the set being taken for the secret in turn. This is the expected size (`ExpectedSize`)
over a sample of the possible codes.

The paper leaves the following open; `docs/evolutionary.md` tells how much each matters:

* the selection of parents, "two parents chosen at random". With the published fitness f,
  chances proportional to b·P·(i − 1) − cost hardly prefer better codes. The default is
  1 / (1 + cost).
* the search without any eligible code after all generations: it starts again with a new random
  population, and after `Effort.restarts` of them gives up.

If the search gives up, usually because false replies contradict each other, the codes of the
smallest cost found take the place of the eligible codes.

References
----------
*Using an updated genetic algorithm to solve the Mastermind puzzle*, sections "Eliminating known
wrong colors" and "Rapid monochromatic guesses".
Bernier, Herraiz, Merelo, Olmeda and Prieto, *Solving MasterMind using GAs and simulated annealing:
a case of dynamic constraint optimization*, Parallel Problem Solving from Nature IV (1996) 554-563.
Berghman, Goossens and Leus, *Efficient solutions for Mastermind using genetic algorithms*,
Computers & Operations Research 36 (2009) 1880-1885.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Count, Positive, Value
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, Turn
from bnmind.mastermind.random_moves import draw_below, draw_uniform, seeded_state
from bnmind.strategies.best_guess import class_sizes
from bnmind.strategies.genetic_operators import (
    PLAYED,
    Archive,
    Choices,
    Rates,
    Replies,
    Selection,
    all_choices,
    choices_of,
    code_cost,
    code_costs,
    collect_best,
    draw_code,
    empty_keys,
    mutate,
    permute,
    replies_of,
)
from bnmind.strategies.scores import EntropyLeft, ExpectedSize, Score
from bnmind.strategies.strategy import FIRST_TURN, GuessInfo, Situation, UsesHistory

# --- The colors that a search tries: known facts about colors, and guesses of a single color ------


@dataclass(frozen=True)
class ColorRemoval(Value):
    """The facts that a search uses to exclude colors."""

    absent: bool = True
    """Whether to remove the colors of a guess with no peg right."""
    positions: bool = True
    """Whether to remove, in each position, the color of a guess with no black peg."""
    complete: bool = False
    """Whether to remove all other colors after a guess whose pegs are all black or white."""


@dataclass(frozen=True)
class MonochromeProbing(Value):
    """Guess the colors one by one on large boards.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    pegs: Count = 15
    """The fewest pegs of a board that counts as large."""
    colors: Count = 20
    """The fewest colors of a board that counts as large."""

    def applies_to(self, board: Board) -> bool:
        """Return whether a board is large; boards without repeats have no guess of one color.

        Parameters
        ----------
        board
            The board.
        """
        return board.repeats and board.pegs >= self.pegs and board.colors >= self.colors


def allowed_colors(
    board: Board, history: Sequence[Turn], removal: ColorRemoval
) -> NDArray[np.bool_]:
    """Return the colors that each position may have if all replies are true.

    Returns
    -------
    array
        ``(pegs, k + 1)``; column 0 is False. If the replies leave no code, they contradict each
        other, and all colors are allowed.
    """
    every = np.ones((board.pegs, board.colors + 1), dtype=np.bool_)
    every[:, 0] = False
    allowed = every.copy()
    for turn in history:
        black, white = turn.reply
        guess = list(turn.guess)
        if removal.absent and black == white == 0:
            allowed[:, guess] = False
        elif removal.positions and black == 0 and board.repeats:
            allowed[np.arange(board.pegs), guess] = False
        if removal.complete and black + white == board.pegs:
            others = np.setdiff1d(np.arange(1, board.colors + 1), guess)
            allowed[:, others] = False
    enough = allowed.any(axis=1).all() if board.repeats else allowed[0].sum() >= board.pegs
    return allowed if enough else every


def next_probe(board: Board, history: Sequence[Turn]) -> tuple[int, ...] | None:
    """Return the guess of the next color, or None once the number of pegs of each color is known.

    The last color needs no guess, and neither do colors after those that fill the code.
    """
    pegs_of = {turn.guess[0]: turn.reply.black for turn in history if len(set(turn.guess)) == 1}
    unknown = [color for color in range(1, board.colors + 1) if color not in pegs_of]
    if len(unknown) <= 1 or sum(pegs_of.values()) >= board.pegs:
        return None
    return (unknown[0],) * board.pegs


# --- First guesses of players that do not weigh all guesses ---------------------------------------


class Opening(Protocol):
    """A rule for the first guess."""

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the first guess.

        Parameters
        ----------
        board
            The board.
        rng
            The source of random numbers.
        """


@dataclass(frozen=True)
class FixedOpening(Value):
    """A code of one board, such as (1, 1, 2, 2) at 4x6."""

    code: Sequence[int]
    """The first guess, colors 1..k."""

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the code.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
        """
        return board.checked(self.code)


@dataclass(frozen=True)
class RandomOpening(Value):
    """A random code of the board."""

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return a random code; all are equally probable."""
        if not board.repeats:
            colors = 1 + rng.permutation(board.colors)[: board.pegs]
        else:
            colors = rng.integers(1, board.colors + 1, size=board.pegs)
        return tuple(colors.tolist())


@dataclass(frozen=True)
class PatternOpening(Value):
    """Colors in ascending order, some of them on two pegs: 1123 at 4x6.

    1123 at 4x6 is the opening of Berghman, Goossens and Leus. On other boards the number of doubled
    colors is half the number of pegs, one less below ten pegs: 11223345 at 8x12, 1122334455 at
    10x12. On the boards from 4x6 to 12x14 these are the openings whose reply has the largest
    entropy, or within .02 bits of it. Boards with too few colors have further pegs of a color;
    boards without repeats have no doubled color.
    """

    def guess(self, board: Board, rng: np.random.Generator) -> tuple[int, ...]:
        """Return the first guess; it does not depend on `rng`."""
        if not board.repeats:
            return tuple(range(1, board.pegs + 1))
        doubled = max(0, board.pegs // 2 - (board.pegs < 10))
        distinct = min(board.colors, board.pegs - doubled)
        standing = [board.pegs // distinct + (i < board.pegs % distinct) for i in range(distinct)]
        return tuple(color for color, n in enumerate(standing, 1) for _ in range(n))


# --- The frame of players that search for a code: opening, colors to try, and the reasons given ---


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

    deterministic = False
    """The search is random."""

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


# --- The choice among eligible codes, by the reply classes of each within them --------------------


def best_of(
    board: Board,
    codes: NDArray[np.uint8],
    score: Score,
    *,
    turn: int,
    most_guesses: int,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Return the place of a code of the best score among codes, and the number of ties.

    Parameters
    ----------
    board
        The board.
    codes
        ``(codes, pegs)``, eligible codes; each is taken for the secret once.
    score
        The score of the reply classes. `ExpectedSize` is the similarity of Berghman, Goossens and
        Leus: the mean number of these codes that stay eligible.
    turn
        The number of guesses made.
    most_guesses
        The largest number of codes to try as guesses; beyond that, random ones are tried.
    rng
        Draws these, and breaks ties.
    """
    n = len(codes)
    ordered, places = codes, np.arange(n)
    if n > most_guesses:
        places = rng.permutation(n)
        ordered = np.ascontiguousarray(codes[places])
    sizes = class_sizes(board, ordered, min(n, most_guesses))
    tied = score.terms(board, n).best(sizes, turn)
    chosen = int(tied[rng.integers(len(tied))])
    return int(places[chosen]), len(tied)


# --- Simulated annealing: the best code found within a number of codes ----------------------------


_CODES_FOR_EACH = 20  # code of the board: a larger search would only see small boards again


@dataclass(frozen=True)
class Cooling(Value):
    """The schedule of the temperature.

    Raises
    ------
    InvalidArgumentError
        Unless start ≥ end > 0 and there is a step.
    """

    start: Positive = 2.0
    """The first temperature, in units of the cost."""
    end: Positive = 0.3
    """The last temperature."""
    steps: Count = 5000
    """The number of steps."""

    def _faults(self) -> Iterator[str]:
        if self.end > self.start:
            yield f"expected temperatures that fall, got {self.start} to {self.end}"


@dataclass(frozen=True, kw_only=True)
class Collection(Value):
    """The number of eligible codes to find, and the choice among them.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    codes: Count = 1
    """The number of eligible codes that ends the search."""
    patience: Count = 1
    """The number of runs in a row without a new eligible code that ends the search once there is
    one."""
    choice: Score = field(default_factory=EntropyLeft)
    """The score of eligible codes as guesses, over the codes found."""
    guesses: Count = 10**6
    """The largest number of codes that the choice compares as guesses."""
    keeps: bool = False
    """Whether the codes found are kept for the next turn, where some are still eligible."""


@dataclass(frozen=True, kw_only=True)
class Annealing(SearchesCodes, Value):
    """Guess the best code that simulated annealing finds.

    If no code that agrees with all replies is found in `runs` runs, the guess is the code that is
    closest to agreeing, and the note of `GuessInfo` says by how many pegs it differs.

    Raises
    ------
    InvalidArgumentError
        If the number of runs is below 1.
    """

    name: str = "annealing"
    """The name of the strategy at the command line and in files."""
    cooling: Cooling = field(default_factory=Cooling)
    """The schedule of the temperature of a run."""
    runs: Count = 10
    """The number of runs without an eligible code after which the search gives up."""
    collection: Collection = field(default_factory=Collection)
    """The number of eligible codes to find, and the choice among them."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        board, wanted = belief.board, self.collection
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        most = _CODES_FOR_EACH * board.n_codes
        schedule = (self.cooling.start, self.cooling.end, min(self.cooling.steps, most))
        state = seeded_state(rng)
        # A dictionary, as sets have no order.
        eligible = dict.fromkeys(_still_eligible(memory, board, replies)) if wanted.keeps else {}
        best, least = np.zeros(board.pegs, dtype=np.uint8), 4 * PLAYED
        evaluated = in_vain = 0
        while len(eligible) < wanted.codes and in_vain < (
            wanted.patience if eligible else min(self.runs, most // schedule[2] + 1)
        ):
            code = np.zeros(board.pegs, dtype=np.uint8)
            cost, steps = anneal(code, replies, choices, schedule, state)
            evaluated += steps
            if cost < least:
                best, least = code, cost
            in_vain += 1
            if cost == 0 and code.tobytes() not in eligible:
                eligible[code.tobytes()] = None
                in_vain = 0
        if not eligible:
            return Found(tuple(best.tolist()), least, evaluated)
        codes = np.frombuffer(b"".join(eligible), dtype=np.uint8).reshape(-1, board.pegs)
        place, tied = best_of(
            board,
            codes,
            wanted.choice,
            turn=len(belief.history),
            most_guesses=wanted.guesses,
            rng=rng,
        )
        kept = Population.of(board, codes) if wanted.keeps else None
        return Found(tuple(codes[place].tolist()), 0, evaluated, tied=tied, memory=kept)


def annealing_tuned() -> Annealing:
    """Return the player that took the fewest guesses on large boards.

    It collects up to 1,000 eligible codes, keeps them for the next turn, and guesses the one of the
    largest entropy of the reply.
    """
    return Annealing(
        name="annealing-tuned",
        runs=300,
        collection=Collection(codes=1000, patience=50, guesses=200, keeps=True),
    )


def _still_eligible(memory: object, board: Board, replies: Replies) -> list[bytes]:
    """Return the codes of the memory that agree with all replies."""
    codes = Population.kept(memory, board)
    return [code.tobytes() for code in codes[code_costs(codes, replies) == 0]]


@njit
def anneal(
    best: NDArray[np.uint8],
    replies: Replies,
    choices: Choices,
    schedule: tuple[float, float, int],
    state: NDArray[np.uint64],
) -> tuple[int, int]:
    """Run the annealing once.

    Returns
    -------
    least, evaluated
        The smallest cost, whose code is written into `best`, and the number of codes evaluated.
    """
    start, end, steps = schedule
    factor = (end / start) ** (1.0 / steps)
    code, other = np.empty_like(best), np.empty_like(best)
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    draw_code(code, choices, state)
    cost = code_cost(code, replies, counts)
    temperature = start
    least = cost + 1
    for step in range(steps):
        if cost < least:
            least = cost
            best[:] = code
            if cost == 0:
                return least, step + 1
        other[:] = code
        if draw_below(state, 2):
            permute(other, choices, state)
        else:
            mutate(other, choices, state)
        new = code_cost(other, replies, counts)
        # A code that was guessed in vain is never accepted.
        if new <= cost or (
            new < PLAYED and draw_uniform(state) < math.exp((cost - new) / temperature)
        ):
            code[:] = other
            cost = new
        temperature *= factor
    if cost < least:
        least = cost
        best[:] = code
    return least, steps + 1


# --- The genetic algorithm of Berghman, Goossens and Leus: collect eligible codes, then choose ----


_TURN_WEIGHT = 2  # b


@dataclass(frozen=True, kw_only=True)
class Effort(Value):
    """The size of a genetic search; the defaults are those of the paper.

    Raises
    ------
    InvalidArgumentError
        If a number is below 1.
    """

    population: Count = 150
    """The number of codes of a generation."""
    generations: Count = 100
    """The largest number of generations after the first one."""
    eligible: Count = 60
    """The number of eligible codes that ends the search."""
    patience: Count = 10**6
    """The number of generations without a new eligible code that ends the search once there is
    one. The paper has no such rule."""
    guesses: Count = 10**6
    """The largest number of eligible codes that the choice compares as guesses."""
    restarts: Count = 10
    """The number of populations to try until one contains an eligible code."""


@dataclass(frozen=True, kw_only=True)
class Genetic(SearchesCodes, Value):
    """Collect eligible codes with a genetic algorithm, and guess the most informative of them.

    Raises
    ------
    InvalidArgumentError
        If a rate is not from 0 to 1.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply
    >>> player = Genetic()
    >>> belief = player.start(Channel.exact(Board(6, 9)).revealed())
    >>> guess, _ = player.choose(belief, np.random.default_rng(0))
    >>> belief.board.code(guess)
    (1, 1, 2, 2, 3, 4)
    """

    name: str = "genetic"
    """The name of the strategy at the command line and in files."""
    effort: Effort = field(default_factory=Effort)
    """The size of the search."""
    rates: Rates = field(default_factory=Rates)
    """The rates of the operators."""
    selection: Selection = Selection.INVERSE
    """The chances of codes to become parents."""
    choice: Score = field(default_factory=ExpectedSize)
    """The score of eligible codes as guesses, over the set of eligible codes."""
    keeps: bool = False
    """Whether the eligible codes of a turn start the population of the next one."""
    setup: Setup = field(default_factory=Setup)
    """The first guess and the colors to try."""

    def _faults(self) -> Iterator[str]:
        yield from faults_of_rates(self.rates)

    def search(self, belief: Belief, rng: np.random.Generator, memory: object) -> Found:
        """Return the code to guess after some replies."""
        board, effort = belief.board, self.effort
        replies, choices = self.setup.replies(belief), self.setup.choices(belief)
        archive = _empty_archive(effort.eligible, board.pegs)
        population = np.zeros((effort.population, board.pegs), dtype=np.uint8)
        kept = Population.kept(memory if self.keeps else None, board)
        kept = kept[np.argsort(code_costs(kept, replies), kind="stable")][: len(population)]
        n_given = len(kept)
        population[:n_given] = kept
        state = seeded_state(rng)
        top = _TURN_WEIGHT * board.pegs * len(belief.history)
        most = _CODES_FOR_EACH * board.n_codes
        generations = min(effort.generations, most // effort.population + 1)
        for _ in range(effort.restarts):
            plan = (generations, effort.patience, self.selection.value, top, n_given)
            collect_best(population, archive, replies, choices, self.rates, plan, state)
            n_given = 0
            if not archive.counts[1] or archive.counts[2] > most:
                break
        n, cost, evaluated = archive.counts.tolist()
        codes = archive.codes[:n]
        turn = len(belief.history)
        place, tied = best_of(
            board, codes, self.choice, turn=turn, most_guesses=effort.guesses, rng=rng
        )
        kept_codes = Population.of(board, codes) if self.keeps else None
        guess = tuple(codes[place].tolist())
        return Found(guess, cost, evaluated, tied=tied, memory=kept_codes)


def genetic_tuned() -> Genetic:
    """Return the player with a larger search than that of the paper, for large boards.

    It takes about as many guesses as `Genetic`; `annealing_tuned` takes fewer.
    Compared with the paper: a large set of eligible codes that is kept for the next turn, high
    rates of mutation and permutation, and the code of the largest entropy of the reply.
    """
    return Genetic(
        name="genetic-tuned",
        effort=Effort(population=400, generations=300, eligible=1000, guesses=200, patience=20),
        rates=Rates(mutation=0.3, permutation=0.3, inversion=0.1),
        selection=Selection.BEST_HALF,
        choice=EntropyLeft(),
        keeps=True,
    )


def _empty_archive(room: int, pegs: int) -> Archive:
    codes: NDArray[np.uint8] = np.zeros((room, pegs), dtype=np.uint8)
    counts = np.array([0, 4 * PLAYED, 0], dtype=np.int64)
    return Archive(codes, empty_keys(room), counts)
