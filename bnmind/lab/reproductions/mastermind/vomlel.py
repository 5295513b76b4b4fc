"""Vomlel's *Bayesian networks in Mastermind* (2004): sizes of junction trees, and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from bnmind.junction import MinWeight
from bnmind.lab.reproductions.base.figures import Figure, Reference, Standing, exact, new
from bnmind.lab.reproductions.base.published import published
from bnmind.lab.reproductions.base.reproduction import Part, Reproduction, Setting
from bnmind.lab.reproductions.mastermind.boards import CLASSIC, board_of
from bnmind.mastermind import Channel, stage
from bnmind.mastermind.network import reduced_to_guess
from bnmind.strategies import build_tree, optimal_on_average, strategy_by_name

_PUBLICATION, _PROGRAM = Standing.PUBLICATION, Standing.PROGRAM

__all__ = ["VOMLEL_BOUNDS", "VOMLEL_SIZES"]


def _size(number: int) -> Sequence[Figure]:
    """Return the size of a stage of the network, proven to be the smallest."""
    row = published("vomlel_sizes")["size"][number]
    name = f"{row['board']}, stage {row['stage']}{'' if row['arc'] else ' without the arc P → C'}"
    board = board_of(row["board"])
    size = stage(board, row["stage"], arc=row["arc"]).tree.total_size
    standing = _PUBLICATION if "published" in row else _PROGRAM
    theirs = row.get("published", row.get("confirmed"))
    figures = [exact(name, size, None if theirs is None else Reference(theirs, standing))]
    if "confirmed_greedy" in row:
        greedy = stage(board, row["stage"], arc=row["arc"], order=MinWeight()).tree.total_size
        name += ", by a greedy pass that eliminates the smallest clique first"
        figures.append(exact(name, greedy, Reference(row["confirmed_greedy"], _PROGRAM)))
    return figures


def _reduced(guess: str) -> Sequence[Figure]:
    from bnmind.junction import junction_tree

    tree = junction_tree(reduced_to_guess(CLASSIC, CLASSIC.parse(guess)))
    return (new(f"4x6, stage 2 pruned to the guess {guess}", tree.total_size),)


def _sizes(setting: Setting) -> Sequence[Part]:
    figures = published("vomlel_sizes")
    return (
        *(Part(f"size {number}", partial(_size, number)) for number in range(len(figures["size"]))),
        *(Part(guess, partial(_reduced, guess)) for guess in figures["reduced-to-guess"]),
    )


def _bounds() -> Sequence[Figure]:
    lengths = build_tree(strategy_by_name("neuwirth"), Channel.exact(CLASSIC)).lengths
    known = published("mastermind_totals")["heuristics"]["neuwirth"]
    knuth = build_tree(strategy_by_name("knuth"), Channel.exact(CLASSIC)).total
    replies, codes = len(CLASSIC.true_replies), CLASSIC.n_codes
    least = math.log(codes) / math.log(replies) + 1
    bound, mean = (Reference(value, _PUBLICATION) for value in (3.716, 4.478))
    optimum = optimal_on_average(CLASSIC).total
    return (
        exact("true replies", replies, Reference(14, _PUBLICATION)),
        exact("lower bound of the mean number of guesses", least, bound, digits=3),
        exact("Koyama and Lai, total", optimum, Reference(5625, _PUBLICATION)),
        exact(
            "Knuth, mean",
            knuth / codes,
            mean,
            digits=3,
            why="4.478 is 5804/1296; the rule of Knuth's paper, worst case first and then a code "
            "that is still possible, gives 5801 if ties go to the first guess in order",
        ),
        *(
            exact(f"{name}, total", round(length * codes), Reference(known[key], _PROGRAM))
            for name, length, key in (
                ("minimal expected entropy, EL of section 2", lengths.paper_EL, "paper_EL"),
                ("the same, until the code is known", lengths.determining, "determining"),
                ("the same, until the code is guessed", lengths.revealing, "total"),
            )
        ),
    )


VOMLEL_SIZES = Reproduction(
    title="sizes of the junction trees of Vomlel's network",
    source="J. Vomlel, Bayesian networks in Mastermind (2004), section 4",
    quick_minutes=0.1,
    minutes=0.1,
    parts=_sizes,
    text="Sizes are total table cells of the maximal cliques; but for the greedy pass, they are "
    "proven to be the smallest. The paper "
    "says of stage 2 with the arc from P to C only that it is more than 20,526,445: the program "
    "used at the time ran out of memory.",
)

VOMLEL_BOUNDS = Reproduction(
    title="means and bounds without noise that Vomlel quotes",
    source="J. Vomlel, Bayesian networks in Mastermind (2004), section 2",
    quick_minutes=0.1,
    minutes=0.1,
    parts=lambda setting: (Part("bounds", _bounds),),
)
