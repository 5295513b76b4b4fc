"""The search for codes that agree with all replies, without a list of codes, on boards of any size.

=========  =================================================================
symbol     name here
=========  =================================================================
t          a turn of the history
g_t        ``guesses[t]``
P_t        ``black[t]``
S_t        ``both[t]``, black and white together: Σ_i min(G_i, C_i)
G_ti       ``standing[t, i]``, how often color i occurs in the guess
C_i        ``placed[i]``, how often color i occurs on the pegs placed so far
=========  =================================================================

The search goes through the positions depth first, and tries each color in turn. After every peg,
and for every turn, it narrows the set of colors of each of the r open positions:

* The black pegs so far must not exceed P_t, and the positions that can still be black must suffice
  for the rest. If they just suffice, they are all black; if no black peg is missing, none is.
* A peg *counts* for t if its color occurs less often so far than in the guess. The number of pegs
  missing to S_t must still count. If it is 0, the colors that would count are excluded; if it is r,
  all other colors are.
* If the S_t of all turns leave at most 65,536 ways to choose the number of pegs of each color, the
  search lists them in advance. A color is allowed if some way that fits the pegs so far has more
  pegs of it. The ways express everything that S tells, so only black pegs remain to search for.

To list all codes that agree with all replies, if they are few, the search goes on after each code
that it finds, until it has tried everything. If no code agrees with all replies, the search leaves
out one reply after the other, and then each pair of replies.

References
----------
Van Hentenryck, *A constraint approach to mastermind in logic programming*, SIGART Newsletter
103 (1988) 31-34.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._jit import njit
from bnmind._values import Sealed, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board, Turn, reply
from bnmind.mastermind.sampling import turn_arrays

# --- The search for a code that agrees with all replies, compiled ---------------------------------


FOUND = 0
"""The search found a code."""

NONE = 1
"""No code agrees with all replies."""

EXHAUSTED = 2
"""The search needs more nodes than allowed."""

PAUSED = 3
"""The search has paused; call it again to resume."""

_MOST_STEPS = 2**24
_NODES, _DEPTH, _ALLOWED, _IS_NEW = 0, 1, 2, 3  # places in `Trail.counts`


class Facts(NamedTuple):
    """The history of a game, and the order in which the search tries colors."""

    guesses: NDArray[np.int64]
    """``(turns, pegs)``."""
    black: NDArray[np.int64]
    """``(turns,)`` black pegs."""
    both: NDArray[np.int64]
    """``(turns,)`` black and white pegs."""
    standing: NDArray[np.int64]
    """``(turns, colors + 1)`` the number of pegs of each color in the guess."""
    values: NDArray[np.int64]
    """``(pegs, colors)`` the colors of each position in the order of the search."""
    ways: NDArray[np.uint8]
    """``(ways, colors + 1)`` the possible numbers of pegs of each color; no row if not listed."""
    repeats: bool
    """Whether a color may occur twice."""


class Trail(NamedTuple):
    """The state of a search."""

    code: NDArray[np.int64]
    """``(pegs,)`` the pegs placed so far, then zeros."""
    place: NDArray[np.int64]
    """``(pegs + 1,)`` the index of the next value at each position."""
    domains: NDArray[np.int64]
    """``(pegs + 1, pegs)`` at each depth, the set of colors that each position may have."""
    placed: NDArray[np.int64]
    """``(colors + 1,)`` the number of pegs placed of each color."""
    blacks: NDArray[np.int64]
    """``(turns,)`` black pegs so far."""
    counted: NDArray[np.int64]
    """``(turns,)`` pegs so far that count."""
    order: NDArray[np.int64]
    """The ways; at each depth, those that fit the pegs placed so far come first."""
    fitting: NDArray[np.int64]
    """``(pegs + 1,)`` the number of ways that fit."""
    counts: NDArray[np.int64]
    """The nodes, the depth, the colors allowed next, and whether the depth is new."""


def start_trail(facts: Facts) -> Trail:
    """Return the state of a search that has not started."""
    (turns, pegs), colors = facts.guesses.shape, facts.values.shape[1]
    every, n_ways = (1 << colors) - 1, len(facts.ways)
    domains = np.zeros((pegs + 1, pegs), dtype=np.int64)
    domains[0] = every
    return Trail(
        np.zeros(pegs, dtype=np.int64),
        np.zeros(pegs + 1, dtype=np.int64),
        domains,
        np.zeros(colors + 1, dtype=np.int64),
        np.zeros(turns, dtype=np.int64),
        np.zeros(turns, dtype=np.int64),
        np.arange(n_ways, dtype=np.int64),
        np.full(pegs + 1, n_ways, dtype=np.int64),
        np.array([0, 0, every, 1], dtype=np.int64),
    )


def nodes_of(trail: Trail) -> int:
    """Return the number of pegs placed so far."""
    return int(trail.counts[_NODES])


@njit
def search_slice(facts: Facts, trail: Trail, max_nodes: int, most: int) -> int:
    """Continue a search until it ends, or for about ``most`` operations.

    Returns
    -------
    int
        `FOUND` if ``trail.code`` is the code, the first one in the order of values; `NONE`;
        `EXHAUSTED` after more than `max_nodes` nodes; or `PAUSED`.
    """
    guesses, standing, values, ways = facts.guesses, facts.standing, facts.values, facts.ways
    code, place, placed, domains = trail.code, trail.place, trail.placed, trail.domains
    blacks, counted = trail.blacks, trail.counted
    pegs, colors = values.shape
    turns, n_ways = guesses.shape[0], ways.shape[0]
    every, operations = 0, 0
    for color in range(1, colors + 1):
        every |= 1 << (color - 1)
    depth, allowed, is_new = trail.counts[_DEPTH], trail.counts[_ALLOWED], trail.counts[_IS_NEW]
    while depth >= 0:
        if operations > most:
            trail.counts[_DEPTH], trail.counts[_ALLOWED] = depth, allowed
            trail.counts[_IS_NEW] = is_new
            return PAUSED
        if is_new:
            is_new = 0
            place[depth] = 0
            operations += 4 * turns * pegs + colors
            if not _narrow(facts, trail, depth, allowed):
                depth -= 1
                continue
            if depth == pegs:
                return FOUND
        color = code[depth]
        if color:
            # Remove the peg.
            placed[color] -= 1
            for t in range(turns):
                blacks[t] -= guesses[t, depth] == color
                counted[t] -= placed[color] < standing[t, color]
            code[depth] = 0
        while place[depth] < colors:
            if domains[depth, depth] >> (values[depth, place[depth]] - 1) & 1:
                break
            place[depth] += 1
        if place[depth] == colors:
            depth -= 1
            continue
        color = values[depth, place[depth]]
        place[depth] += 1
        trail.counts[_NODES] += 1
        if trail.counts[_NODES] > max_nodes:
            return EXHAUSTED
        code[depth] = color
        for t in range(turns):
            blacks[t] += guesses[t, depth] == color
            counted[t] += placed[color] < standing[t, color]
        placed[color] += 1
        allowed = every
        operations += 4 * turns + 8
        if n_ways:
            operations += trail.fitting[depth] * colors
            trail.fitting[depth + 1], allowed = _fitting(
                ways, trail.order, trail.fitting[depth], placed, color
            )
        if allowed or depth + 1 == pegs:
            domains[depth + 1] = domains[depth]
            depth += 1
            is_new = 1
    return NONE


@njit
def list_ways(
    standing: NDArray[np.int64], both: NDArray[np.int64], pegs: int, most: int, room: int
) -> tuple[NDArray[np.uint8], bool]:
    """Return the possible numbers of pegs of each color given all S_t, and whether all are listed.

    Each row is a way. The function returns no row and False if there are more than `room` ways, or
    no turns, or listing the ways takes more than `_MOST_STEPS` steps.
    """
    turns, width = standing.shape
    ways = np.zeros((256, width), dtype=np.uint8)
    if turns == 0:
        return ways[:0], False
    # The most that the colors from i on can contribute.
    rest = np.zeros((turns, width + 1), dtype=np.int64)
    for t in range(turns):
        for i in range(width - 1, 0, -1):
            rest[t, i] = rest[t, i + 1] + standing[t, i]
    counts = np.full(width, -1)
    pegs_left = np.full(width + 1, pegs)
    shared = np.zeros((width + 1, turns), dtype=np.int64)
    n, i, steps = 0, 1, 0
    while i > 0:
        steps += 1
        if steps > _MOST_STEPS:
            return ways[:0], False
        counts[i] += 1
        if counts[i] > min(most, pegs_left[i]):
            counts[i] = -1
            i -= 1
            continue
        pegs_left[i + 1] = pegs_left[i] - counts[i]
        fits = pegs_left[i + 1] <= most * (width - 1 - i)
        for t in range(turns):
            shared[i + 1, t] = shared[i, t] + min(standing[t, i], counts[i])
            could = shared[i + 1, t] + min(pegs_left[i + 1], rest[t, i + 1])
            fits = fits and shared[i + 1, t] <= both[t] <= could
        if not fits:
            continue
        if i < width - 1:
            i += 1
            continue
        if n == room:
            return ways[:0], False
        if n == ways.shape[0]:
            longer = np.zeros((2 * n, width), dtype=np.uint8)
            longer[:n] = ways
            ways = longer
        for color in range(1, width):
            ways[n, color] = counts[color]
        n += 1
    return ways[:n], True


@njit
def _fitting(
    ways: NDArray[np.uint8],
    order: NDArray[np.int64],
    n: int,
    placed: NDArray[np.int64],
    color: int,
) -> tuple[int, int]:
    """Move the ways that have one more peg of a color to the front.

    Return their number, and the colors of which some of them has more pegs.
    """
    n_kept, allowed = 0, 0
    for i in range(n):
        way = order[i]
        if ways[way, color] >= placed[color]:
            order[i], order[n_kept] = order[n_kept], way
            n_kept += 1
            for other in range(1, placed.size):
                if ways[way, other] > placed[other]:
                    allowed |= 1 << (other - 1)
    return n_kept, allowed


@njit
def _narrow(facts: Facts, trail: Trail, depth: int, every: int) -> bool:
    """Narrow the colors of the open positions; return whether a code may be left."""
    guesses, black, both, standing = facts.guesses, facts.black, facts.both, facts.standing
    placed, blacks, counted = trail.placed, trail.blacks, trail.counted
    start, domain = depth, trail.domains[depth]
    turns, pegs = guesses.shape
    n_open = pegs - start
    allowed = every
    if not facts.repeats:
        for color in range(1, placed.size):
            if placed[color]:
                allowed &= ~(1 << (color - 1))
    for t in range(turns):
        missing = both[t] - counted[t]
        if missing < 0 or missing > n_open or blacks[t] > black[t]:
            return False
        if missing == 0 or missing == n_open:
            counting = 0
            for i in range(pegs):
                color = guesses[t, i]
                if placed[color] < standing[t, color]:
                    counting |= 1 << (color - 1)
            allowed &= ~counting if missing == 0 else counting
    for i in range(start, pegs):
        domain[i] &= allowed
        if domain[i] == 0:
            return False
    again = True
    while again:
        again = False
        for t in range(turns):
            needed, can = black[t] - blacks[t], 0
            for i in range(start, pegs):
                can += domain[i] >> (guesses[t, i] - 1) & 1
            if can < needed:
                return False
            if can == 0 or 0 < needed < can:
                continue
            for i in range(start, pegs):
                bit = 1 << (guesses[t, i] - 1)
                if domain[i] & bit:
                    narrowed = domain[i] & ~bit if needed == 0 else bit
                    if narrowed != domain[i]:
                        if narrowed == 0:
                            return False
                        domain[i] = narrowed
                        again = True
    return True


# --- The list of all codes that agree with all replies, if they are few ---------------------------


MAX_LISTED = 2**14
"""The largest number of codes that are listed."""

_MOST_NODES = 10**6  # pegs placed by one search, some 30 milliseconds
_MOST_WRONG = 2

_MOST_WAYS = 2**16
_MOST_COLORS = 63  # a set of colors is a word, without its sign bit
_SLICE = 50_000_000  # operations of one call of compiled code, a tenth of a second or less


def list_consistent_codes(
    board: Board, history: Sequence[Turn], *, most: int, max_nodes: int
) -> NDArray[np.uint8] | None:
    """Return all codes that agree with all replies, in lexicographic order.

    Parameters
    ----------
    board
        The board, of any size.
    history
        The guesses and their replies, which are assumed to be true.
    most
        The largest number of codes to list.
    max_nodes
        The largest number of pegs to place during the search.

    Returns
    -------
    NDArray[np.uint8] | None
        ``(codes, pegs)``, colors 1..k; None if there are more codes, the search takes longer, or
        the board has more than 63 colors.

    Examples
    --------
    >>> from bnmind.mastermind.board import Reply
    >>> turns = [Turn((1, 1, 2, 3), Reply(1, 2)), Turn((1, 4, 5, 6), Reply(1, 0))]
    >>> list_consistent_codes(Board(4, 6), turns, most=100, max_nodes=10**6).shape
    (6, 4)
    """
    if board.colors > _MOST_COLORS:
        return None
    guesses, black, both, standing = turn_arrays(board, history)
    most_of_a_color = board.pegs if board.repeats else 1
    ways, are_all = list_ways(standing, both, board.pegs, most_of_a_color, _MOST_WAYS)
    if are_all and not len(ways):
        return np.zeros((0, board.pegs), dtype=np.uint8)
    facts = Facts(
        guesses,
        black,
        both,
        standing,
        np.tile(np.arange(1, board.colors + 1), (board.pegs, 1)),
        ways,
        board.repeats,
    )
    trail, codes = start_trail(facts), np.zeros((most, board.pegs), dtype=np.uint8)
    n = 0
    # Ctrl-C works between two slices.
    while True:
        n, end = _list_slice(facts, trail, codes, n, max_nodes, _SLICE)
        if end != PAUSED:
            return codes[:n].copy() if end == NONE else None


@njit
def _list_slice(
    facts: Facts, trail: Trail, codes: NDArray[np.uint8], n: int, max_nodes: int, most: int
) -> tuple[int, int]:
    """Add the next codes; return their number, and how the search ended.

    It ends with `FOUND` if there is another code, but no room for it.
    """
    pegs = trail.code.size
    while True:
        end = search_slice(facts, trail, max_nodes, most)
        if end != FOUND or n == codes.shape[0]:
            return n, end
        for i in range(pegs):
            codes[n, i] = trail.code[i]
        n += 1
        # Go on as if the last peg had failed.
        trail.counts[_DEPTH], trail.counts[_IS_NEW] = pegs - 1, 0


@dataclass(frozen=True, kw_only=True, eq=False)
class ListedCodes(Sealed):
    """All possible codes and their probabilities."""

    codes: NDArray[np.uint8]
    """``(codes, pegs)``, colors 1..k, in lexicographic order."""
    probabilities: Floats
    """``(codes,)``; they sum to one."""
    contradictions: int
    """The number of replies that each of the codes contradicts."""


def list_possible_codes(
    board: Board,
    history: Sequence[Turn],
    log_prior: Callable[[NDArray[np.uint8]], Floats] | None,
    *,
    ends: bool,
) -> ListedCodes | None:
    """Return the codes of the smallest number of contradicted replies, with probabilities.

    Parameters
    ----------
    board
        The board, of any size.
    history
        The turns. A reply that is not a true reply contradicts every code.
    log_prior
        The logarithm of the weight of each code; None if all are equally probable.
    ends
        Whether the game ends at the winning guess, which excludes codes already guessed.

    Returns
    -------
    ListedCodes | None
        None if there are more than 16,384 codes, the search takes too long, or every code
        contradicts more than two replies.
    """
    true = [turn for turn in history if turn.reply in board.true_replies]
    for wrong in range(_MOST_WRONG + 1):
        lists: list[NDArray[np.uint8]] = []
        for left_out in combinations(range(len(true)), wrong):
            rest = [turn for place, turn in enumerate(true) if place not in left_out]
            codes = list_consistent_codes(board, rest, most=MAX_LISTED, max_nodes=_MOST_NODES)
            if codes is None:
                return None
            lists.append(codes)
        lists.append(np.zeros((0, board.pegs), dtype=np.uint8))
        found = distinct_codes(np.concatenate(lists))[0]
        if ends and len(found):
            guessed = {turn.guess for turn in history}
            found = found[[tuple(code) not in guessed for code in found.tolist()]]
        if len(found) > MAX_LISTED:
            return None
        probabilities = _weighted(found, log_prior)
        if probabilities is not None:
            possible = probabilities > 0
            return ListedCodes(
                codes=found[possible],
                probabilities=probabilities[possible],
                contradictions=wrong + len(history) - len(true),
            )
    return None


def _weighted(
    codes: NDArray[np.uint8], log_prior: Callable[[NDArray[np.uint8]], Floats] | None
) -> Floats | None:
    """Return the probabilities of the codes; None if all have weight zero."""
    if not len(codes):
        return None
    if log_prior is None:
        return np.full(len(codes), 1 / len(codes))
    logs = np.asarray(log_prior(codes), dtype=np.float64)
    largest = float(logs.max())
    if largest == -math.inf:
        return None
    weights = np.exp(logs - largest)
    probabilities: Floats = weights / weights.sum()
    return probabilities


def distinct_codes(
    codes: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.intp], NDArray[np.intp]]:
    """Return the distinct codes in lexicographic order, a place of each, and the rank of each code.

    Parameters
    ----------
    codes
        ``(codes, pegs)``, colors from 1.
    """
    # No color is 0, so strings of bytes keep all pegs, and they are sorted quickly.
    rows = np.ascontiguousarray(codes).view(f"S{codes.shape[1]}").ravel()
    _, first, ranks = np.unique(rows, return_index=True, return_inverse=True)
    return codes[first], first, ranks.ravel()


# --- Constraint search for a possible code, without a list of codes, on boards of any size --------


MAX_NODES = 2 * 10**8
"""The largest number of pegs that a search places: some minutes."""

_PATIENCE = 2000  # pegs placed until colors are shuffled again; doubles each time
_MOST_COUNTED = 2**62  # counts of the kernels are words of 64 bits


@dataclass(frozen=True)
class FoundCode(Value):
    """A code that agrees with all replies, or the result that there is none."""

    code: tuple[int, ...] | None
    """The code; None if none agrees with all replies."""
    nodes: int
    """The number of pegs placed during the search."""


@checked_if_it_fails
def find_possible_code(
    board: Board,
    history: Sequence[Turn],
    *,
    rng: np.random.Generator | None = None,
    max_nodes: int = MAX_NODES,
) -> FoundCode:
    """Return a code that agrees with all replies.

    Parameters
    ----------
    board
        The board, of at most 63 colors; its codes are not listed.
    history
        The guesses and their replies, which are assumed to be true.
    rng
        Shuffles the colors of each position, and shuffles them again if the search takes long.
        Possible codes are then not equally likely. By default, the code is the first possible one
        in lexicographic order, which can take much longer to find.
    max_nodes
        The largest number of pegs to place.

    Raises
    ------
    TooLargeError
        If this number does not suffice, or the board has too many colors.
    InvalidArgumentError
        If a guess is not a code of the board.

    Examples
    --------
    >>> board = Board(10, 12)
    >>> guess = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    >>> turn = Turn(guess, reply(guess, (7, 1, 8, 2, 12, 9, 3, 3, 6, 12)))
    >>> find_possible_code(board, [turn]).code
    (1, 1, 1, 1, 1, 1, 1, 1, 2, 2)
    """
    if board.colors > _MOST_COLORS:
        raise TooLargeError(
            f"expected a board of at most {_MOST_COLORS} colors to search, got {board}",
            needed=board.colors,
            budget=_MOST_COLORS,
        )
    guesses, black, both, standing = turn_arrays(board, history)
    values = np.tile(np.arange(1, board.colors + 1), (board.pegs, 1))
    most = board.pegs if board.repeats else 1
    ways, are_all = list_ways(standing, both, board.pegs, most, _MOST_WAYS)
    if are_all and not len(ways):
        return FoundCode(None, 0)
    max_nodes = min(max_nodes, _MOST_COUNTED)
    nodes, patience = 0, max_nodes if rng is None else _PATIENCE
    while True:
        if rng is not None:
            values = rng.permuted(values, axis=1)
        facts = Facts(guesses, black, both, standing, values, ways, board.repeats)
        code, placed = _search(facts, min(patience, max_nodes - nodes))
        nodes += placed
        if placed <= patience or nodes > max_nodes:
            break
        patience *= 2
    if nodes > max_nodes:
        raise TooLargeError(
            f"found no possible code of the board {board} within {max_nodes:,} pegs placed",
            needed=nodes,
            budget=max_nodes,
        )
    return FoundCode(code, nodes)


def _search(facts: Facts, max_nodes: int) -> tuple[tuple[int, ...] | None, int]:
    """Return the code found, or None, and the number of pegs placed."""
    trail = start_trail(facts)
    # Ctrl-C works between two slices.
    while (end := search_slice(facts, trail, max_nodes, _SLICE)) == PAUSED:
        pass
    return tuple(trail.code.tolist()) if end == FOUND else None, nodes_of(trail)


@checked_if_it_fails
def play_by_search(
    board: Board,
    secret: Sequence[int],
    *,
    rng: np.random.Generator | None = None,
    first: Sequence[int] | None = None,
    max_nodes: int = MAX_NODES,
) -> tuple[Turn, ...]:
    """Play a game in which each guess is a possible code, found by search.

    Parameters
    ----------
    board
        The board.
    secret
        The code to guess. Replies are true.
    rng, max_nodes
        See `find_possible_code`.
    first
        The first guess; by default found by search.

    Raises
    ------
    TooLargeError
        If a search takes too long.
    InvalidArgumentError
        If the secret or the first guess is not a code of the board.
        If the replies are not those of the secret.
    """
    board.index(secret)
    turns: list[Turn] = []
    while not turns or turns[-1].reply != board.winning:
        if first is not None and not turns:
            guess = tuple(first)
            board.index(guess)
        else:
            result = find_possible_code(board, turns, rng=rng, max_nodes=max_nodes)
            if result.code is None:  # the secret is possible
                raise InvalidArgumentError(
                    f"expected replies of the secret {tuple(secret)}, got others", turns
                )
            guess = result.code
        turns.append(Turn(guess, reply(guess, secret)))
    return tuple(turns)
