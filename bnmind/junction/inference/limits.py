"""Limits of what a run of a plan may cost, and the refusal of a plan that is over them.

The cost of a run is the multiplications it makes and the bytes it holds at the same time: the
model's tables, the messages that are still needed, and what lies between them. Both are
predicted from the plan alone. Clique sizes are not counted, since no table of a clique is made;
they tell the cost only roughly, see `SURELY_TOO_LARGE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bnmind._messages import bytes_text, many
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree

__all__ = ["DEFAULT_LIMITS", "DEFAULT_PLAN_BYTES", "DEFAULT_PLAN_MULTIPLICATIONS", "Limits"]

DEFAULT_PLAN_BYTES = 2**31
"""Bytes that a run may hold unless the caller says otherwise: 2 GiB."""

DEFAULT_PLAN_MULTIPLICATIONS = 2**34
"""Multiplications that a run may take unless the caller says otherwise: about ten seconds."""

SURELY_TOO_LARGE = 4
"""A plan of so many times as many cells as multiplications are allowed is not put together.
On the networks of bnlearn's repository a run takes .26 to 4 multiplications a cell."""

HOPELESS = 2**64
"""A tree of so many times as many cells by a quick order is not searched for. On pedigrees a search
makes an order four million times smaller than a quick one."""

_WAY_OUT = (
    "Observe more variables, ask for fewer targets, pass order=BestOrder(), or raise the limit."
)


@dataclass(frozen=True)
class Limits:
    """The most that a run of a plan may cost."""

    max_bytes: int = DEFAULT_PLAN_BYTES
    """The most bytes held at the same time."""
    max_multiplications: int = DEFAULT_PLAN_MULTIPLICATIONS
    """The most multiplications."""

    def __post_init__(self) -> None:
        for name in ("max_bytes", "max_multiplications"):
            if getattr(self, name) < 1:
                raise InvalidArgumentError(f"{name} must be at least 1, got {getattr(self, name)}")

    @property
    def most_cells(self) -> int:
        """The most cells of a plan that is put together."""
        return SURELY_TOO_LARGE * self.max_multiplications

    @property
    def hopeless_cells(self) -> int:
        """The most cells of a tree that is looked at."""
        return HOPELESS * self.max_multiplications

    @property
    def table_cells(self) -> int:
        """The most numbers that the tables of a model may hold."""
        return self.max_bytes // 8

    def refusal(
        self, multiplications: int, memory: int, largest: Clique | None, *, roughly: bool = False
    ) -> TooLargeError | None:
        """Return the error of a plan that costs more than this; None if it does not.

        Parameters
        ----------
        multiplications
            Of a run.
        memory
            Bytes that a run holds.
        largest
            The largest clique, which the error names.
        roughly
            Whether the numbers are estimates.
        """
        if multiplications <= self.max_multiplications and memory <= self.max_bytes:
            return None
        times, held = many(multiplications), bytes_text(memory)
        if roughly:
            times, held = (f"about {text.removeprefix('about ')}" for text in (times, held))
        clique = ""
        if largest is not None:
            names = ", ".join(largest.variables)
            clique = f" The largest clique is {{{names}}} with {many(largest.size)} cells."
        # What is over its limit by more is told as the reason.
        by_bytes = memory * self.max_multiplications > multiplications * self.max_bytes
        needed, budget = (
            (memory, self.max_bytes) if by_bytes else (multiplications, self.max_multiplications)
        )
        return TooLargeError(
            f"a run of this plan would take {times} multiplications and {held}; allowed are"
            f" max_multiplications="
            f"{self.max_multiplications:,} and max_bytes={self.max_bytes:,}.{clique} {_WAY_OUT}",
            needed=needed,
            budget=budget,
        )

    def refusal_of_trees(
        self, trees: Sequence[JunctionTree], sizes: Mapping[str, int]
    ) -> TooLargeError | None:
        """Return the error of trees that are surely too large, by a rough estimate.

        Parameters
        ----------
        trees
            Of a plan that is not put together yet.
        sizes
            The number of states of each variable.
        """
        cells = sum(tree.total_size for tree in trees)
        if cells <= self.most_cells:
            return None
        messages = max(
            sum(math.prod([sizes[name] for name in edge.separator]) for edge in tree.edges)
            for tree in trees
        )
        largest = max((c for tree in trees for c in tree.cliques), key=lambda clique: clique.size)
        return self.refusal(cells, 8 * messages, largest, roughly=True)

    def refusal_of_cells(self, cells: int) -> TooLargeError:
        """Return the error of a model whose tree was given up at so many cells."""
        return TooLargeError(
            f"a run of this plan would take more than {many(cells)} multiplications in a quick"
            f" elimination order; allowed are max_multiplications={self.max_multiplications:,}."
            f" {_WAY_OUT}",
            needed=cells,
            budget=self.max_multiplications,
        )

    def refusal_of_tables(self, cells: int, largest: str, size: int) -> TooLargeError:
        """Return the error of functions whose tables have too many cells, and the largest one."""
        return TooLargeError(
            f"the tables of functions would take {bytes_text(8 * cells)}; allowed are"
            f" max_bytes={self.max_bytes:,}. The largest is the table of {largest} with"
            f" {many(size)} cells. {_WAY_OUT}",
            needed=8 * cells,
            budget=self.max_bytes,
        )


DEFAULT_LIMITS = Limits()
