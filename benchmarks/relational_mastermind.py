"""How long the code of relational Mastermind games takes, exactly, and what the networks measure.

Usage: ``python -m benchmarks.relational_mastermind [CC_GG_PP ...] [--replies N ...] [--seed N]``

An instance is named by its numbers of colors, guesses and pegs. For each, a code and the guesses
are drawn at random; the evidence is all guesses and replies, or the first N of them with
``--replies``. `Engine.posterior` gives the distribution of every color of every peg. It
is compared with an enumeration of all codes by `TableBelief`. Times are the processor's, since
a busy machine does not change them. They include the engine, its plans and the run, but not the
compilation of kernels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.relational_network import (
    RelationalSize,
    code_probabilities,
    code_targets,
    random_turns,
    relational_evidence,
    relational_network,
    relational_size,
)
from bnmind.junction import compile_model
from bnmind.mastermind import Board, Channel, TableBelief, Turn

INSTANCES = tuple(f"{k:02}_08_{n:02}" for n in (3, 4, 5) for k in range(3, 11))
CLOSE = 1e-12


class Measured(NamedTuple):
    """An instance with some of its replies."""

    size: RelationalSize
    first: float
    """Processor seconds until the answer of a new engine."""
    codes: int
    """The number of codes that the replies allow."""
    differ: float
    """The largest difference of a probability from the enumeration."""


def belief_after(board: Board, turns: Sequence[Turn]) -> TableBelief:
    """Return the belief by enumeration of all codes."""
    belief = TableBelief.start(Channel.exact(board))
    for turn in turns:
        belief = belief.update(turn.guess, turn.reply)
    return belief


def measure(name: str, n_replies: int | None, *, seed: int) -> Measured:
    """Answer an instance, and compare."""
    colors, guesses, pegs = map(int, name.split("_"))
    board = Board(pegs, colors)
    network = relational_network(board, guesses)
    turns = random_turns(board, guesses, rng=np.random.default_rng(seed))[:n_replies]
    evidence, targets = relational_evidence(board, turns), list(code_targets(board))
    start = time.process_time()
    posterior = compile_model(network).posterior(targets, evidence)
    first = time.process_time() - start
    belief = belief_after(board, turns)
    differ = np.abs(code_probabilities(board, posterior) - belief.codes.marginals()).max()
    if not differ <= CLOSE:
        raise RuntimeError(f"{name}: the answers differ by {differ:.1e}")
    return Measured(relational_size(network), first, belief.codes.possible_codes(), float(differ))


def main() -> None:
    """Print a row of a table for each instance."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=INSTANCES, metavar="CC_GG_PP")
    parser.add_argument("--replies", type=int, nargs="*", default=[None], metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    measure("03_02_03", None, seed=0)  # loads the kernels
    print("| instance | replies | variables | deterministic | arcs | seconds | codes | differ |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in options.names:
        for n in options.replies:
            got = measure(name, n, seed=options.seed)
            given = int(name.split("_")[1]) if n is None else n
            print(
                f"| {name} | {given} | {got.size.variables:,} | {got.size.deterministic:,} |"
                f" {got.size.arcs:,} | {got.first:.2f} | {got.codes:,} | {got.differ:.0e} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
