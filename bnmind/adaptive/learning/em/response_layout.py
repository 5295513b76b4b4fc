"""The layout of the response probabilities of all items in one array, and response patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.learning.parameters.block import ItemBlock
from bnmind.adaptive.responses.responses import Responses
from bnmind.information import Floats

__all__ = ["Expectation", "Expected", "Patterns", "ResponseLayout"]


class Expected(NamedTuple):
    """The expected counts given all responses: the result of an E-step."""

    log_likelihood: float
    """Natural logarithm of the probability of all responses."""
    counts: Floats
    """The expected number of examinees for each response probability, see `ResponseLayout`."""
    families: tuple[Floats, ...]
    """The expected number of examinees for each entry of the tables of the skills."""


class Expectation(Protocol):
    """The interface of E-steps."""

    def __call__(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Expected:
        """Return expected counts, given all response probabilities and the skills' tables.

        Raises
        ------
        ImpossibleEvidenceError
            If an examinee's responses have probability zero.
        """


class Patterns(NamedTuple):
    """The distinct rows of responses, with the number of examinees of each."""

    rows: NDArray[np.signedinteger[Any]]
    counts: Floats
    examinees: tuple[str, ...]
    """The first examinee with each row."""

    @classmethod
    def of(cls, responses: Responses, among: NDArray[np.bool_] | None = None) -> Patterns:
        """Return the patterns of some responses, or of some of their examinees."""
        rows, inverse, _ = responses.patterns
        chosen = np.arange(len(inverse)) if among is None else np.flatnonzero(among)
        first = np.full(len(rows), len(inverse), dtype=np.intp)
        np.minimum.at(first, inverse[chosen], chosen)
        counts = np.bincount(inverse[chosen], minlength=len(rows))
        used = np.flatnonzero(counts)
        names = tuple(responses.examinees[place] for place in first[used].tolist())
        return cls(rows[used], counts[used].astype(np.float64), names)


@dataclass(frozen=True, eq=False)
class ResponseLayout(Sealed):
    """The order of response probabilities in one array: by block, item, group, response.

    Parameters
    ----------
    blocks
        The blocks.
    columns
        The column in the responses of each item, in the order of the blocks.
    """

    blocks: tuple[ItemBlock, ...]
    columns: tuple[int, ...]
    starts: tuple[int, ...] = field(init=False)
    """The place of the first probability of each item."""
    shapes: tuple[tuple[int, int], ...] = field(init=False)
    """The number of groups and of responses of each item."""
    groups: tuple[NDArray[np.intp], ...] = field(init=False)
    """For each item the group of each configuration of its parents."""
    size: int = field(init=False)

    def __post_init__(self) -> None:
        starts, shapes, groups = [], [], []
        end = 0
        for block in self.blocks:
            for of_item in block.groups:
                starts.append(end)
                shapes.append(block.shape)
                groups.append(of_item)
                end += block.shape[0] * block.shape[1]
        object.__setattr__(self, "starts", tuple(starts))
        object.__setattr__(self, "shapes", tuple(shapes))
        object.__setattr__(self, "groups", tuple(groups))
        object.__setattr__(self, "size", end)
        super().__post_init__()

    def response_parameters(self, values: Sequence[Floats]) -> Floats:
        """Return all response probabilities, given the parameters of each block."""
        parts = [
            block.response_parameters(v).reshape(-1)
            for block, v in zip(self.blocks, values, strict=True)
        ]
        return np.concatenate(parts)

    def parts(self, array: Floats) -> list[Floats]:
        """Return an array in this layout split by block, ``(items, groups, responses)``."""
        blocks, end = [], 0
        for block in self.blocks:
            shape = (len(block.groups), *block.shape)
            size = shape[0] * shape[1] * shape[2]
            blocks.append(array[end : end + size].reshape(shape))
            end += size
        return blocks

    def indicators(self, rows: NDArray[np.signedinteger[Any]]) -> Floats:
        """Return indicators of the responses in each row, ``(rows, responses of all items)``."""
        columns = []
        for column, (_, n_responses) in zip(self.columns, self.shapes, strict=True):
            columns.append(rows[:, column, None] == np.arange(n_responses))
        return np.concatenate(columns, axis=1).astype(np.float64)
