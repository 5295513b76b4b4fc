"""How response probabilities and profiles depend on the parameters that are learned."""

from __future__ import annotations

import numpy as np

from bnmind.adaptive.learning.em.e_step_table import TableExpectation, placed_sums
from bnmind.adaptive.learning.fit.standard_errors import skill_scores
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.parameters.block import ItemBlock
from bnmind.information import Floats

__all__ = ["block_slopes", "class_slopes"]

_STEP = 1e-6


def block_slopes(block: ItemBlock, values: Floats) -> Floats:
    """Return the derivatives of a block's response probabilities, ``(probabilities, parameters)``.

    They are differences within the limits; parameters with equal limits have none.
    """
    columns = []
    for place, (value, (low, high)) in enumerate(zip(values.tolist(), block.limits, strict=True)):
        step = _STEP * max(1.0, abs(value))
        up, down = values.copy(), values.copy()
        up[place], down[place] = min(value + step, high), max(value - step, low)
        change = block.response_parameters(up) - block.response_parameters(down)
        width = up[place] - down[place]
        columns.append(change.reshape(-1) / width if width > 0 else np.zeros(change.size))
    size = block.response_parameters(values).size
    return np.array(columns).reshape(len(columns), size).T


def class_slopes(learned: Learned, expectation: TableExpectation) -> Floats:
    """Return the derivatives of the classes' probabilities, ``(classes, free parameters)``."""
    skills, tables = learned.model.skills, learned.parameters.skills
    n_classes = expectation.places.shape[1]
    of_class = placed_sums(expectation.classes, skills.prior(tables), n_classes)
    if skills.saturated:
        slopes = np.eye(n_classes)
        slopes[int(of_class.argmax())] -= 1.0
        return np.delete(slopes, int(of_class.argmax()), axis=1)
    # The scores of somebody whose class is known are the slopes of its log-probability.
    scores = skill_scores(learned, expectation, np.eye(n_classes))
    return of_class[:, None] * np.array(scores).reshape(len(scores), n_classes).T
