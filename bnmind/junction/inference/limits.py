"""Limits of the cost of a run, and the errors of plans that exceed them.

The cost of a run is the number of its multiplications, its time, and the bytes that it holds at any
time: the tables of the model, the messages that are still needed, and intermediate products. All
are predicted from the plan; `bnmind.junction.program.run_time` predicts the time. Clique sizes do
not count, because no table of a clique is allocated; they are only a rough measure of the cost, see
`SURELY_TOO_LARGE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from annotated_types import Gt

from bnmind._messages import bytes_text, many
from bnmind._values import Count, Value
from bnmind.errors import TooLargeError
from bnmind.junction.graphs.junction_tree import Clique, JunctionTree
from bnmind.junction.program.run_time import seconds_text

__all__ = [
    "DEFAULT_JOINT_CELLS",
    "DEFAULT_LIMITS",
    "DEFAULT_PLAN_BYTES",
    "DEFAULT_PLAN_MULTIPLICATIONS",
    "DEFAULT_PLAN_SECONDS",
    "Limits",
]

DEFAULT_JOINT_CELLS = 2**22
"""The default limit for the cells of the joint distribution of a marginal MAP."""

DEFAULT_PLAN_BYTES = 2**31
"""The default limit for the bytes of a run: 2 GiB."""

DEFAULT_PLAN_MULTIPLICATIONS = 2**34
"""The default limit for the multiplications of a run. They take two seconds in products of large
matrices, and up to a minute where each number takes part in few of them, as in grids."""

DEFAULT_PLAN_SECONDS = 60.0
"""The default limit for the predicted seconds of a run."""

SURELY_TOO_LARGE = 4
"""The number of cells for each allowed multiplication above which a plan is not assembled.
On the networks of bnlearn's repository a run takes .26 to 4 multiplications a cell."""

HOPELESS = 2**64
"""The number of cells of a quick order, for each cell allowed, above which there is no search. On
pedigrees, a search finds an order four million times smaller than a quick one."""

_MOST_NAMES = 12
"""The most variables of a clique that an error names."""

_MOST_TERMS = 2**24
"""The most terms of the lists of a plan that stores no zeros: up to five seconds of planning."""

_BYTES_OF_A_TERM = 12
"""The bytes of a term: its positions in two registers, and some of its value."""

_WAY_OUT = (
    "Observe more variables, ask for fewer targets, pass order=BestOrder(), or raise the limit."
)


@dataclass(frozen=True)
class Limits(Value):
    """The limits of the cost of a run of a plan.

    Parameters
    ----------
    max_bytes
        The limit for the bytes that a run holds at any time: tables, messages and intermediate
        products.
    max_multiplications
        The limit for the multiplications of a run.
    max_seconds
        The limit for the predicted time of a run of a plan on this machine, in seconds. The
        prediction is seldom wrong by more than a factor of two, unless other programs run too.
    only_restrictions
        Whether the plan may exceed these limits because you will run only restrictions of it. The
        plan itself then refuses to run.

    Raises
    ------
    InvalidArgumentError
        If a limit is below 1, or that of the seconds is not above 0.
    """

    max_bytes: Count = DEFAULT_PLAN_BYTES
    max_multiplications: Count = DEFAULT_PLAN_MULTIPLICATIONS
    max_seconds: Annotated[float, Gt(0)] = field(default=DEFAULT_PLAN_SECONDS, kw_only=True)
    only_restrictions: bool = field(default=False, kw_only=True)

    @property
    def most_cells(self) -> int:
        """The most cells of a plan that is assembled."""
        return SURELY_TOO_LARGE * self.max_multiplications

    @property
    def hopeless_cells(self) -> int:
        """The most cells of a tree that is considered."""
        return HOPELESS * self.max_multiplications

    @property
    def listed_terms(self) -> int:
        """The most terms of the lists of a plan that stores no zeros."""
        return min(self.max_multiplications, self.max_bytes // _BYTES_OF_A_TERM, _MOST_TERMS)

    @property
    def table_cells(self) -> int:
        """The most numbers that the tables of a model may hold."""
        return self.max_bytes // 8

    def refusal(
        self,
        multiplications: int,
        memory: int,
        largest: Clique | None,
        *,
        seconds: float = 0.0,
        roughly: bool = False,
    ) -> TooLargeError | None:
        """Return the error of a plan that exceeds the limits; None if it does not.

        Parameters
        ----------
        multiplications
            The multiplications of a run.
        memory
            The bytes of a run.
        largest
            The largest clique, which the error names.
        seconds
            The predicted time of a run.
        roughly
            Whether the numbers are estimates.
        """
        needed, budget = max(
            (multiplications, self.max_multiplications),
            (memory, self.max_bytes),
            (seconds, self.max_seconds),
            key=lambda cost: cost[0] / cost[1],
        )
        if needed <= budget:
            return None
        times, size = many(multiplications), bytes_text(memory)
        if roughly:
            times, size = (f"about {text.removeprefix('about ')}" for text in (times, size))
        # A rough estimate counts messages only, so a small one says nothing.
        room = "" if roughly and memory <= self.max_bytes else f" and {size}"
        clique = ""
        if largest is not None:
            names = ", ".join(largest.variables[:_MOST_NAMES])
            if len(largest.variables) > _MOST_NAMES:
                names += f" and {len(largest.variables) - _MOST_NAMES} more"
            clique = f" The largest clique is {{{names}}} with {many(largest.size)} cells."
        takes, allowed = "", ""
        if seconds > min(0.1, self.max_seconds):
            takes, allowed = f", {seconds_text(seconds)}", f", max_seconds={self.max_seconds:g}"
        return TooLargeError(
            f"a run of this plan would take {times} multiplications{room}{takes}; allowed are"
            f" max_multiplications={self.max_multiplications:,}{allowed} and"
            f" max_bytes={self.max_bytes:,}.{clique} {_WAY_OUT}",
            needed=math.ceil(needed),
            budget=math.ceil(budget),
        )

    def refusal_of_trees(
        self, trees: Sequence[JunctionTree], sizes: Mapping[str, int]
    ) -> TooLargeError | None:
        """Return the error of trees that are surely too large by a rough estimate.

        Parameters
        ----------
        trees
            The trees of a plan that is not assembled yet.
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
        """Return the error of a model whose tree has more than ``cells`` cells."""
        return TooLargeError(
            f"a run of this plan would take more than {many(cells)} multiplications in a quick"
            f" elimination order; allowed are max_multiplications={self.max_multiplications:,}."
            f" {_WAY_OUT}",
            needed=cells,
            budget=self.max_multiplications,
        )

    def refusal_of_tables(self, cells: int, largest: str, size: int) -> TooLargeError:
        """Return the error of functions whose tables have too many cells.

        Parameters
        ----------
        cells
            The cells of all tables together; a cell takes 8 bytes.
        largest
            The name of the variable with the largest table.
        size
            The cells of that table.
        """
        return TooLargeError(
            f"the tables of functions would take {bytes_text(8 * cells)}; allowed are"
            f" max_bytes={self.max_bytes:,}. The largest is the table of {largest} with"
            f" {many(size)} cells. {_WAY_OUT}",
            needed=8 * cells,
            budget=self.max_bytes,
        )


DEFAULT_LIMITS = Limits()
