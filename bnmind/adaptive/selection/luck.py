"""The luck of tests: which random numbers selectors that draw are given."""

from __future__ import annotations

import numpy as np

__all__ = ["generator_of"]


def generator_of(seed: int, step: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator for one question of one test.

    A live test has the luck of the first examinee of a simulation with the same seed.

    Parameters
    ----------
    seed
        That of the design or the simulation, at least 0.
    step
        How many items were asked before.
    examinee
        The number of the examinee in a simulation.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 1, step)))
