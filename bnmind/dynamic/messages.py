"""Messages between slices, whose cells may be of any size.

A state that looks hopeless for hundreds of slices may be the true one, and doubles reach down to
10^−308 only. So a message with such states is kept as logarithms, and a slice runs once for each
*band* of cells of similar size. A slice is linear in its messages: the joints of the bands add up.
Nearly all messages have one band, and are plain numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnmind.information import Floats

__all__ = ["Message", "Total", "bands"]

_WIDTH = 300.0
"""The natural logarithm of the largest ratio of two cells of a band. The rest of the range of
doubles is for the tables and the findings of a slice."""

_LEAST = math.exp(-_WIDTH)


class Message(NamedTuple):
    """A table over the interface for each sequence, up to a factor for each."""

    values: Floats
    """``(sequences, *states)``"""
    is_log: bool = False
    """Whether the values are natural logarithms."""


def _beside(scale: Floats, values: Floats) -> Floats:
    """Return a number for each sequence in the shape of values, to be broadcast."""
    return scale.reshape(-1, *[1] * (values.ndim - 1))


def bands(message: Message) -> list[tuple[Floats, Floats]]:
    """Return the cells of a message in bands: logarithms of scales ``(sequences,)``, and numbers.

    >>> import numpy as np
    >>> [(scale.tolist(), values.tolist()) for scale, values in bands(
    ...     Message(np.array([[0.0, -1000.0]]), is_log=True)
    ... )]
    [([0.0], [[1.0, 0.0]]), ([-1000.0], [[0.0, 1.0]])]
    """
    left = message.values
    if not message.is_log:
        return [(np.zeros(len(left)), left)]
    axes = tuple(range(1, left.ndim))
    found: list[tuple[Floats, Floats]] = []
    while True:
        scale = left.max(axis=axes)
        if np.isneginf(scale).all():
            return found
        top = _beside(np.where(np.isneginf(scale), 0.0, scale), left)
        is_near = left >= top - _WIDTH
        found.append((scale, np.where(is_near, np.exp(np.minimum(left - top, 0.0)), 0.0)))
        left = np.where(is_near, -np.inf, left)


class Total:
    """The sum of the joints of several bands. `add` changes it."""

    def __init__(self) -> None:
        self.joints: list[Floats] = []
        """The normalized joints, ``(sequences, *states)``."""
        self.logs: Floats = np.empty(0)
        """Natural logarithms of the sums, ``(sequences,)``."""
        self._parts: list[tuple[Floats, Floats]] = []

    def add(self, logs: Floats, joints: Sequence[Floats]) -> None:
        """Add normalized joints with the logarithms of their sums."""
        self._parts.append((logs, joints[0] if joints else np.ones(len(logs))))
        if not self.joints:
            self.logs, self.joints = logs, list(joints)
            return
        total = np.logaddexp(self.logs, logs)
        ground = np.where(np.isneginf(total), 0.0, total)
        old, new = np.exp(self.logs - ground), np.exp(logs - ground)
        self.joints = [
            _beside(old, before) * before + _beside(new, joint) * joint
            for before, joint in zip(self.joints, joints, strict=True)
        ]
        self.logs = total

    def message(self) -> Message:
        """Return the first joint as a message."""
        joint = self.joints[0]
        if len(self._parts) == 1:
            is_far = (joint > 0) & (joint < _LEAST)
            if not is_far.any():
                return Message(joint)
        ground = np.where(np.isneginf(self.logs), 0.0, self.logs)
        with np.errstate(divide="ignore"):
            terms = [_beside(logs - ground, part) + np.log(part) for logs, part in self._parts]
        return Message(np.logaddexp.reduce(terms, axis=0), is_log=True)
