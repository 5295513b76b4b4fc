"""Questions about the graph of a network: neighbors, ancestors, Markov blankets, d-separation.

Two sets of variables are d-separated by a third if every path between them is blocked by it. They
are then independent given the third, whatever the numbers in the tables are. A path is blocked by
an observed variable that is not the head of both its arcs on the path, and by a variable that is,
if neither it nor a descendant of it is observed. The search walks along unblocked paths, and visits
each variable at most twice, once from a child and once from a parent.

References
----------
J. Pearl, *Probabilistic Reasoning in Intelligent Systems*, 1988, section 3.3; D. Koller and
N. Friedman, *Probabilistic Graphical Models*, 2009, algorithm 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

from bnmind._messages import listed
from bnmind.errors import InvalidArgumentError, UnknownNameError

__all__ = ["Structure"]


class Structure:
    """The graph of a network: which variables are the parents of each.

    Parameters
    ----------
    parents
        The parents of each variable, parents before children.

    Examples
    --------
    >>> graph = Structure({"rain": (), "hose": (), "wet": ("rain", "hose")})
    >>> graph.markov_blanket("rain")
    ('hose', 'wet')
    >>> graph.is_d_separated("rain", "hose"), graph.is_d_separated("rain", "hose", ["wet"])
    (True, False)
    """

    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        self._parents = {name: tuple(before) for name, before in parents.items()}

    @cached_property
    def _children(self) -> dict[str, tuple[str, ...]]:
        children: dict[str, list[str]] = {name: [] for name in self._parents}
        for name, parents in self._parents.items():
            for parent in parents:
                children[parent].append(name)
        return {name: tuple(after) for name, after in children.items()}

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the parents of a variable, in the order of its table."""
        return self._parents[self._known(name)]

    def children(self, name: str) -> tuple[str, ...]:
        """Return the children of a variable."""
        return self._children[self._known(name)]

    def ancestors(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the variables with a directed path to one of the variables, without these."""
        return self._reached(self._names(names), self._parents)

    def descendants(self, names: str | Iterable[str]) -> tuple[str, ...]:
        """Return the variables with a directed path from one of the variables, without these."""
        return self._reached(self._names(names), self._children)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Return the parents, the children, and the other parents of the children."""
        children = self.children(name)
        near = {*self.parents(name), *children}
        near.update(parent for child in children for parent in self._parents[child])
        return self._in_order(near - {name})

    def neighborhood(self, names: str | Iterable[str], distance: int = 1) -> tuple[str, ...]:
        """Return the variables within some arcs of one of the variables, and these."""
        found = set(self._names(names))
        edge = found
        for _ in range(distance):
            edge = {v for name in edge for v in (*self._parents[name], *self._children[name])}
            edge -= found
            if not edge:
                break
            found |= edge
        return self._in_order(found)

    def relevant(self, names: str | Iterable[str], given: str | Iterable[str]) -> tuple[str, ...]:
        """Return the variables whose tables or values a query of some variables needs."""
        _, tables = self._walk(self._names(names), self._names(given))
        needed = {*self._names(names), *tables}
        needed.update(parent for name in tables for parent in self._parents[name])
        return self._in_order(needed)

    def d_connected(self, names: str | Iterable[str], given: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the variables that are not d-separated from all of some variables."""
        start = self._names(names)
        observed = self._names(given)
        if both := [name for name in start if name in observed]:
            raise InvalidArgumentError(f"observed variables cannot be asked about: {listed(both)}")
        reached, _ = self._walk(start, observed)
        return self._in_order(reached - set(start))

    def _walk(self, start: tuple[str, ...], observed: tuple[str, ...]) -> tuple[set[str], set[str]]:
        """Return the variables that unblocked paths reach, and those left for their parents.

        The tables of the latter are all that a query of the start needs: a parameter of a table is
        like one more parent of its variable (Shachter, "Bayes-ball", UAI 1998).
        """
        informed = {*observed, *self.ancestors(observed)}
        reached: set[str] = set()
        tables: set[str] = set()
        seen: set[tuple[str, bool]] = set()
        # Whether the walk came to the variable from a child, as if the start had one.
        waiting = [(name, True) for name in start]
        while waiting:
            visit = name, from_child = waiting.pop()
            if visit in seen:
                continue
            seen.add(visit)
            if name not in observed:
                reached.add(name)
                waiting += [(child, False) for child in self._children[name]]
            if name not in observed if from_child else name in informed:
                tables.add(name)
                waiting += [(parent, True) for parent in self._parents[name]]
        return reached, tables

    def is_d_separated(
        self,
        first: str | Iterable[str],
        second: str | Iterable[str],
        given: str | Iterable[str] = (),
    ) -> bool:
        """Return whether two sets of variables are d-separated by a third."""
        one, other = self._names(first), self._names(second)
        if both := [name for name in one if name in other]:
            raise InvalidArgumentError(
                f"a variable cannot be separated from itself: {listed(both)}"
            )
        observed = self._names(given)
        if both := [name for name in other if name in observed]:
            raise InvalidArgumentError(f"observed variables cannot be asked about: {listed(both)}")
        return not set(other).intersection(self.d_connected(one, observed))

    def _known(self, name: str) -> str:
        if name not in self._parents:
            raise UnknownNameError("variable", name, self._parents)
        return name

    def _names(self, names: str | Iterable[str]) -> tuple[str, ...]:
        every = (names,) if isinstance(names, str) else names
        return tuple([self._known(name) for name in every])

    def _reached(
        self, start: Iterable[str], steps: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        found = set(start)
        begin = frozenset(found)
        waiting = list(found)
        while waiting:
            for name in steps[waiting.pop()]:
                if name not in found:
                    found.add(name)
                    waiting.append(name)
        return self._in_order(found - begin)

    def _in_order(self, names: set[str]) -> tuple[str, ...]:
        """Return names in the order of the network."""
        return tuple([name for name in self._parents if name in names]) if names else ()
