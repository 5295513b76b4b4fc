"""The paper's open question: what it costs to find the guess of minimal expected entropy.

Reproduces the tables and the figure of docs/open-question.md: additions counted and
planned, seconds measured and planned, brute force beside them, the equivalent guesses
that symmetry leaves, the crossover, and what pruning could save.

Run it with ``python examples/open_question.py``; ``--full`` adds larger boards (a few
minutes, 2 GB), and ``--figure FILE`` draws the figure.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bnmind.information import Floats, information
from bnmind.mastermind import (
    Board,
    Channel,
    ExactBelief,
    MassPlan,
    Method,
    TableBelief,
    guess_classes,
    plan_masses,
    replies_to,
    reply_masses,
)
from bnmind.mastermind.color_elimination import masses_by_elimination

QUICK = (Board(3, 4), Board(4, 4), Board(4, 6), Board(5, 6), Board(5, 8))
FULL = (*QUICK, Board(6, 6), Board(5, 16), Board(6, 9))

SAMPLE = 64
"""Guesses that brute force is timed on; the time for all is extrapolated."""

Symbols: TypeAlias = tuple[int, ...]
Rows: TypeAlias = Mapping[tuple[Symbols, Symbols, int, int], float]


# --- The recursion, to be read and counted --------------------------------------------------------


def contract(rows: Rows, chosen: Symbols, r: int) -> Rows:
    """Give color r, the last of those left, to the chosen free positions of the guess.

    A row (x, v, P, S) has the code's symbol on each free position, how often each color
    left stands on used positions, black pegs, and black and white pegs together.
    """
    result: dict[tuple[Symbols, Symbols, int, int], float] = defaultdict(float)
    for (x, v, black, both), mass in rows.items():
        on = [x[i] for i in chosen]
        cap = len(x) - len(chosen) - r + 2
        counts = tuple(min(v[c - 1] + on.count(c), cap) for c in range(1, r))
        rest = tuple(0 if s == r else s for i, s in enumerate(x) if i not in chosen)
        seen = x.count(r) + v[r - 1]
        result[rest, counts, black + on.count(r), both + min(len(chosen), seen)] += mass
    return result


def additions(rows: Rows, free: int, r: int) -> int:
    """Return how many numbers are added up below a state, contracting in every way."""
    if r == 1:  # It takes all that is left.
        return len(rows)
    return sum(
        len(rows) + additions(contract(rows, chosen, r), free - size, r - 1)
        for size in range(1, free - r + 2)
        for chosen in combinations(range(free), size)
    )


@lru_cache
def additions_of_a_set(pegs: int, d: int) -> int:
    """Return how many numbers are added up for one set of d colors."""
    rows = {(x, (0,) * d, 0, 0): 1.0 for x in product(range(d + 1), repeat=pegs)}
    return additions(rows, pegs, d)


def counted_additions(board: Board) -> int:
    """Return how many numbers the recursion adds up, for a belief in every code."""
    return sum(
        math.comb(board.colors, d) * additions_of_a_set(board.pegs, d)
        for d in range(1, min(board.pegs, board.colors) + 1)
    )


# --- Measurements ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measured:
    """What one board costs; seconds are those of the fastest of a few rounds."""

    board: Board
    pairs: int
    planned: int
    counted: int | None
    planned_seconds: float
    masses_seconds: float
    step_seconds: float
    brute_seconds: float


def fastest(run: Callable[[], object], *, rounds: int) -> float:
    """Return the seconds that the fastest of some rounds takes."""
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def noisy_belief(board: Board, turns: int, *, seed: int = 4) -> ExactBelief:
    """Return the belief after the replies to random guesses, one reply in five false."""
    channel = Channel.false_reply(board, 0.2).revealed()
    rng = np.random.default_rng(seed)
    secret = int(rng.integers(board.n_codes))
    belief = TableBelief.start(channel)
    for guess in rng.integers(board.n_codes, size=turns).tolist():
        true = int(replies_to(board, board.code(guess))[secret])
        report = channel.reports[channel.draw(true, rng.random())]
        belief = belief.update(board.code(guess), report)
    return belief


def measure(board: Board, *, count: bool) -> Measured:
    """Return what a step costs on a board: from a belief to the best of all guesses."""
    belief = noisy_belief(board, 3)
    weights, channel = belief.codes.probabilities, belief.channel.matrix
    plan = plan_masses(board, weights, method=Method.ELIMINATION)
    rounds = 4 if plan.operations > 10**8 else 20
    some = np.random.default_rng(0).integers(board.n_codes, size=SAMPLE)
    rows = [replies_to(board, board.code(int(guess))) for guess in some]
    n_replies = len(board.true_replies)

    def step() -> int:
        return int(np.argmax(information(masses_by_elimination(board, weights), channel)))

    def brute() -> int:
        masses = np.array([np.bincount(row, weights, n_replies) for row in rows])
        return int(np.argmax(information(masses, channel)))

    step()  # compiles, and builds the index maps
    return Measured(
        board,
        board.n_codes * belief.codes.possible_codes(),
        plan.operations,
        counted_additions(board) if count else None,
        plan.way.seconds,
        fastest(lambda: masses_by_elimination(board, weights), rounds=rounds),
        fastest(step, rounds=rounds),
        fastest(brute, rounds=min(rounds, 5)) * board.n_codes / SAMPLE,
    )


def crossover(board: Board) -> tuple[float, list[tuple[int, float]]]:
    """Return the seconds of elimination, and those of brute force with so many codes left."""
    rng = np.random.default_rng(2)
    weights = noisy_belief(board, 3).codes.probabilities
    points = []
    codes = 8
    while codes <= min(board.n_codes, 2048):
        belief = np.zeros(board.n_codes)
        belief[rng.choice(board.n_codes, codes, replace=False)] = 1 / codes
        reply_masses(board, belief)
        points.append((codes, fastest(partial(reply_masses, board, belief), rounds=9)))
        codes *= 2
    return fastest(lambda: masses_by_elimination(board, weights), rounds=30), points


def crossing(seconds: float, points: Sequence[tuple[int, float]]) -> float:
    """Return the number of codes at which brute force takes so long, along straight lines."""
    logs = np.log(np.array(points))
    return float(np.exp(np.interp(np.log(seconds), np.maximum.accumulate(logs[:, 1]), logs[:, 0])))


# --- What pruning could save ----------------------------------------------------------------------


def bound(parts: Floats, reachable: Floats, channel: Floats) -> float:
    """Return the most information that a guess may promise, given how its beginning parts.

    Parameters
    ----------
    parts
        ``(states,)``, the belief in each (P, S) of the beginning.
    reachable
        ``(states, replies)``, 1 where the whole guess may get the reply, else 0.
    channel
        ``(replies, outcomes)``.

    Notes
    -----
    For any distribution q of the outcomes, no guess promises more than the sum over
    states of the belief times the largest D(channel row || q) of a reachable reply. The q
    come from the iteration of Blahut and Arimoto, and the best is kept.
    """
    own = np.einsum("ro,ro->r", channel, np.log2(np.maximum(channel, 1e-300)))
    split = parts[:, None] * reachable / reachable.sum(axis=1, keepdims=True)
    least = math.inf
    for _ in range(60):
        outcomes = split.sum(axis=0) @ channel
        divergence = own - channel @ np.log2(np.maximum(outcomes, 1e-300))
        largest = np.where(reachable > 0, divergence, -math.inf).max(axis=1)
        least = min(least, float(parts @ largest))
        split = split * 2**divergence
        split *= (parts / split.sum(axis=1))[:, None]
    return least


def beginnings(belief: ExactBelief, length: int) -> Iterator[tuple[Symbols, float]]:
    """Yield every beginning of a guess, with the most that it may promise."""
    board, channel = belief.board, belief.channel.matrix
    codes, weights = board.codes, belief.codes.probabilities
    left = board.pegs - length
    for beginning in product(range(1, board.colors + 1), repeat=length):
        black = (codes[:, :length] == beginning).sum(axis=1)
        standing = [((codes == c).sum(axis=1), beginning.count(c)) for c in set(beginning)]
        both = sum(np.minimum(there, count) for there, count in standing)
        states, parts, reachable = product(range(length + 1), repeat=2), [], []
        for p, s in states:
            mass = float(weights[(black == p) & (both == s)].sum())
            if mass > 0:
                parts.append(mass)
                reachable.append(
                    [p <= b <= p + left and s <= b + w <= s + left for b, w in board.true_replies]
                )
        yield (
            beginning,
            bound(np.array(parts), np.array(reachable, dtype=np.float64), channel),
        )


def prunable(belief: ExactBelief) -> list[tuple[int, int, int]]:
    """Return, for each length, how many beginnings could be cut, of how many.

    The information of the best guess is taken for known from the start.
    """
    masses = masses_by_elimination(belief.board, belief.codes.probabilities)
    best = float(information(masses, belief.channel.matrix).max())
    found = []
    for length in range(1, belief.board.pegs):
        bounds = [most for _, most in beginnings(belief, length)]
        found.append((length, sum(most < best - 1e-6 for most in bounds), len(bounds)))
    return found


def risen(before: ExactBelief, after: ExactBelief) -> float:
    """Return the share of guesses that promise more after a reply than before."""
    promises = [
        information(masses_by_elimination(b.board, b.codes.probabilities), b.channel.matrix)
        for b in (before, after)
    ]
    return float(np.mean(promises[1] > promises[0] + 1e-9))


# --- The page -------------------------------------------------------------------------------------


def show_additions(measured: Sequence[Measured]) -> None:
    """Print the additions of each board."""
    print("Additions, every code but the three guessed having belief\n")
    print("board      brute force        planned        counted   a guess  saved")
    for m in measured:
        counted = f"{m.counted:14,}" if m.counted else f"{'':14}"
        each, saved = m.planned / m.board.n_codes, m.pairs / m.planned
        print(f"{m.board!s:5}{m.pairs:17,}{m.planned:15,} {counted}{each:10,.0f}{saved:6,.0f}×")


def show_seconds(measured: Sequence[Measured]) -> None:
    """Print the seconds of each board."""
    print("\nMilliseconds: masses planned and measured, the whole step, NumPy with a table *\n")
    print("board   planned  measured      step        NumPy   ratio")
    for m in measured:
        ms = [1e3 * s for s in (m.planned_seconds, m.masses_seconds, m.step_seconds)]
        print(
            f"{m.board!s:5}{ms[0]:10.2f}{ms[1]:10.2f}{ms[2]:10.2f}{1e3 * m.brute_seconds:13,.1f}"
            f"{m.brute_seconds / m.step_seconds:7,.0f}×"
        )
    print(f"* {SAMPLE} random guesses, extrapolated")


def show_classes(boards: Sequence[Board]) -> None:
    """Print how many guesses symmetry leaves at the first and the second guess."""
    print("\nGuesses that symmetry leaves: first, and second after the best first one\n")
    for board in boards:
        first = guess_classes(board, [])
        channel = Channel.false_reply(board, 0.2).revealed()
        uniform = np.full(board.n_codes, 1 / board.n_codes)
        masses = masses_by_elimination(board, uniform)[first.representatives]
        best = int(first.representatives[np.argmax(information(masses, channel.matrix))])
        second = guess_classes(board, [board.code(best)])
        print(
            f"{board}  {len(first.sizes):3}, {len(second.sizes):5,} after"
            f" {board.format(board.code(best))}, of {board.n_codes:,}"
        )


def show_pruning() -> None:
    """Print what branch and bound could cut, and how promises change."""
    print("\nBranch and bound at 4x6: beginnings that a bound on (P, S) could cut\n")
    beliefs = [noisy_belief(Board(4, 6), turns) for turns in (1, 2, 3)]
    for turns, belief in enumerate(beliefs, start=1):
        found = ", ".join(
            f"{cut} of {of} of length {length}" for length, cut, of in prunable(belief)
        )
        print(f"after {turns} {'reply' if turns == 1 else 'replies'}: {found}")
    shares = [risen(*pair) for pair in pairwise(beliefs)]
    told = ", ".join(f"{share:.0%}" for share in shares)
    print(f"guesses that promise more after the second, the third reply than before: {told}")


def planned(board: Board) -> MassPlan:
    """Return the plan of an elimination; the belief does not matter."""
    belief = np.zeros(board.n_codes)
    belief[0] = 1.0
    return plan_masses(board, belief, method=Method.ELIMINATION)


def draw(
    measured: Sequence[Measured],
    crossovers: Mapping[Board, tuple[float, list[tuple[int, float]]]],
    path: Path,
) -> None:
    """Draw additions and seconds against the size of the board, and the crossover."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    blue, orange, gray = "#0072B2", "#D55E00", "#999999"
    figure = Figure(figsize=(12.6, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    left, middle, right = figure.subplots(1, 3)
    ordered = sorted(measured, key=lambda m: m.board.n_codes)
    codes = [m.board.n_codes for m in ordered]

    left.plot(codes, [m.pairs for m in ordered], "s-", color=orange, label="brute force")
    known = [(m.board.n_codes, m.counted) for m in ordered if m.counted]
    left.plot(*zip(*known, strict=True), "o", color=blue, label="elimination, counted")
    left.set_ylabel("additions for all guesses")
    brute_seconds = [m.brute_seconds for m in ordered]
    middle.plot(codes, brute_seconds, "s-", color=orange, label="NumPy, table given")
    seconds_found = [m.masses_seconds for m in ordered]
    middle.plot(codes, seconds_found, "o", color=blue, label="elimination, measured")
    middle.set_ylabel("seconds for all guesses")
    label = "elimination, planned for each number of pegs"
    for pegs in sorted({m.board.pegs for m in ordered}):
        most = max(codes) * 1.5
        family = [Board(pegs, k) for k in range(3, 40) if k**pegs <= most]
        plans = [planned(board) for board in family]
        sizes = [board.n_codes for board in family]
        left.plot(sizes, [p.operations for p in plans], "-", color=blue, label=label, zorder=1)
        middle.plot(sizes, [p.way.seconds for p in plans], "-", color=blue, label=label, zorder=1)
        label = "_"
        left.annotate(
            f"{pegs} pegs",
            (sizes[0], plans[0].operations),
            xytext=(-2, 4),
            textcoords="offset points",
            fontsize=8,
            color=blue,
            ha="right",
        )
    left.set_xlim(left=8)
    for axes, values in ((left, [m.planned for m in ordered]), (middle, seconds_found)):
        axes.set_xlabel("codes of the board")
        for m, value in zip(ordered, values, strict=True):
            axes.annotate(
                str(m.board).replace("x", "×"),
                (m.board.n_codes, value),
                xytext=(-24, 6) if m.board.pegs == 6 else (5, -11),
                textcoords="offset points",
                fontsize=8,
            )

    for (board, (seconds, points)), color in zip(crossovers.items(), (blue, orange), strict=False):
        name = str(board).replace("x", "×")
        right.plot(*zip(*points, strict=True), "s-", color=color, label=f"{name}, brute force")
        right.axhline(seconds, color=color, linestyle="--", label=f"{name}, elimination")
        right.axvline(crossing(seconds, points), color=gray, linewidth=0.8, linestyle=":")
    right.set_xlabel("codes that have belief")
    right.set_ylabel("seconds for all guesses")
    for axes in (left, middle, right):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(top=axes.get_ylim()[1] * 12)  # room for the legend
        axes.grid(color="#dddddd", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper left", fontsize=8, framealpha=1, edgecolor="none")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Print the tables of the page, and draw its figure if asked to."""
    parser = argparse.ArgumentParser(description="What the paper's open question costs.")
    parser.add_argument("--full", action="store_true", help="larger boards too")
    parser.add_argument("--figure", type=Path, help="draw the figure into this file")
    options = parser.parse_args()

    boards = FULL if options.full else QUICK
    measured = [measure(board, count=options.full or board.n_codes < 2000) for board in boards]
    show_additions(measured)
    show_seconds(measured)
    named = [Board(4, 6), Board(5, 8), Board(6, 9)]
    show_classes(named if options.full else named[:2])
    crossovers = {board: crossover(board) for board in named[: 1 + options.full]}
    print("\nBrute force over the codes that have belief is faster below\n")
    for board, (seconds, points) in crossovers.items():
        print(f"{board}  about {crossing(seconds, points):,.0f} codes")
    show_pruning()
    if options.figure:
        draw(measured, crossovers, options.figure)


if __name__ == "__main__":
    main()
