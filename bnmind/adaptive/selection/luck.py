"""The random generators of selectors that draw, in live tests and in simulations."""

from __future__ import annotations

import numpy as np

__all__ = ["eligibility_generator", "generator_of", "pilot_generator"]


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


def eligibility_generator(seed: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator that draws, before a test, the items eligible in it.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 2)))


def pilot_generator(seed: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator that draws, before a test, the questions of its pilot items.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 3)))
