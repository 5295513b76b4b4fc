"""Measure how much a third step of look-ahead would gain, in positions of games under noise.

    python -m benchmarks.look_ahead_depth --noise false:0.2 --positions 40

plays games of 4x6 with two-step look-ahead, and stops each before a given turn. In the position it
scores the five guesses that are best two steps ahead once more, three steps ahead. It prints, for
each turn, the mean number of guesses that the best of them saves against the choice of two-step
look-ahead, and the number that one-step look-ahead loses against it. The value at the end of the
search is the same, so this measures the search, not the value.

It first prints the total number of guesses over all codes without noise, where the optimum is known
to be 5,625.
"""

from __future__ import annotations

import argparse

import numpy as np

from bnmind.mastermind import Board, Channel, CodeDistribution, parse_noise, reply
from bnmind.strategies import LookAhead, LookAheadTwo, mean_under_noise, shipped_value
from bnmind.strategies.belief_game import third_step

__all__ = ["main"]


def position(
    player: LookAheadTwo, channel: Channel, turns: int, rng: np.random.Generator
) -> CodeDistribution | None:
    """Return the belief of a game after some turns; None if it ended, or all but ended."""
    board = channel.board
    belief = player.start(channel.revealed())
    secret = int(rng.integers(board.n_codes))
    for _ in range(turns):
        guess, _ = player.choose(belief, rng)
        if guess == secret:
            return None
        true = board.true_replies.index(reply(board.code(guess), board.code(secret)))
        chances = channel.revealed().matrix[true]
        report = channel.revealed().reports[rng.choice(len(chances), p=chances)]
        belief = belief.update(board.code(guess), report)
    return belief.codes if belief.codes.probabilities.max() < 0.97 else None


def _summary(values: list[float]) -> str:
    found = np.array(values)
    return f"{found.mean():.4f} ± {found.std(ddof=1) / len(found) ** 0.5:.4f}"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", default="false:0.2")
    parser.add_argument("--positions", type=int, default=40, help="positions of each turn")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    board = Board(4, 6)
    for strategy in (LookAhead(), LookAheadTwo()):
        total = mean_under_noise(strategy, Channel.exact(board)).mean * board.n_codes
        print(f"without noise, {strategy.name}: {total:,.0f} guesses over all codes", flush=True)
    channel = parse_noise(board, options.noise)
    value, rng = shipped_value(channel), np.random.default_rng(options.seed)
    for turns in (1, 2, 3, 4):
        two: list[float] = []
        one: list[float] = []
        while len(two) < options.positions:
            codes = position(LookAheadTwo(), channel, turns, rng)
            if codes is not None:
                lost = third_step(codes, channel, value)
                two.append(lost.two_steps)
                one.append(lost.one_step)
        print(
            f"{options.noise}, guess {turns + 1}, {len(two)} positions: a third step saves"
            f" {_summary(two)} guesses; one step alone loses {_summary(one)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
