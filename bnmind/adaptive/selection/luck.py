"""The random generators of selectors that draw, in live tests and in simulations."""

from __future__ import annotations

import numpy as np

from bnmind.information import Floats

__all__ = ["eligibility_luck", "generator_of", "pilot_generator"]

_SPREAD = 20
"""The eligibility of an item is spread evenly over so many examinees."""


def generator_of(seed: int, step: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator for one question of one test.

    A live test has the generators of the first examinee of a simulation with the same seed.

    Parameters
    ----------
    seed
        The seed of the design or the simulation, at least 0.
    step
        The number of items asked before.
    examinee
        The number of the examinee in a simulation.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 1, step)))


def eligibility_luck(seed: int, n_items: int, *, examinee: int = 0) -> Floats:
    """Return the numbers that decide, before a test, which items are eligible in it, ``(items,)``.

    Each is uniform in [0, 1), and those of the items are independent. Those of one item are spread
    evenly over 20 examinees in a row, as in systematic sampling. So a simulation makes an item
    eligible nearly as often as its probability says.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    n_items
        The number of items.
    """
    place = examinee % _SPREAD
    sequence = np.random.SeedSequence(seed, spawn_key=(examinee - place, 2))
    rng = np.random.default_rng(sequence)
    luck = rng.random(n_items)
    if place:
        shifts = rng.permuted(np.tile(np.arange(1, _SPREAD)[:, None], n_items), axis=0)
        luck = (luck + shifts[place - 1] / _SPREAD) % 1.0
    return luck


def pilot_generator(seed: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator that draws, before a test, the questions of its pilot items.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 3)))
