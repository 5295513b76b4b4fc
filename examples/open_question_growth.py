"""The paper's open question: for which boards the color elimination wins, and how both ways grow.

Prints the tables of the section "For which boards it wins" of docs/open-question.md: additions
and seconds of the color elimination and of brute force for few and many colors, additions a code,
and the elimination position by position in Vomlel's own network.

Run it with ``python examples/open_question_growth.py``; it takes about a quarter of a minute.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable
from math import comb
from typing import TypeAlias

import numpy as np

from bnmind.information import Floats
from bnmind.mastermind import Board, Reply, reply_masses
from bnmind.mastermind.color_elimination import (
    elimination,
    elimination_additions,
    masses_by_elimination,
)

TIMED = (
    *(Board(n, 2) for n in (4, 6, 8)),
    *(Board(n, 3) for n in (4, 5, 6, 7)),
    *(Board(n, 4) for n in (3, 4, 5, 6)),
    *(Board(n, 6) for n in (3, 4)),
    *(Board(n, 8) for n in (3, 4)),
)

State: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], int]


def seconds(run: Callable[[], object], *, rounds: int = 7) -> float:
    """Return the processor time of the fastest of some rounds, after one that compiles."""
    run()
    found = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def additions_by_position(board: Board) -> int:
    """Return how many numbers `masses_by_position` adds up on a board with repeats."""
    n, k = board.pegs, board.colors
    # With j positions eliminated: the codes' colors on n − j positions, the guess's on j,
    # how often the code has each color on them, and black pegs; each row for each color.
    return sum(k**n * comb(k + j - 1, j) * (j + 1) * k for j in range(n))


def masses_by_position(board: Board, belief: Floats) -> tuple[Floats, int]:
    """Return the masses of all guesses, and the rows summed, eliminating H₁, H₂, … in turn.

    This is variable elimination in Vomlel's network with the guess T₁, …, Tₙ kept as variables.
    Eliminating Hⱼ leaves a table over H of the later positions, T of the earlier ones, the
    partial sums of C₁, …, C_k, and that of P.
    """
    rows: dict[State, float] = {
        (tuple(code.tolist()), (), (0,) * board.colors, 0): float(mass)
        for code, mass in zip(board.codes, belief, strict=True)
    }
    summed = 0
    for _ in range(board.pegs):
        after: dict[State, float] = defaultdict(float)
        for (free, guess, counts, black), mass in rows.items():
            color = free[0]
            more = tuple(count + (c == color) for c, count in enumerate(counts, start=1))
            for peg in range(1, board.colors + 1):
                after[free[1:], (*guess, peg), more, black + (peg == color)] += mass
                summed += 1
        rows = after
    masses = np.zeros((board.n_codes, len(board.true_replies)))
    place = {reply: i for i, reply in enumerate(board.true_replies)}
    for (_, guess, counts, black), mass in rows.items():
        wanted = Counter(guess)
        both = sum(min(count, wanted[c]) for c, count in enumerate(counts, start=1))
        masses[board.index(guess), place[Reply(black, both - black)]] += mass
    return masses, summed


def show_boards() -> None:
    """Print additions and seconds of boards with few and with many colors."""
    print("Every code has belief\n")
    print("board   brute force   elimination  ratio    ms brute  ms elimination  ratio")
    for board in TIMED:
        belief = np.random.default_rng(0).dirichlet(np.ones(board.n_codes))
        brute, planned = board.n_codes**2, elimination_additions(board)
        plain = 1e3 * seconds(lambda b=board, q=belief: reply_masses(b, q))  # type: ignore[misc]
        fast = 1e3 * seconds(lambda b=board, q=belief: masses_by_elimination(b, q))  # type: ignore[misc]
        print(
            f"{board!s:5}{brute:14,}{planned:14,}{brute / planned:7.2f}{plain:12.3f}{fast:16.3f}"
            f"{plain / fast:7.2f}"
        )


def show_growth() -> None:
    """Print the additions a code, and how they grow with pegs and colors."""
    print("\nAdditions a code, at most, for a fixed number of pegs\n")
    before = None
    for n in range(2, 7):
        most = max(
            round(elimination(n, d).additions / len(elimination(n, d).places))
            for d in range(1, n + 1)
        )
        grown = f", {most / before:.1f} times those of {n - 1} pegs" if before else ""
        print(f"{n} pegs: {most:,}{grown}")
        before = most
    print("\nBrute force / elimination, additions, for a fixed number of colors\n")
    for k, most in ((2, 9), (3, 8), (4, 7), (5, 6), (6, 6)):
        ratios = [
            Board(n, k).n_codes ** 2 / elimination_additions(Board(n, k))
            for n in range(2, most + 1)
        ]
        print(f"{k} colors, 2 to {most} pegs: " + "  ".join(f"{ratio:.3g}" for ratio in ratios))


def show_positions() -> None:
    """Print what the elimination position by position adds up."""
    print("\nAdditions: brute force, position by position, color by color\n")
    for board in (Board(3, 4), Board(4, 6), Board(5, 8), Board(6, 9)):
        print(
            f"{board}{board.n_codes**2:18,}{additions_by_position(board):18,}"
            f"{elimination_additions(board):16,}"
        )


def main() -> None:
    """Print all tables."""
    board = Board(3, 4)
    belief = np.random.default_rng(0).dirichlet(np.ones(board.n_codes))
    masses, summed = masses_by_position(board, belief)
    assert np.allclose(masses, reply_masses(board, belief), rtol=0, atol=1e-14)
    assert summed <= additions_by_position(board)
    show_boards()
    show_growth()
    show_positions()


if __name__ == "__main__":
    main()
