"""The choice among the ways to compute posteriors, by their predicted costs.

==============  ==================================================================================
way             good for
==============  ==================================================================================
light path      few targets: eliminates only what matters to them, without a compiled plan
propagation     many targets: one tree, compiled once, which any evidence restricts
plan            joint distributions, signed factors, and trees that are too large for any evidence
==============  ==================================================================================

The predictions count operations and need no clock, so that equal questions of an engine take equal
ways, except that a tree which is compiled already is preferred to a light path that costs more.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bnmind._values import made, sealed
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.junction.engine.plan_store import PlanStore, Stored
from bnmind.junction.engine.planning import Planner
from bnmind.junction.engine.reading import Reader, Scopes, Seen
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.propagation.propagation import Propagation
from bnmind.junction.single.light_model import LightModel
from bnmind.junction.single.light_query import query_at
from bnmind.pgm.network import Network

__all__ = ["Routes"]

_FEW = 3
"""The most targets for the light path, which takes them one by one."""

_LIGHT_NS = 2.0
"""Nanoseconds for each multiplication of the light path."""

_CELL_NS = 6.0
"""Nanoseconds for each cell that a propagation visits."""

_BUCKET_NS = 150.0
"""Nanoseconds for each table of a propagation."""

_LIGHT_ALWAYS_NS = 100_000.0
"""The cost of a light path below which no other way is considered."""

_LIGHT_ALONE_NS = 50_000_000.0
"""The cost of a light path above which a tree is compiled for it."""

_MODEL_BYTES = 16_384
_VARIABLE_BYTES = 512
"""The bytes of a compiled model besides its arrays, and those of each variable, from above."""


class Routes:
    """Computes posteriors in the cheapest way.

    Parameters
    ----------
    reader
        The model.
    planner
        Makes plans, with the options of the engine.
    store
        Where compiled forms of the model are remembered.
    """

    def __init__(self, reader: Reader, planner: Planner, store: PlanStore) -> None:
        self.reader = reader
        self.planner = planner
        self.store = store

    def posterior(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the joint distribution of each target given evidence."""
        answer = None
        if len(scopes) <= _FEW and scopes:
            answer = self._light(scopes, seen)
        if answer is None and all(len(scope) == 1 for scope in scopes):
            answer = self._propagated(scopes, seen)
        # A posterior without variables is false.
        return self.planner.posterior(scopes, seen) if answer is None else answer

    def _light(self, scopes: Scopes, seen: Seen) -> Posterior | None:
        """Return the answer of the light path; None if another way is better."""
        # A user's order would have no effect here.
        if not isinstance(self.reader.model, Network) or self.planner.order is not None:
            return None
        model: LightModel = self.store.get("light", self._light_model)
        try:
            query = query_at(
                model, self.reader.named(scopes), (seen.positions, seen.soft), self.planner.limits
            )
        except TooLargeError:
            return None
        cost = _LIGHT_NS * query.multiplications
        if cost > _LIGHT_ALWAYS_NS and all(len(scope) == 1 for scope in scopes):
            propagation: Propagation | None = self.store.peek("any evidence")
            if propagation is None and cost > _LIGHT_ALONE_NS:
                propagation = self._propagation()
            if propagation is not None and self._cost(propagation, seen) < cost:
                return None
        return query.run()

    def _propagated(self, scopes: Scopes, seen: Seen) -> Posterior | None:
        """Return the answer of the propagation; None if the model has none."""
        propagation = self._propagation()
        if propagation is None:
            return None
        marginals, log_evidence = propagation.marginals(self._states(seen), seen.soft)
        columns = self.reader.columns
        joints = tuple([sealed(marginals[columns[scope[0]]]) for scope in scopes])
        return made(
            Posterior, scopes=self.reader.named(scopes), joints=joints, log_evidence=log_evidence
        )

    def _cost(self, propagation: Propagation, seen: Seen) -> float:
        """Return the predicted nanoseconds of a run."""
        cells = propagation.predicted_cells(self._states(seen))
        return _BUCKET_NS * len(propagation.order.variables) + _CELL_NS * cells

    def _states(self, seen: Seen) -> NDArray[np.int64]:
        """Return the state positions of all variables, −1 where missing."""
        states = np.full(len(self.reader.columns), -1, dtype=np.int64)
        columns = self.reader.columns
        for name, place in seen.positions.items():
            states[columns[name]] = place
        return states

    def _light_model(self) -> Stored:
        assert isinstance(self.reader.model, Network)  # as the caller has seen
        model = LightModel.of(self.reader.model)
        arrays = sum([array.nbytes for array in model.arrays])
        return Stored(model, self._objects() + arrays, "few targets: the tables")

    def _propagation(self) -> Propagation | None:
        """Return the tree for any evidence; None if it is too large, or the model is signed."""
        if self.store.most_bytes < _MODEL_BYTES:
            return None
        propagation: Propagation | None = self.store.get("any evidence", self._compiled)
        return propagation

    def _compiled(self) -> Stored:
        most = min(self.planner.limits.max_bytes, self.store.most_bytes)
        try:
            propagation = Propagation.of(
                self.reader.model,
                order=self.planner.order,
                limits=replace(self.planner.limits, max_bytes=most),
            )
        except TooLargeError:
            return Stored(None, _MODEL_BYTES, "any evidence: the tree is too large")
        except InvalidModelError:
            return Stored(None, _MODEL_BYTES, "any evidence: no tree of negative factors")
        size = self._objects() + propagation.memory + propagation.run_memory
        if size > self.store.most_bytes:
            return Stored(None, _MODEL_BYTES, "any evidence: the tree is too large")
        return Stored(propagation, size, f"any evidence: {propagation.total_size:,} cells")

    def _objects(self) -> int:
        """Return the bytes of a compiled model besides its arrays."""
        return _MODEL_BYTES + _VARIABLE_BYTES * len(self.reader.columns)
