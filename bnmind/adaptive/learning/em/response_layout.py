"""The layout of the response probabilities of all items in one array, and response patterns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
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

    @cached_property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The number of groups and of responses of each item."""
        return tuple(block.shape for block in self.blocks for _ in block.groups)

    @cached_property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """For each item the group of each configuration of its parents."""
        return tuple(sealed(of_item) for block in self.blocks for of_item in block.groups)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The place of the first probability of each item."""
        return tuple(accumulate([n * m for n, m in self.shapes[:-1]], initial=0))

    @cached_property
    def size(self) -> int:
        """The number of probabilities."""
        return sum(n * m for n, m in self.shapes)

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
