"""The ascent of all learners: a step that leads down is halved, and is never convergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.fitting.em import Climb, Place, climb
from bnmind.information import Floats


@dataclass(frozen=True)
class Parabola:
    """The objective −(x − 1)², with steps of one's own."""

    step: Callable[[float], float]

    def at(self, parameters: float) -> Place[float]:
        height = -((parameters - 1) ** 2)
        return Place(parameters, height, height, lambda: self.step(parameters))

    def numbers(self, parameters: float) -> Floats:
        return np.array([parameters])

    def within(self, numbers: Floats, known: float) -> float:
        return float(numbers[0])


def climbed(step: Callable[[float], float], *, accelerate: bool, most: int = 500) -> Climb[float]:
    return climb(Parabola(step), 0.0, max_iterations=most, tolerance=1e-9, accelerate=accelerate)


@pytest.mark.parametrize("accelerate", [False, True])
def test_a_step_too_far_is_halved(accelerate: bool) -> None:
    found = climbed(lambda x: x + 5.2 * (1 - x), accelerate=accelerate)
    assert found.parameters == pytest.approx(1.0, abs=1e-4)
    assert found.converged
    assert np.diff(found.objectives).min() >= 0


@pytest.mark.parametrize("accelerate", [False, True])
def test_a_step_that_leads_down_is_no_convergence(accelerate: bool) -> None:
    found = climbed(lambda x: x - 1, accelerate=accelerate)
    assert found.parameters == 0.0
    assert not found.converged
    assert climbed(lambda x: x - 1, accelerate=accelerate, most=4).steps == 4


def test_rounding_is_no_step_down() -> None:
    found = climbed(lambda x: x if x else 1 + 1e-7, accelerate=False)
    assert found.converged
