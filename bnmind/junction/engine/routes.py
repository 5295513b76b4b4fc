"""The choice among the ways to compute posteriors, by their predicted costs.

==============  ==================================================================================
way             good for
==============  ==================================================================================
sweep           independent causes of many observed effects, such as noisy-or
light path      few targets: eliminates only what matters to them, without a compiled plan
plan            joint distributions, signed factors, evidence that leaves little of a large tree,
                and the first questions about many targets
propagation     many targets: one tree, compiled once, which any evidence restricts
counts          single variables of models that are too large for all others, but have many
                interchangeable variables
==============  ==================================================================================

A tree costs more to compile than a plan, up to a hundred times on networks with large cliques. An
engine therefore makes plans first, and compiles the tree when its predicted cost is within a
multiple of what the plans have cost (a ski-rental problem: Karlin, Manasse, Rudolph & Sleator,
*Competitive snoopy caching*, Algorithmica 3, 1988). For most networks, this is the second question.
All costs are predicted from numbers of operations. No clock is read.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bnmind._values import made
from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.junction.causes.swept_case import are_layered, may_be_swept
from bnmind.junction.engine.plan_store import PlanStore, Stored
from bnmind.junction.engine.planning import Planner
from bnmind.junction.engine.reading import Reader, Scopes, Seen
from bnmind.junction.exchangeable.degeneracy import degeneracy
from bnmind.junction.inference.compile import interaction_graph
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.single.light_model import LightModel
from bnmind.junction.single.light_query import query_at
from bnmind.junction.triangulation.greedy import quick_cells
from bnmind.pgm.factor import Factor

if TYPE_CHECKING:
    from bnmind.junction.propagation.propagation import Propagation

__all__ = ["Routes"]

_FEW = 3
"""The most targets for the light path, which takes them one by one."""

_SMALL = 8
"""The most variables of a model for which the tree takes less time than a light path for two
targets."""

_NEVER_TOO_LARGE = 30
"""The most variables of a model of factors whose trees are not bounded from below."""

_LIGHT_NS = 2.0
"""Nanoseconds for each multiplication of the light path."""

_CELL_NS, _BUCKET_NS = 6.0, 150.0
"""Nanoseconds for each cell that a propagation visits, and for each of its tables."""

_PLANNING_NS = 200_000.0
"""Nanoseconds for each variable to make a plan."""

_STEP_NS, _MULTIPLICATION_NS = 5_000.0, 2.0
"""Nanoseconds for each step of a plan, and for each multiplication."""

_COMPILED_CELL_NS = 50.0
"""Nanoseconds to compile each cell of a tree in a quick order, besides the search for a better
one."""

_FUTURE = 16.0
"""The expected cost of future questions about many targets, as a multiple of the cost so far."""

_LIGHT_ALWAYS_NS = 100_000.0
"""The cost of a light path below which no other way is considered."""

_LIGHT_NEVER_NS = 100_000_000.0
"""The cost of a light path above which a plan with a better order is made."""

_LIGHT_MOST_WORK = 2**26
"""The operations of planning a light path above which a plan takes less: m² / 4 for m variables."""

_MODEL_BYTES = 16_384
_VARIABLE_BYTES = 512
"""The bytes of a compiled model besides its arrays, and those of each variable, from above."""

_TREE = "any evidence"
"""The key of the tree in the store."""


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
        self._spent = 0.0
        self._repeated = 0.0

    def posterior(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the joint distribution of each target given evidence."""
        answer = self._by_counts(scopes, seen) if self._is_surely_too_large else None
        if answer is not None:
            return answer
        try:
            return self._ordinary(scopes, seen)
        except TooLargeError:
            answer = None if self._is_surely_too_large else self._by_counts(scopes, seen)
            if answer is None:
                raise
            return answer

    @cached_property
    def _is_surely_too_large(self) -> bool:
        """Whether every junction tree of the model without evidence exceeds the limits."""
        model, limits = self.reader.model, self.planner.limits
        if len(model.variables) <= _NEVER_TOO_LARGE or not all(
            isinstance(table, Factor) for table in model.potentials
        ):
            return False
        scopes = [[v.name for v in p.scope if v.n_states > 1] for p in model.potentials]
        return int(degeneracy(scopes)) >= limits.most_cells.bit_length()

    def _by_counts(self, scopes: Scopes, seen: Seen) -> Posterior | None:
        """Return the answer by counts of interchangeable variables; None if there are none.

        The targets must be single variables without evidence.
        """
        from bnmind.junction.exchangeable.lifted_posterior import lifted_posterior

        names = tuple([name for scope in scopes for name in scope])
        if any(len(scope) > 1 for scope in scopes) or not seen.positions.keys().isdisjoint(names):
            return None
        evidence = (seen.positions, seen.soft)
        found = lifted_posterior(self.reader.model, names, evidence, self.planner.limits)
        if found is None or len(names) == len(scopes):
            return found
        joints = iter(found.joints)
        return made(
            Posterior,
            scopes=self.reader.named(scopes),
            joints=tuple([next(joints) if scope else np.ones(()) for scope in scopes]),
            log_evidence=found.log_evidence,
        )

    def _ordinary(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the answer of the cheapest of the other ways."""
        if self._has_large_effects and are_layered(
            self.reader.model.potentials, seen.positions, scopes
        ):
            return self.planner.posterior(scopes, seen)
        answer = None
        are_single = all(len(scope) == 1 for scope in scopes)
        is_few = 0 < len(scopes) <= _FEW
        if is_few and are_single and len(scopes) > 1 and len(self.reader.columns) <= _SMALL:
            is_few = not self._is_worth_its_price
            self._spent += _PLANNING_NS * len(self.reader.columns)
        if is_few:
            answer = self._light(scopes, seen)
        if answer is not None:  # a posterior without variables is false
            return answer
        return self._many(scopes, seen) if are_single else self.planner.posterior(scopes, seen)

    @cached_property
    def _has_large_effects(self) -> bool:
        """Whether some question may be about independent causes of observed effects."""
        return self.planner.order is None and may_be_swept(self.reader.model.potentials)

    def _light(self, scopes: Scopes, seen: Seen) -> Posterior | None:
        """Return the answer of the light path; None if another way is better."""
        # A user's order would have no effect here.
        if self.reader.network is None or self.planner.order is not None:
            return None
        model: LightModel = self.store.get("light", self._light_model)
        try:
            query = query_at(
                model,
                self.reader.named(scopes),
                (seen.positions, seen.soft),
                self.planner.limits,
                most_work=_LIGHT_MOST_WORK,
            )
        except TooLargeError:
            return None
        cost = _LIGHT_NS * query.multiplications
        if cost > _LIGHT_ALWAYS_NS and all(len(scope) == 1 for scope in scopes):
            propagation: Propagation | None = self.store.peek(_TREE)
            if propagation is not None and self._cost(propagation, seen) < cost:
                return None
        return None if cost > _LIGHT_NEVER_NS else query.run()

    def _many(self, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the distributions of many variables."""
        planning = _PLANNING_NS * len(self.reader.columns)
        plan: Plan | None = None
        if "_price" not in self.__dict__ and self._repeated < planning:
            plan = self.planner.remembered(scopes, seen)
            if plan is not None:
                # The price of the tree may take longer to compute than this run, which is
                # that of a smaller plan if this one is too large.
                self._repeated += min(planning, self._run_cost(plan))
                return self.planner.posterior(scopes, seen)
        propagation = self._propagation()
        if propagation is None:
            if not self._is_worth_its_price:
                self._spent += planning
                with suppress(TooLargeError):  # slices may fit
                    plan = self.planner.plan(scopes, seen)
                    self._spent += self._run_cost(plan)
            # A plan that takes more memory than there is for plans is made once all the same.
            return self.planner.posterior(scopes, seen, plan)
        most = self.planner.limits.max_multiplications
        if propagation.total_size > most and (
            propagation.predicted_cells(self._states(seen)) > most
        ):
            return self.planner.posterior(scopes, seen)  # it may take less, or refuses
        if self._most(propagation) > planning:
            cost = self._cost(propagation, seen)
            if cost > planning:
                plan = self.planner.plan(scopes, seen)
                if self._run_cost(plan) < cost:
                    return self.planner.posterior(scopes, seen, plan)
        return self._propagated(propagation, scopes, seen)

    def _run_cost(self, plan: Plan) -> float:
        """Return the predicted nanoseconds of a run of a plan."""
        if plan.by_case is not None:
            return _PLANNING_NS * len(self.reader.columns)
        if plan.compiled.refusal is not None:
            return math.inf
        steps = len(plan.compiled.program.steps)
        return _STEP_NS * steps + _MULTIPLICATION_NS * plan.multiplications

    @property
    def _is_worth_its_price(self) -> bool:
        """Whether enough questions came to compile the tree for any evidence."""
        return self._spent > 0 and _FUTURE * self._spent >= self._price

    @cached_property
    def _price(self) -> float:
        """The predicted nanoseconds to compile the tree for any evidence."""
        cells = quick_cells(interaction_graph(self.reader.model))
        return _PLANNING_NS * len(self.reader.columns) + _COMPILED_CELL_NS * cells

    def _propagated(self, propagation: Propagation, scopes: Scopes, seen: Seen) -> Posterior:
        """Return the answer of the propagation."""
        marginals, log_evidence = propagation.marginals(self._states(seen), seen.soft)
        columns, alone = self.reader.columns, self.reader.alone
        return made(
            Posterior,
            scopes=tuple([alone[name] for (name,) in scopes]),
            joints=tuple([marginals[columns[name]] for (name,) in scopes]),
            log_evidence=log_evidence,
        )

    def _most(self, propagation: Propagation) -> float:
        """Return the predicted nanoseconds of a run without evidence, the longest ones."""
        return _BUCKET_NS * len(propagation.order.variables) + _CELL_NS * propagation.total_size

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
        assert self.reader.network is not None  # as the caller has seen
        model = LightModel.of(self.reader.network)
        arrays = sum([array.nbytes for array in model.arrays])
        return Stored(model, self._objects() + arrays, "few targets: the tables")

    def _propagation(self) -> Propagation | None:
        """Return the tree for any evidence; None if it is not worth its price, or too large."""
        if self.store.most_bytes < _MODEL_BYTES or not self._is_worth_its_price:
            return None
        propagation: Propagation | None = self.store.get(_TREE, self._compiled)
        return propagation

    def _compiled(self) -> Stored:
        from bnmind.junction.propagation.propagation import Propagation

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
