"""The E-step by a junction tree, for more skills than a table over all profiles allows.

The plan is compiled once with its tables as inputs. Each step runs it with new tables for all
patterns, in batches. Items are soft variables, so items without responses have no effect. The
targets are the parents of the items, and the families of the hidden variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.beliefs.batch_answers import impossible_rows
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.learning.em.response_layout import Expected, Patterns, ResponseLayout
from bnmind.adaptive.learning.parameters.skill_families import SkillFamilies
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import Plan, compile_plan
from bnmind.pgm import Network, TabularCPD

__all__ = ["PlanExpectation"]

_BATCH_CELLS = 2**22
"""The approximate limit of cells in the targets of a batch of patterns."""


@dataclass(frozen=True, eq=False)
class PlanExpectation:
    """An E-step by junction tree, compiled for some responses; see `Expectation`.

    Parameters
    ----------
    bank
        The item bank.
    layout
        The layout of the response probabilities.
    skills
        The families of its hidden variables, each with its parents.
    patterns
        The responses.
    """

    bank: ItemBank
    layout: ResponseLayout
    skills: SkillFamilies
    patterns: Patterns

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """The items, in the order of the layout."""
        return tuple(name for block in self.layout.blocks for name in block.names)

    @cached_property
    def _causes(self) -> tuple[tuple[str, ...], ...]:
        """The parents of each item, in the order of the layout."""
        network = self.bank.network
        return tuple(tuple(v.name for v in network.cpd(name).parents) for name in self._names)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the tree; raises `TooLargeError` if it is too large."""
        # Uniform tables, which cancel when multiplied by the inputs.
        cpds = []
        for name in (*(v.name for v in self.bank.hidden), *self._names):
            cpd = self.bank.network.cpd(name)
            shape = tuple(v.n_states for v in cpd.scope)
            cpds.append(TabularCPD(cpd.variable, cpd.parents, np.full(shape, 1 / shape[0])))
        scopes = list(self.skills.scopes)
        scopes += [(n, *cause) for n, cause in zip(self._names, self._causes, strict=True)]
        return compile_plan(
            Network(tuple(cpds)),
            soft=self._names,
            targets=list(dict.fromkeys([*self.skills.scopes, *self._causes])),
            inputs={f"table of {scope[0]}": scope for scope in scopes},
        )

    def __call__(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Expected:
        """Return expected counts; see `Expectation`."""
        inputs = self._inputs(response_parameters, tables)
        place = {
            tuple(v.name for v in scope): number for number, scope in enumerate(self.plan.targets)
        }
        families = [np.zeros(table.shape) for table in tables]
        expected_counts = np.zeros(len(response_parameters))
        total = 0.0
        rows, counts = self.patterns.rows, self.patterns.counts
        for part in self._parts():
            cases = {
                name: rows[part, column].astype(np.intp)
                for name, column in zip(self._names, self.layout.columns, strict=True)
            }
            try:
                posterior = self.plan.run_batch(cases, inputs)
            except ImpossibleEvidenceError:
                raise self._impossible(cases, inputs, part.start) from None
            weights = counts[part]
            total += float(weights @ posterior.log_evidence)
            for table, scope in zip(families, self.skills.scopes, strict=True):
                table += np.tensordot(weights, posterior.joints[place[scope]], axes=1)
            for number, cause in enumerate(self._causes):
                joint = posterior.joints[place[cause]].reshape(len(weights), -1)
                self._add(expected_counts, number, joint * weights[:, None], rows[part])
        return Expected(total, expected_counts, tuple(families))

    def group_masses(
        self, response_parameters: Floats, tables: tuple[Floats, ...]
    ) -> Iterator[tuple[slice, int, Floats]]:
        """Yield some patterns, the number of an item in the layout, and ``(patterns, groups)``.

        The masses are the probabilities of the groups of the item's parent configurations.
        """
        inputs = self._inputs(response_parameters, tables)
        place = {
            tuple(v.name for v in scope): number for number, scope in enumerate(self.plan.targets)
        }
        for part in self._parts():
            cases = {
                name: self.patterns.rows[part, column].astype(np.intp)
                for name, column in zip(self._names, self.layout.columns, strict=True)
            }
            posterior = self.plan.run_batch(cases, inputs)
            for number, cause in enumerate(self._causes):
                joint = np.real(posterior.joints[place[cause]]).reshape(part.stop - part.start, -1)
                groups = self.layout.groups[number]
                yield part, number, joint @ np.eye(self.layout.shapes[number][0])[groups]

    def _impossible(
        self, cases: Mapping[str, NDArray[np.intp]], inputs: Mapping[str, Floats], start: int
    ) -> ImpossibleEvidenceError:
        """Return the error that names the first impossible pattern."""
        place = start
        while True:
            case = {
                name: states[place - start : place - start + 1] for name, states in cases.items()
            }
            try:
                self.plan.run_batch(case, inputs)
            except ImpossibleEvidenceError:
                rows, who = self.patterns.rows.astype(np.int16), self.patterns.examinees[place]
                return impossible_rows(self.bank, rows, [place], who=who)
            place += 1

    def _add(
        self,
        expected_counts: Floats,
        item: int,
        masses: Floats,
        rows: NDArray[np.signedinteger[Any]],
    ) -> None:
        """Add the masses of an item's configurations to its expected counts."""
        start, (n_groups, n_responses) = self.layout.starts[item], self.layout.shapes[item]
        responses = rows[:, self.layout.columns[item]]
        groups = self.layout.groups[item]
        for response in range(n_responses):
            of_response = masses[responses == response].sum(axis=0)
            by_group = np.bincount(groups, weights=of_response, minlength=n_groups)
            expected_counts[start + response : start + n_groups * n_responses : n_responses] += (
                by_group
            )

    def _inputs(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> dict[str, Floats]:
        """Return the tables to multiply the uniform ones by."""
        inputs = {
            f"table of {scope[0]}": table * len(table)
            for scope, table in zip(self.skills.scopes, tables, strict=True)
        }
        names = [name for block in self.layout.blocks for name in block.names]
        for number, name in enumerate(names):
            start, (n_groups, n_responses) = self.layout.starts[number], self.layout.shapes[number]
            chances = response_parameters[start : start + n_groups * n_responses].reshape(
                n_groups, n_responses
            )
            channel = chances[self.layout.groups[number]]
            shape = [v.n_states for v in self.bank.network.cpd(name).scope]
            inputs[f"table of {name}"] = (channel.T * n_responses).reshape(shape)
        return inputs

    def _parts(self) -> list[slice]:
        sizes = [int(np.prod([v.n_states for v in scope])) for scope in self.plan.targets]
        step = max(_BATCH_CELLS // sum(sizes), 1)
        n = len(self.patterns.rows)
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]


assert MISSING == -1  # the code of run_batch for missing evidence
