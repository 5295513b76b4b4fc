"""Strategies whose tree is built before the game begins: optimal ones, and deeper searches.

**Beam search** looks further ahead than one guess, where the optimum cannot be computed:

============  ================================================================
sets          search
============  ================================================================
large sets    try the guesses with the best estimates, search the sets that
              they leave in the same way, down to endgames, and keep the
              smallest total; symmetry leaves few first and second guesses
other sets    are endgames (`Endgame`): search with few candidate guesses while
              guesses of large sets are chosen, and finally with more
              candidates for the guesses that were chosen
============  ================================================================

**Endgames** are sets of up to a few thousand codes, on boards of any size. An endgame is a game of
its own: the codes of the set, and the guesses with the best estimates. The branch and bound of
`bnmind.strategies.optimum` searches this game, but tries only some guesses for each set, those with
the best estimates first. With all guesses in the game, and all of them tried, the strategy is
optimal.

The estimate of a guess is the sum of the estimates of its classes (`set_estimates`).

References
----------
K. Koyama and T. W. Lai, An optimal Mastermind strategy, Journal of Recreational Mathematics
25 (1993) 251-256, search in this way with all guesses. Beam search tries only the guesses with the
best heuristic values.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Count, Probability, Value
from bnmind.errors import TooLargeError
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board, Turn
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import replies_of
from bnmind.strategies.best_guess import (
    UNWANTED,
    BoardArrays,
    board_arrays,
    estimate_guesses,
    replies_of_guesses,
)
from bnmind.strategies.greedy import MAX_TREE_CODES, is_growable, smallest_guesses
from bnmind.strategies.optimum import (
    BoardSearch,
    Optimum,
    ProgressOfSearch,
    SearchRules,
    best_known,
    optimal_in_worst_case,
    optimal_on_average,
    require_set,
)
from bnmind.strategies.players import Among, Myopic
from bnmind.strategies.scores import MostParts, WorstCase
from bnmind.strategies.search_arrays import (
    BOUNDED,
    INFINITE,
    LANE,
    MOST_REPLIES,
    N_TRIED,
    Game,
    Memo,
    Task,
    Work,
    capacities,
    find,
    lower_bounds,
    make_memo,
    make_work,
    no_symmetry,
    random_words,
)
from bnmind.strategies.strategy import (
    FIRST_TURN,
    Goal,
    GuessInfo,
    Needs,
    Situation,
    Strategy,
    TrustsReplies,
    distribution_of,
)
from bnmind.strategies.tree import (
    StrategyTree,
    TreeNode,
    build_tree,
    node_of_codes,
    places_of_outcomes,
)
from bnmind.strategies.tree_search import search

# --- Strategies whose whole tree is built before the game begins ----------------------------------


class PlansAhead(ABC):
    """A strategy whose whole tree is built before the game begins."""

    @abstractmethod
    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board, under true replies.

        Parameters
        ----------
        board
            The board.
        """


@checked
def ignores_prior(strategy: Strategy) -> bool:
    """Return whether a strategy does not use the prior.

    Such strategies use nothing but the history, or play a tree for uniform codes. If a game leaves
    the tree, they omit the codes that the prior excludes.

    Parameters
    ----------
    strategy
        The strategy.

    Examples
    --------
    >>> from bnmind.strategies import Entropy, Optimal
    >>> ignores_prior(Entropy()), ignores_prior(Optimal())
    (False, True)
    """
    return strategy.needs is Needs.HISTORY or isinstance(strategy, PlansAhead)


class Planner(ABC):
    """A slow maker of trees that reports its progress."""

    @abstractmethod
    def __call__(
        self, board: Board, *, progress: Callable[[int, int], None] | None = None
    ) -> StrategyTree:
        """Return the tree for a board, under true replies.

        Parameters
        ----------
        board
            The board.
        progress
            Called from time to time with the amount of work done and the total amount.
        """


@dataclass(frozen=True)
class Planned(TrustsReplies, PlansAhead, Value):
    """Play the guesses of a tree, assuming true replies whatever the channel is.

    If the tree does not contain the history, because replies contradict each other, the strategy
    guesses the first of the codes that contradict the fewest replies.

    Examples
    --------
    >>> from bnmind.strategies import Knuth, build_tree
    >>> def plan(board: Board) -> StrategyTree:
    ...     return build_tree(Knuth(), Channel.exact(board))
    >>> belief = Planned("by heart", plan).start(Channel.exact(Board(4, 6)))
    >>> Board(4, 6).code(Planned("by heart", plan).choose(belief, np.random.default_rng())[0])
    (1, 1, 2, 2)
    """

    name: str
    """The name of the strategy at the command line and in files."""
    plan: Callable[[Board], StrategyTree]
    """The function that makes the tree for a board, under true replies; its results are cached."""

    deterministic = True
    """The history alone determines the choice."""

    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board.

        Parameters
        ----------
        board
            The board.
        """
        return _tree(self.plan, board)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the tree after the history of the belief."""
        board, possible = belief.board, np.flatnonzero(distribution_of(belief).probabilities)
        node = node_after(self.tree(board), belief.history)
        if node is not None and node.guess is not None:
            return node.guess, GuessInfo(node.guess)
        guess = int(possible[0])
        return guess, GuessInfo(guess)


@checked_if_it_fails
def strategy_tree(
    strategy: Strategy, board: Board, *, progress: Callable[[int, int], None] | None = None
) -> StrategyTree:
    """Return the tree of a strategy under true replies; a planned strategy returns its own tree.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    progress
        Called from time to time with the amount of work done and the total amount, if known.

    Raises
    ------
    InvalidArgumentError
        If the strategy makes random choices.
    TooLargeError
        If the board is too large.
    """
    if isinstance(strategy, PlansAhead):
        plan = strategy.plan if isinstance(strategy, Planned) else None
        if progress is not None and isinstance(plan, Planner):
            return plan(board, progress=progress)
        return strategy.tree(board)
    return build_tree(strategy, Channel.exact(board), progress=progress)


def node_after(tree: StrategyTree, history: Sequence[Turn]) -> TreeNode | None:
    """Return the node of a tree after a history, or None if the tree does not contain it."""
    board, places, node = tree.board, places_of_outcomes(tree), tree.root
    for turn in history:
        if node.guess is None or board.code(node.guess) != turn.guess:
            return None
        below = {board.true_replies[places[outcome]]: child for outcome, child in node.children}
        if turn.reply not in below:
            return None
        node = below[turn.reply]
    return node


@lru_cache(maxsize=4)
def _tree(plan: Callable[[Board], StrategyTree], board: Board) -> StrategyTree:
    return plan(board)


# --- Strategies that provably need the fewest guesses, on average or in the worst case ------------


MAX_TRIED_AFRESH = 20_000
"""The largest number of guesses to try for a set of codes off the tree: about a second."""


@dataclass(frozen=True)
class Optimal(TrustsReplies, PlansAhead, Value):
    """Play an optimal strategy, assuming true replies whatever the channel is.

    The strategy searches the whole board once, before the first guess. If a game leaves the tree,
    by guesses of another player or by contradictory replies, it searches the codes that
    contradict the fewest replies, so its advice stays optimal. If that search needs more than
    `MAX_TRIED_AFRESH` guesses tried, it makes the guess with the most parts, or with the smallest
    worst case.

    Examples
    --------
    >>> strategy = Optimal(max_guesses=5)
    >>> optimum = strategy.optimum(Board(4, 6))
    >>> optimum.total, optimum.bound, optimum.tree.worst
    (5626, 5626, 5)
    """

    name: str = "optimal"
    """The name of the strategy at the command line and in files."""
    goal: Goal = Goal.REVEALING
    """The end of a game."""
    among: Among = Among.ALL
    """The candidate guesses."""
    _: KW_ONLY
    in_worst_case: bool = False
    """Whether to minimize the worst case first and then the mean, or only the mean."""
    max_guesses: int | None = None
    """The largest number of guesses for any code; unlimited if None."""
    first: tuple[int, ...] | None = None
    """The first guess; the best one if None."""

    deterministic = True
    """The history alone determines the choice."""

    def optimum(self, board: Board, *, progress: ProgressOfSearch | None = None) -> Optimum:
        """Return the strategy for a board, with its proof of optimality.

        Parameters
        ----------
        board
            The board.
        progress
            As for `optimal_on_average`.

        Raises
        ------
        InvalidArgumentError
            If no strategy takes at most ``max_guesses``.
            If the first guess is not a code of the board.
        TooLargeError
            If the board is too large, or the search needs too much work.
        """
        return _optimum(_Asked(self, board, progress))

    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board; raises like `optimum`.

        Parameters
        ----------
        board
            The board.
        """
        return self.optimum(board).tree

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the tree, or the best guess off the tree; raises like `optimum`."""
        board, history = belief.board, belief.history
        node = node_after(self.tree(board), history)
        if node is not None and node.guess is not None:
            return node.guess, GuessInfo(node.guess)
        possible = np.flatnonzero(distribution_of(belief).probabilities)
        guesses = [board.index(turn.guess) for turn in history]
        try:
            guess = int(possible[0]) if len(possible) == 1 else self._best(board, possible, guesses)
        except TooLargeError:
            score = WorstCase() if self.in_worst_case else MostParts()
            return Myopic(score, among=self.among).choose(belief, rng)
        return guess, GuessInfo(guess)

    def _best(self, board: Board, possible: NDArray[np.intp], guesses: list[int]) -> int:
        """Return the best guess for the possible codes."""
        limits: Iterable[int | None] = (self.max_guesses, None)
        if self.in_worst_case:
            limits = count(len(guesses) + 1)
        for limit in limits:
            # A new search, so that previous searches do not influence ties.
            rules = SearchRules(self.goal, self.among, limit, MAX_TRIED_AFRESH)
            search = BoardSearch(board, rules)
            solved = search.solve(possible, guesses)
            if solved is not None:
                return solved.guess
        raise AssertionError  # there is always a number of guesses that suffices


@dataclass(frozen=True)
class _Asked:
    """A strategy and a board; who is told of the progress makes no other optimum of them."""

    strategy: Optimal
    board: Board
    progress: ProgressOfSearch | None = field(compare=False)


@lru_cache(maxsize=4)
def _optimum(asked: _Asked) -> Optimum:
    strategy = asked.strategy
    search = optimal_in_worst_case if strategy.in_worst_case else optimal_on_average
    return search(
        asked.board,
        strategy.goal,
        among=strategy.among,
        max_guesses=strategy.max_guesses,
        first=strategy.first,
        progress=asked.progress,
    )


# --- Endgames: good strategies for sets of up to a few thousand codes, on boards of any size ------


_PAIRS_AT_ONCE = 2**27  # pairs of guess and code: a tenth of a second

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Breadth(Value):
    """The numbers of guesses to evaluate in an endgame."""

    pool: Count
    """The number of guesses in the game, in addition to the codes of the set."""
    tried: Count
    """The largest number of guesses to try for each set that occurs."""
    budget: Count = 200_000
    """The largest number of guesses to try in total. If it is exceeded, the search restarts with
    half as many guesses for each set."""


@lru_cache(maxsize=8)
def set_estimates(board: Board) -> NDArray[np.int64]:
    r"""Return the estimated total of sets by size, in thousandths; used only to order guesses.

    .. math:: n \left(1.22 + \frac{7}{6} \frac{\log n}{\log r}\right)

    for n > 1, where r is the number of replies. At 5x8 this is within 3 % of the average total of
    sets of 2 to 1000 codes under the entropy strategy.

    Parameters
    ----------
    board
        The board.
    """
    sizes = np.arange(board.n_codes + 1)
    logs = np.log(np.maximum(sizes, 1)) / math.log(len(board.true_replies))
    totals = np.where(sizes > 1, sizes * (1.22 + 7 / 6 * logs), sizes)
    # Rounded to thousandths, so the last digit of a logarithm does not matter.
    estimates = np.asarray(np.rint(1000 * totals), dtype=np.int64)
    estimates.setflags(write=False)
    return estimates


class Endgame:
    """The result of the search of one set of codes.

    Parameters
    ----------
    board
        The board.
    codes
        The indices of the codes among those of the board, ascending.
    breadth
        How many guesses the search tries for each set of codes.

    Raises
    ------
    InvalidArgumentError
        If the set is empty, or its codes are not ascending.
        If one is not the index of a code of the board.
    TooLargeError
        If the search exceeds the budget even with one guess for each set, or the board has more
        than `MOST_REPLIES` replies.
    """

    def __init__(self, board: Board, codes: Codes, breadth: Breadth) -> None:
        self.board, self.breadth = board, breadth
        codes = require_set(board, codes).astype(np.int32)
        n, n_replies = codes.size, len(board.true_replies)
        if n_replies > MOST_REPLIES:
            raise TooLargeError(
                f"expected a board of at most {MOST_REPLIES} replies, got {board} with {n_replies}",
                needed=n_replies,
                budget=MOST_REPLIES,
            )
        arrays, estimates = board_arrays(board), set_estimates(board)
        self._guesses = _pool(board, codes, breadth.pool)
        n_planes = -(-n_replies // LANE)
        places, planes = replies_of_guesses(arrays, codes, self._guesses, n_planes)
        places.setflags(write=False)  # as in `make_game`
        bounds = lower_bounds(board.n_codes, n_replies, Goal.REVEALING)
        tables = np.empty((3, n + 1), dtype=np.int64)
        tables[0], tables[1], tables[2] = bounds[: n + 1], estimates[: n + 1], breadth.tried
        own = np.searchsorted(self._guesses, codes).astype(np.int64)
        room = capacities(n, n_replies, Goal.REVEALING)
        keys = random_words(board.n_codes)[:n]
        winning = n_replies - 1
        self._game = Game(places, planes, own, keys, tables, room, winning, 1, False)
        while True:
            self._memo: Memo = make_memo(max(8, min(18, n.bit_length() + 6)))
            self._work: Work = make_work(self._game, breadth.budget)
            self.total = self._search(np.arange(n))
            """The number of guesses to find each code once."""
            if self.total:
                break
            tables[2] //= 2

    def tree(self) -> TreeNode:
        """Return the strategy from this set on."""
        return self._node(np.arange(self._game.own.size), -1)

    def _node(self, codes: NDArray[np.intp], before: int) -> TreeNode:
        n = len(codes)
        if n == 1:
            return node_of_codes(1, found=bool(self._game.own[codes[0]] == before))
        guess = self._guess(codes)
        replies = self._game.places[guess, codes]
        children = tuple(
            (place, self._node(codes[replies == place], guess))
            for place in np.unique(replies).tolist()
        )
        return node_of_codes(n, guess=int(self._guesses[guess]), children=children)

    def _guess(self, codes: NDArray[np.intp]) -> int:
        """Return the guess for a set that occurs in the strategy."""
        if len(codes) < 4:
            return best_known(self._game, self._memo, codes, INFINITE)
        key, check = np.bitwise_xor.reduce(self._game.keys[codes], axis=0)
        entry = find(self._memo, key, check)
        if entry < 0 or self._memo.values[entry, 1] == BOUNDED:
            self._work.counts[N_TRIED] = 0
            self._search(codes)  # the entry was overwritten
            entry = find(self._memo, key, check)
        return int(self._memo.values[entry, 1])

    def _search(self, codes: NDArray[np.intp]) -> int:
        """Return the total of a set, or 0 if the search must restart with fewer guesses."""
        unused = np.zeros(0, dtype=np.int64)
        total = search(
            self._game,
            no_symmetry(),
            self._memo,
            self._work,
            Task(np.asarray(codes, dtype=np.int64), unused, INFINITE, INFINITE),
        )
        if total > 0:
            return int(total)
        if self._game.tables[2, -1] > 1:
            return 0
        budget, deepest = self.breadth.budget, len(self._work.frames) - 2
        raise TooLargeError(
            f"an endgame of {self.board} needs more than {budget:,} guesses tried, or a strategy "
            f"of more than {deepest} guesses",
            needed=budget + 1,
            budget=budget,
        )


def estimate_all(
    board: BoardArrays,
    codes: Codes,
    candidates: Codes,
    *,
    free: np.uint64,
    estimates: NDArray[Any],
) -> NDArray[np.int64]:
    """Return the result of `estimate_guesses`, computed in parts so that Ctrl-C works.

    Parameters
    ----------
    board
        The board as arrays.
    codes
        ``(codes,)``, the indices of the possible codes.
    candidates
        ``(candidates,)``, the indices of the guesses to compare.
    free
        The bits of the colors that no guess has named.
    estimates
        The estimated total of a set, by its size.
    """
    at_once = max(1, _PAIRS_AT_ONCE // len(codes))
    parts = [
        estimate_guesses(board, codes, candidates[start : start + at_once], free, estimates)
        for start in range(0, len(candidates), at_once)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _pool(board: Board, codes: Codes, wanted: int) -> Codes:
    """Return the guesses of a game, ascending: those of the best estimates, and the set's codes."""
    # A color that is interchangeable before the next guess is not after it.
    arrays, every = board_arrays(board), np.arange(board.n_codes, dtype=np.int32)
    sums = estimate_all(arrays, codes, every, free=np.uint64(0), estimates=set_estimates(board))
    useful = np.flatnonzero(sums < UNWANTED)
    if len(useful) > wanted:
        last = np.partition(sums[useful], wanted - 1)[wanted - 1]
        # Among guesses as good as the last one, take the smallest.
        better, tied = useful[sums[useful] < last], useful[sums[useful] == last]
        useful = np.concatenate([better, tied[: wanted - len(better)]])
    is_in = np.zeros(board.n_codes, dtype=bool)
    is_in[useful] = is_in[codes] = True
    return np.flatnonzero(is_in).astype(np.int32)


# --- Beam search: look further ahead than one guess, where the optimum cannot be computed ---------


History = tuple[int, ...]

_ENDLESS = 1 << 40  # larger than any total


@dataclass(frozen=True)
class Deeper(Planner, Value):
    """The settings of a beam search. Call the object with a board to run the search.

    Examples
    --------
    >>> Deeper()(Board(4, 6)).total
    5627.0
    """

    firsts: Count = 2
    """The number of first guesses to try."""
    seconds: Count = 10
    """The number of guesses to try for each later set that is not an endgame."""
    choosing: Breadth = field(default_factory=lambda: Breadth(256, 6, 20_000))
    """The search of endgames while guesses are chosen."""
    playing: Breadth = field(default_factory=lambda: Breadth(4096, 60))
    """The search of the endgames of the chosen guesses."""
    endgame: Count = 2048
    """After two guesses, sets of at most this number of codes are endgames."""
    share: Probability = 15 / 16
    """A guess is abandoned if the classes not yet searched would have to take less than this
    share of their estimate; 0 abandons no guess that could be better."""

    def __call__(
        self, board: Board, *, progress: Callable[[int, int], None] | None = None
    ) -> StrategyTree:
        """Run the search and return the strategy.

        Parameters
        ----------
        board
            The board.
        progress
            Called from time to time with the number of codes evaluated so far and the total
            number. Each code counts once for each first guess, and once for the best one.

        Raises
        ------
        TooLargeError
            If the board is too large, or an endgame needs too much work.
        """
        n_replies = len(board.true_replies)
        if not is_growable(board) or n_replies > MOST_REPLIES:
            raise TooLargeError(
                f"expected a board of at most {MAX_TREE_CODES:,} codes and {MOST_REPLIES} "
                f"replies, got {board} with {board.n_codes:,} codes and {n_replies} replies",
                needed=board.n_codes,
                budget=MAX_TREE_CODES,
            )
        search = _Search(board, self, progress)
        every = np.arange(board.n_codes, dtype=np.int32)
        plan = search.plan(every, ())
        return StrategyTree(Channel.exact(board), search.node(plan, every, -1))


def deeper(settings: Deeper | None = None) -> Planned:
    """Return the strategy that plays the result of a beam search.

    Parameters
    ----------
    settings
        The settings of the search; the default ones if None.
    """
    return Planned("deeper", Deeper() if settings is None else settings)


def deeper_still() -> Planned:
    """Return a slightly better strategy than `deeper`, which takes several times as long to find.

    Its name at the command line is ``bnmind.strategies:deeper_still``.
    """
    choosing, playing = Breadth(1024, 12, 20_000), Breadth(16_384, 100, 1_000_000)
    return Planned("deeper still", Deeper(seconds=20, choosing=choosing, playing=playing))


@dataclass(frozen=True)
class _Plan:
    total: int
    """The number of guesses that it takes."""
    guess: int
    """The next guess, −1 for an endgame."""
    below: dict[int, _Plan]


class _Search:
    def __init__(
        self, board: Board, settings: Deeper, progress: Callable[[int, int], None] | None
    ) -> None:
        self._board, self._settings = board, settings
        self._progress, self._judged, self._to_judge = progress, 0, 0
        self._arrays, self._estimates = board_arrays(board), set_estimates(board)
        self._winning = len(board.true_replies) - 1

    def plan(self, codes: Codes, guesses: History) -> _Plan:
        """Return the plan for a set after some guesses."""
        settings, n = self._settings, codes.size
        if n < 3:
            return _Plan(2 * n - 1, -1, {})
        if n <= settings.endgame and len(guesses) > 1:
            return _Plan(self._endgame(codes, settings.choosing).total, -1, {})
        best = _Plan(_ENDLESS, -1, {})
        promising = self._promising(codes, guesses)
        if not guesses:
            self._to_judge = (len(promising) + 1) * n
        for number, guess in enumerate(promising, start=1):
            below = self._below((*guesses, guess), codes, best.total)
            if not guesses:
                # An abandoned guess has no classes left to evaluate.
                self._tell(number * n - self._judged)
            total = n + sum(plan.total for plan in below.values())
            if below and total < best.total:
                best = _Plan(total, guess, below)
        return best

    def _below(self, guesses: History, codes: Codes, limit: int) -> dict[int, _Plan]:
        """Return the plan after each reply to the last guess, or None if the guess is abandoned."""
        guess, promised = guesses[-1], self._estimates
        classes = self._classes(guess, codes)
        total, rest = codes.size, sum(int(promised[members.size]) for members in classes.values())
        below: dict[int, _Plan] = {}
        for place, members in sorted(classes.items(), key=lambda item: -item[1].size):
            if place == self._winning:
                continue
            if total + self._settings.share * rest / 1000 >= limit:
                return {}
            below[place] = self.plan(members, guesses)
            total += below[place].total
            rest -= int(promised[members.size])
            if len(guesses) == 1:
                self._tell(members.size)
        return below

    def _promising(self, codes: Codes, guesses: History) -> list[int]:
        """Return the guesses to try for a set, best first."""
        settings, board, arrays = self._settings, self._board, self._arrays
        candidates = np.zeros(0, dtype=np.int32)
        if len(guesses) < 2:
            candidates = smallest_guesses(board, tuple(board.code(guess) for guess in guesses))
        if not candidates.size:
            candidates = np.arange(board.n_codes, dtype=np.int32)
        used = np.bitwise_or.reduce(arrays.colors_of[list(guesses)], initial=np.uint64(0))
        free = np.uint64(arrays.all_colors & ~used)
        sums = estimate_all(arrays, codes, candidates, free=free, estimates=self._estimates)
        order = np.argsort(sums, kind="stable")[: settings.seconds if guesses else settings.firsts]
        return [int(guess) for guess in candidates[order[sums[order] < UNWANTED]]]

    def _tell(self, judged: int) -> None:
        """Report the progress."""
        self._judged += judged
        if self._progress is not None:
            self._progress(self._judged, self._to_judge)

    def _endgame(self, codes: Codes, breadth: Breadth) -> Endgame:
        return Endgame(self._board, codes, breadth)

    def _classes(self, guess: int, codes: Codes) -> dict[int, Codes]:
        replies = replies_of(self._board, guess)[codes]
        return {place: codes[replies == place] for place in np.unique(replies).tolist()}

    def node(self, plan: _Plan, codes: Codes, before: int) -> TreeNode:
        """Return a plan as a tree; endgames are searched with the setting `playing`."""
        n, guess = codes.size, plan.guess
        if n == 1:
            self._tell(1)
            return node_of_codes(1, found=int(codes[0]) == before)
        if guess < 0:
            tree = self._endgame(codes, self._settings.playing).tree()
            self._tell(n)
            return tree
        children = tuple(
            (place, self.node(plan.below.get(place, plan), members, guess))
            for place, members in self._classes(guess, codes).items()
        )
        return node_of_codes(n, guess=guess, children=children)
