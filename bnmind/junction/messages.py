"""The messages of a junction tree, as steps of a program.

Every table is assigned to one clique that holds its scope. A message from a clique
to a neighbor is the product of the clique's tables and of the messages from its
other neighbors, summed to the separator; a target is answered at a clique that
holds it. Only the messages that some target needs are made, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bnmind.junction.contraction import ProgramBuilder, Scope
from bnmind.junction.tree import JunctionTree

__all__ = ["schedule"]


def schedule(
    tree: JunctionTree, builder: ProgramBuilder, targets: Iterable[Scope]
) -> list[int | None]:
    """Add the steps that answer each target; return the target's registers.

    Parameters
    ----------
    tree
        Holds the scope of every register of the builder, and every target, in some clique.
    builder
        Registers with an empty scope are left to the caller: they are numbers.
    targets
        The variables of each joint wanted, in the order wanted.

    Returns
    -------
    list[int | None]
        None where no table is left to speak of the target. A register's scope may
        lack variables of its target, on which it then does not depend.
    """
    passing = _Passing(tree, builder)
    return [passing.answer(scope) for scope in targets]


class _Passing:
    """Message passing under way: what has been assigned and sent so far."""

    def __init__(self, tree: JunctionTree, builder: ProgramBuilder) -> None:
        self.tree = tree
        self.builder = builder
        self.members = [frozenset(clique.variables) for clique in tree.cliques]
        self.neighbors: list[dict[int, Scope]] = [{} for _ in tree.cliques]
        for first, second, separator in tree.edges:
            self.neighbors[first][second] = separator
            self.neighbors[second][first] = separator
        self.assigned: list[list[int]] = [[] for _ in tree.cliques]
        for register, scope in enumerate(builder.scopes):
            if scope:
                self.assigned[self._host(scope)].append(register)
        self.sent: dict[tuple[int, int], int | None] = {}

    def answer(self, scope: Scope) -> int | None:
        """Return the register of a target's unnormalized joint."""
        if not self.tree.cliques:
            return None
        host = self._host(scope)
        for sender, receiver in self._inward(host):
            if (sender, receiver) not in self.sent:
                separator = self.neighbors[sender][receiver]
                self.sent[sender, receiver] = self._contract(sender, receiver, separator)
        return self._contract(host, None, scope)

    def _host(self, scope: Sequence[str]) -> int:
        """Return the smallest clique that holds a scope."""
        wanted = frozenset(scope)
        fitting = [i for i, members in enumerate(self.members) if wanted <= members]
        return min(fitting, key=lambda i: (self.tree.cliques[i].size, i))

    def _inward(self, root: int) -> list[tuple[int, int]]:
        """Return the edges directed to the root, those farthest away first."""
        order, seen = [(root, root)], {root}
        for clique, _ in order:
            for neighbor in self.neighbors[clique]:
                if neighbor not in seen:
                    seen.add(neighbor)
                    order.append((neighbor, clique))
        return order[:0:-1]

    def _contract(self, clique: int, receiver: int | None, keep: Scope) -> int | None:
        arriving = [self.sent[n, clique] for n in self.neighbors[clique] if n != receiver]
        operands = self.assigned[clique] + [r for r in arriving if r is not None]
        return self.builder.contract(operands, keep) if operands else None
