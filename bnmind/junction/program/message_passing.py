"""The messages of a junction tree, as steps of a program.

Every table is assigned to a clique that contains its scope. A message from a clique to a neighbor
is the product of the tables of the clique and of the messages from its other neighbors, summed to
the separator. The product of the two messages of an edge is the belief of its separator, and
answers targets in the separator. Other targets are answered at a clique that contains them. The
program computes only messages that some target needs, each of them once (Shafer & Shenoy,
*Probability propagation*, 1990).

Many neighbors of a clique are connected by stations; see `bnmind.junction.program.stations`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bnmind.junction.program.contraction import ProgramBuilder, Variables
from bnmind.junction.program.stations import StationTree

__all__ = ["Passing", "Question", "TreeShape"]

_SMALL = 2**12
"""The most cells of a joint from which several variables of a single clique are answered."""


@dataclass(frozen=True)
class TreeShape:
    """A junction tree whose cliques and separators are sets of a program's variables."""

    cliques: tuple[Variables, ...]
    edges: tuple[tuple[int, int, Variables], ...]
    """Two cliques and their separator, for each edge."""


class Question(NamedTuple):
    """A question about a tree."""

    clique: int
    neighbor: int
    """The two messages of this edge answer the question; -1 if the clique does."""
    keep: Variables
    """The variables of the messages' or the clique's product that are kept."""
    final: Variables | None
    """The variables to which that product is summed afterwards."""


class Passing:
    """The state of message passing: the tables assigned and the messages sent so far.

    Parameters
    ----------
    shape
        The tree. Some clique contains the scope of every register and of every target.
    builder
        The builder that collects the steps.
    registers
        The registers of the product; their scopes are not empty.
    """

    def __init__(self, shape: TreeShape, builder: ProgramBuilder, registers: Iterable[int]) -> None:
        self.builder = builder
        self.scopes = list(shape.cliques)
        self.neighbors: list[dict[int, Variables]] = [{} for _ in shape.cliques]
        for first, second, separator in shape.edges:
            self.neighbors[first][second] = separator
            self.neighbors[second][first] = separator
        stations = StationTree(self.scopes, self.neighbors, builder.sizes)
        for clique in range(len(shape.cliques)):
            stations.connect(clique)
        self.clique_sizes = [_size(scope, builder.sizes) for scope in self.scopes]
        self.ascending = sorted(range(len(self.scopes)), key=self.clique_sizes.__getitem__)
        self.holders: dict[int, list[int]] = {}
        for clique in self.ascending:
            for variable in self.scopes[clique]:
                self.holders.setdefault(variable, []).append(clique)
        self.smallest = self._smallest_separators()
        self.assigned: list[list[int]] = [[] for _ in self.scopes]
        for register in registers:
            self.assigned[self._host(builder.variables(register))].append(register)
        self.received: list[dict[int, int | None]] = [{} for _ in self.scopes]
        self._beliefs: dict[tuple[int, int], int | None] = {}
        self._private: dict[int, list[int]] = {}
        for variable, cliques in self.holders.items():
            if len(cliques) == 1:
                self._private.setdefault(cliques[0], []).append(variable)

    def answer(self, target: Variables) -> int | None:
        """Return the register of a target's unnormalized joint.

        The result is None if every configuration has weight one. The register's scope may lack
        variables on which the joint does not depend.
        """
        if not self.scopes:
            return None
        clique, neighbor, keep, final = self.question(target)
        if neighbor >= 0:
            if (clique, neighbor) not in self._beliefs:
                self._beliefs[clique, neighbor] = self._at_separator(clique, neighbor)
            belief = self._beliefs[clique, neighbor]
        else:
            belief = self._at_clique(clique, keep)
        return belief if belief is None or final is None else self.builder.contract([belief], final)

    def question(self, target: Variables) -> Question:
        """Return where a target is answered.

        A single variable is answered from the smallest table that the messages provide.
        """
        if len(target) != 1:
            return Question(self._host(target), -1, target, None)
        (variable,) = target
        edge = self.smallest.get(variable)
        if edge is not None:
            _, first, second = edge
            return Question(first, second, self.neighbors[first][second], target)
        clique = self._host(target)
        # Together with the other variables that are only in this clique.
        together = frozenset(self._private[clique])
        if _size(together, self.builder.sizes) > _SMALL:
            return Question(clique, -1, target, None)
        return Question(clique, -1, together, target)

    def _at_separator(self, first: int, second: int) -> int | None:
        both = [self._sent(first, second), self._sent(second, first)]
        separator = self.neighbors[first][second]
        return self.builder.contract([r for r in both if r is not None], separator)

    def _at_clique(self, clique: int, target: Variables) -> int | None:
        for neighbor in self.neighbors[clique]:
            self._sent(neighbor, clique)
        return self._contract(clique, None, target)

    def _smallest_separators(self) -> dict[int, tuple[int, int, int]]:
        """Return the size and ends of a smallest separator of each variable of several cliques."""
        smallest: dict[int, tuple[int, int, int]] = {}
        for clique, around in enumerate(self.neighbors):
            for other, separator in around.items():
                if clique < other:
                    edge = (_size(separator, self.builder.sizes), clique, other)
                    for variable in separator:
                        if variable not in smallest or edge < smallest[variable]:
                            smallest[variable] = edge
        return smallest

    def _host(self, scope: Variables) -> int:
        """Return the smallest clique that contains a scope."""
        if not scope:
            return self.ascending[0]
        candidates = min([self.holders[v] for v in scope], key=len)
        return next(i for i in candidates if scope <= self.scopes[i])

    def _sent(self, sender: int, receiver: int) -> int | None:
        """Return a message; send it, and first the messages it depends on, if necessary."""
        received, neighbors = self.received, self.neighbors
        waiting = [] if sender in received[receiver] else [(sender, receiver)]
        while waiting:
            source, to = waiting[-1]
            messages = received[source]
            missing = [n for n in neighbors[source] if n not in messages and n != to]
            if missing:
                waiting += [(n, source) for n in missing]
                continue
            waiting.pop()
            if source not in received[to]:
                received[to][source] = self._contract(source, to, neighbors[source][to])
        return received[receiver][sender]

    def _contract(self, clique: int, receiver: int | None, keep: Variables) -> int | None:
        """Contract a clique's tables with the messages from all neighbors but the receiver."""
        arrived = self.received[clique].items()
        messages = [r for sender, r in arrived if r is not None and sender != receiver]
        return self.builder.contract(self.assigned[clique] + messages, keep)


def _size(variables: Iterable[int], sizes: Sequence[int]) -> int:
    return math.prod([sizes[v] for v in variables])
