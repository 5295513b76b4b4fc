"""Measure strategies under noise against the best play, on boards where that can be computed.

    python -m benchmarks.belief_game_bounds 3x3 --noise false:0.2 --gap 0.01 entropy lookahead
    python -m benchmarks.belief_game_bounds 4x6 --noise false:0.2

prints the lower bound for any strategy. With strategies, or a gap, it also prints the bounds of the
exact solver, and the mean of each strategy: at least, and if games that are not followed to their
end guess the codes in the order of their probabilities.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from bnmind.mastermind import Board, Channel, parse_noise
from bnmind.strategies import (
    SolvedPlayer,
    Strategy,
    mean_lower_bound,
    mean_under_noise,
    solve_belief_game,
    strategy_by_name,
)

__all__ = ["main"]


def show_solution(
    channel: Channel, strategies: Sequence[Strategy], gap: float, mass: float
) -> None:
    """Print the bounds of the solver, and the mean of its player and of each strategy."""
    solution = solve_belief_game(channel, gap=gap, max_beliefs=10**6)
    print(solution, flush=True)
    for strategy in (SolvedPlayer(solution), *strategies):
        found = mean_under_noise(strategy, channel, least_mass=mass)
        print(
            f"{found.strategy:16} {found.lower:.4f} to {found.mean:.4f}, "
            f"{found.unfinished:.2%} unfinished, {found.beliefs:,} beliefs",
            flush=True,
        )


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("board", help="pegs and colors, such as 3x3")
    parser.add_argument("strategies", nargs="*", help="names of deterministic strategies")
    parser.add_argument("--noise", default="false:0.2")
    parser.add_argument("--gap", type=float, help="guesses between the bounds of the solver")
    parser.add_argument("--least-mass", type=float, default=1e-6)
    options = parser.parse_args()
    pegs, colors = map(int, options.board.split("x"))
    channel = parse_noise(Board(pegs, colors), options.noise)
    print(mean_lower_bound(channel), flush=True)
    strategies = [strategy_by_name(name) for name in options.strategies]
    if strategies or options.gap is not None:
        show_solution(channel, strategies, options.gap or 0.01, options.least_mass)


if __name__ == "__main__":
    main()
