"""Learning items with the sequential model, step by step.

The likelihood of a `Sequential` item is a product over its steps. A step is right for examinees
who went beyond it, wrong for those who stopped there, and missing for others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind.adaptive.learning.parameters.block import ItemBlock, RuleBlock
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.sequential import Sequential
from bnmind.information import Floats

__all__ = ["StepsBlock"]


@dataclass(frozen=True, eq=False)
class StepsBlock(RuleBlock):
    """An item with a `Sequential` model.

    Parameters
    ----------
    rule
        The item.
    steps
        A block for each step, with one item and two responses.
    """

    steps: tuple[ItemBlock, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """The number of configurations, and the number of steps plus one."""
        return len(self.rule.channel), len(self.steps) + 1

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters of all steps."""
        return tuple(
            (name, f"step {number}: {what}")
            for number, step in enumerate(self.steps, 1)
            for name, what in step.parameters
        )

    @property
    def limits(self) -> Floats:
        """The limits of all steps."""
        return np.concatenate([step.limits for step in self.steps])

    def parts_of(self, values: Floats) -> list[Floats]:
        """Return the parameters of each step."""
        ends = np.cumsum([len(step.parameters) for step in self.steps])
        return np.split(values, ends[:-1])

    def start(self) -> Floats:
        """Return the parameters of all steps."""
        return np.concatenate([step.start() for step in self.steps])

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters of all steps."""
        return np.concatenate([step.draw(rng) for step in self.steps])

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each number of steps in each configuration."""
        reached = np.ones(len(self.rule.channel))
        columns = []
        for step, part in zip(self.steps, self.parts_of(values), strict=True):
            chances = step.response_parameters(part)[0][step.groups[0]]
            columns.append(reached * chances[:, 0])
            reached = reached * chances[:, 1]
        return np.stack([*columns, reached], axis=1)[None]

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return the best parameters of each step."""
        best = []
        for number, (step, part) in enumerate(zip(self.steps, self.parts_of(values), strict=True)):
            stopped = counts[0][:, number]
            beyond = counts[0][:, number + 1 :].sum(axis=1)
            grouped = np.zeros(step.shape)
            np.add.at(grouped, step.groups[0], np.stack([stopped, beyond], axis=1))
            best.append(step.maximize(part, grouped[None]))
        return np.concatenate(best)

    def log_prior(self, values: Floats) -> float:
        """Return the sum over all steps."""
        parts = zip(self.steps, self.parts_of(values), strict=True)
        return sum(step.log_prior(part) for step, part in parts)

    def valid(self, values: Floats) -> bool:
        """Return whether all steps are valid."""
        parts = zip(self.steps, self.parts_of(values), strict=True)
        return all(step.valid(part) for step, part in parts)

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the sequential model of the steps."""
        parts = zip(self.steps, self.parts_of(values), strict=True)
        models = [model for step, part in parts for model in step.response_models(part)]
        return (Sequential(tuple(model for model in models if model is not None)),)
