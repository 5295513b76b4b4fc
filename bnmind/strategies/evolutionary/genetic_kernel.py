"""The genetic search for eligible codes, compiled; see `genetic`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.evolutionary.fitness import Replies, code_cost
from bnmind.strategies.evolutionary.operators import Choices, Rates, breed, draw_code
from bnmind.strategies.evolutionary.population import (
    add_code,
    draw_parent,
    fill_distinct,
    selection_weights,
)

__all__ = ["Archive", "collect_best"]


class Archive(NamedTuple):
    """The codes of the smallest cost that a search has found."""

    codes: NDArray[np.uint8]
    """``(room, pegs)``, the codes; only the first ones are filled."""
    keys: NDArray[np.uint64]
    """The keys of the codes."""
    counts: NDArray[np.int64]
    """The number of codes, their cost, and the number of codes evaluated."""


@njit
def collect_best(
    population: NDArray[np.uint8],
    archive: Archive,
    replies: Replies,
    choices: Choices,
    rates: Rates,
    plan: tuple[int, int, int, int, int],
    state: NDArray[np.uint64],
) -> None:
    """Evolve a population, and collect the codes of the smallest cost that occur.

    A child that is in the new population already is replaced by a random code.

    Parameters
    ----------
    population
        ``(codes, pegs)``, overwritten; the first generation.
    archive
        The codes found. The search ends once it is full of eligible codes.
    replies, choices, rates
        The game, the colors to try, and the rates of the operators.
    plan
        The number of generations, the number of generations without a new eligible code that ends
        the search once there is one, the value of a `Selection`, b·P·(i − 1), and the number of
        codes of the first generation that are given; the others are random.
    state
        The state of the random numbers.
    """
    max_generations, patience, selection, top, n_given = plan
    latest = 0
    n = population.shape[0]
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    costs = np.zeros(n, dtype=np.int64)
    room = 64
    while room < 4 * n:
        room *= 2
    keys = np.zeros(room, dtype=np.uint64)
    for i in range(n_given):
        add_code(keys, population[i])
    fill_distinct(population, n_given, keys, choices, state)
    children = np.empty_like(population)
    for generation in range(max_generations + 1):
        if archive.counts[1] == 0 and generation - latest > patience:
            return
        if generation > 0:
            weights = selection_weights(costs, selection, top)
            keys[:] = 0
            for i in range(n):
                mother = population[draw_parent(weights, state)]
                father = population[draw_parent(weights, state)]
                breed((mother, father), children[i], rates, choices, state)
                if not add_code(keys, children[i]):
                    draw_code(children[i], choices, state)
                    add_code(keys, children[i])
            population, children = children, population
        for i in range(n):
            costs[i] = code_cost(population[i], replies, counts)
            if costs[i] < archive.counts[1]:
                archive.counts[0], archive.counts[1] = 0, costs[i]
                archive.keys[:] = 0
            room_left = archive.counts[0] < archive.codes.shape[0]
            if (
                costs[i] == archive.counts[1]
                and room_left
                and add_code(archive.keys, population[i])
            ):
                archive.codes[archive.counts[0]] = population[i]
                archive.counts[0] += 1
                latest = generation
        archive.counts[2] += n
        if archive.counts[1] == 0 and archive.counts[0] == archive.codes.shape[0]:
            return
