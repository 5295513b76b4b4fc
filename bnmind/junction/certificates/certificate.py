"""Certificates: lower bounds of the total size of all junction trees of a graph, with proofs."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import CertificateError
from bnmind.junction.certificates.checker import Atom, checked_bound
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits

__all__ = ["Certificate"]


@dataclass(frozen=True)
class Certificate(Value):
    """A claim that no junction tree of a graph has a smaller total size, with a proof.

    `prove_bound` makes certificates. `check` verifies a proof without any search.
    """

    variables: tuple[str, ...]
    """The variables of the graph with two states or more. Sets of them are bit masks."""
    atoms: tuple[Atom, ...]
    """The parts of the graph, with the claims about each."""
    bound: int
    """The bound, in cells."""

    @property
    def n_claims(self) -> int:
        """The number of claims."""
        return sum(len(atom.claims) for atom in self.atoms)

    @checked
    def check(self, graph: InteractionGraph) -> int:
        """Return the bound if the certificate proves it for a graph.

        Parameters
        ----------
        graph
            The graph whose elimination orders the bound is for.

        Raises
        ------
        CertificateError
            If it does not. The message names the first fault.
        """
        several = {name for name, size in zip(graph.names, graph.sizes, strict=True) if size > 1}
        if set(self.variables) != several or len(self.variables) != len(several):
            raise CertificateError("the certificate is about other variables than the graph")
        vertex = {name: v for v, name in enumerate(graph.names)}
        place = {vertex[name]: i for i, name in enumerate(self.variables)}
        sizes = [graph.sizes[vertex[name]] for name in self.variables]
        neighbors = [
            sum(1 << place[u] for u in bits(graph.neighbors[vertex[name]]) if u in place)
            for name in self.variables
        ]
        proven = checked_bound(sizes, neighbors, self.atoms)
        if proven != self.bound:
            raise CertificateError(
                f"the certificate claims the bound {self.bound:,}; its claims prove {proven:,}"
            )
        return proven
