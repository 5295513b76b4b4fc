r"""The EM algorithm: layout of responses, E-steps, starts, and the climb.

The E-step by a table over all profiles, with indistinguishable profiles as one class.

==================  ======================================================================
symbol              name here
==================  ======================================================================
α, c(α)             a profile; its *class*: profiles with equal response probabilities
π_α, π_c            ``prior``: the probability of a profile; of its class, the sum over it
y_{n,ir}            ``indicators``: pattern n has response r to item i; all 0 if missing
w_n                 the number of examinees with the pattern
L_{nc}              Π_{ir} P_{ir}(c)^{y_{n,ir}}
Z_n                 Σ_c π_c L_{nc}, the probability of the pattern
==================  ======================================================================

The expected number of examinees with profile α is :math:`π_α \sum_n w_n L_{n c(α)} / Z_n`, and
of those in class c with response r to item i :math:`π_c \sum_n w_n y_{n,ir} L_{nc} / Z_n`. Both,
and log L, are matrix products. Missing responses do not contribute.

Expectation maximization for the parameters of a bank, as an ascent of `bnmind.fitting.em`.

One step of EM never lowers the objective: the log-likelihood plus the log-density of the
priors.

The starts of EM, and how they share the work.

The likelihood of a model with discrete skills is that of a finite mixture, and has several
maxima (Goodman 1974). Therefore several starts are the default: that of the given model, which is
the one of the R package CDM, and drawn ones. The curves of one ability have a single maximum in
practice, so one start is the default for them.

By default the drawn starts share the work as in short runs of EM (Biernacki, Celeux and Govaert
2003): each is followed until a step gains little, and only the best of them is followed to its
end, if it comes near the end of the first start or above it. If the number of starts is given,
each is followed to its end.

References
----------
A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM
algorithm", J. R. Stat. Soc. B 1977; J. de la Torre, "DINA model and parameter estimation:
a didactic", J. Educ. Behav. Stat. 2009.

A. Dempster, N. Laird and D. Rubin, "Maximum likelihood from incomplete data via the EM
algorithm", J. R. Stat. Soc. B 1977.

L. Goodman, "Exploratory latent structure analysis using both identifiable and unidentifiable
models", Biometrika 1974; C. Biernacki, G. Celeux and G. Govaert, "Choosing starting values for
the EM algorithm for getting the highest likelihood in multivariate Gaussian mixture models",
Comput. Stat. Data Anal. 2003.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind._workers import one_blas_thread, results_of
from bnmind.adaptive.beliefs import MISSING, impossible_rows
from bnmind.adaptive.estimates import has_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.learning.blocks import ItemBlock, LearningOptions
from bnmind.adaptive.learning.skill_families import SkillFamilies
from bnmind.adaptive.responses import Responses
from bnmind.errors import ImpossibleEvidenceError
from bnmind.fitting.em import EQUAL, AllStarts, Ascent, Climb, Place, climb
from bnmind.information import Floats
from bnmind.junction import Plan, compile_plan
from bnmind.pgm import Network, TabularCPD


class Expected(NamedTuple):
    """The expected counts given all responses: the result of an E-step."""

    log_likelihood: float
    """Natural logarithm of the probability of all responses."""
    counts: Floats
    """The expected number of examinees for each response probability, see `ResponseLayout`."""
    families: tuple[Floats, ...]
    """The expected number of examinees for each entry of the tables of the skills."""


Expectation: TypeAlias = Callable[[Floats, tuple[Floats, ...]], Expected]
"""An E-step: returns expected counts, given all response probabilities and the skills' tables.

Raises `ImpossibleEvidenceError` if an examinee's responses have probability zero.
"""


class Patterns(NamedTuple):
    """The distinct rows of responses, with the number of examinees of each."""

    rows: NDArray[np.signedinteger[Any]]
    counts: Floats
    first: NDArray[np.intp]
    """The first examinee with each row, among all."""
    examinees: tuple[str, ...]
    """The names of all examinees."""

    @classmethod
    def of(cls, responses: Responses, among: NDArray[np.bool_] | None = None) -> Patterns:
        """Return the patterns of some responses, or of some of their examinees."""
        rows, inverse, _ = responses.patterns
        chosen = np.arange(len(inverse)) if among is None else np.flatnonzero(among)
        first = np.full(len(rows), len(inverse), dtype=np.intp)
        np.minimum.at(first, inverse[chosen], chosen)
        counts = np.bincount(inverse[chosen], minlength=len(rows))
        used = np.flatnonzero(counts)
        numbers = counts[used].astype(np.float64)
        return cls(rows[used], numbers, first[used], responses.examinees)

    def who(self, place: int) -> str:
        """Return the name of the first examinee with a row."""
        return self.examinees[int(self.first[place])]


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

    @cached_property
    def _slices(self) -> tuple[slice, ...]:
        """The places of each block's probabilities."""
        sizes = [len(block.rules) * math.prod(block.shape) for block in self.blocks]
        ends = [*accumulate(sizes, initial=0)]
        return tuple(map(slice, ends[:-1], ends[1:]))

    def response_parameters(self, values: Sequence[Floats]) -> Floats:
        """Return all response probabilities, given the parameters of each block."""
        pairs = zip(self.blocks, values, strict=True)
        tables = [block.response_parameters(own).reshape(-1) for block, own in pairs]
        return tables[0] if len(tables) == 1 else np.concatenate(tables)

    def maximized(
        self, values: Sequence[Floats], counts: Floats, chances: Floats
    ) -> tuple[Floats, ...]:
        """Return parameters of all blocks with a larger likelihood of expected counts."""
        each = zip(self.blocks, values, self.parts(counts), self.parts(chances), strict=True)
        return tuple([block.maximize(*of_block) for block, *of_block in each])

    def parts(self, array: Floats) -> list[Floats]:
        """Return an array in this layout split by block, ``(items, groups, responses)``."""
        pairs = zip(self.blocks, self._slices, strict=True)
        return [array[place].reshape(-1, *block.shape) for block, place in pairs]

    def indicators(self, rows: NDArray[np.signedinteger[Any]]) -> Floats:
        """Return indicators of the responses in each row, ``(rows, responses of all items)``."""
        columns = []
        for column, (_, n_responses) in zip(self.columns, self.shapes, strict=True):
            columns.append(rows[:, column, None] == np.arange(n_responses))
        return np.concatenate(columns, axis=1).astype(np.float64)


_CHUNK_CELLS = 2**18
"""The size of the arrays for one part of the patterns."""

_ROUNDING = 1e-13
"""The share of a class that gave a response, below which it may be an error of rounding."""

_FLOOR = 1e-300
"""Replaces a probability of zero, so that its logarithm is finite."""

_DOUBTFUL = -600.0
"""Patterns with a log-likelihood below this are checked for being impossible."""


@dataclass(frozen=True, eq=False)
class TableExpectation:
    """An E-step by table, compiled for some responses; see `Expectation`.

    Parameters
    ----------
    bank
        The item bank.
    layout
        The layout of the response probabilities.
    skills
        The families of its hidden variables.
    patterns
        The responses.
    """

    bank: ItemBank
    layout: ResponseLayout
    skills: SkillFamilies
    patterns: Patterns

    @property
    def classes(self) -> NDArray[np.intp]:
        """The class of each profile."""
        return self._classes_and_places[0]

    @property
    def places(self) -> NDArray[np.intp]:
        """``(responses of all items, classes)``: the place of each in the layout."""
        return self._classes_and_places[1]

    @cached_property
    def indicators(self) -> Floats:
        """What each pattern responds; see `ResponseLayout.indicators`."""
        return sealed(self.layout.indicators(self.patterns.rows))

    @cached_property
    def _kept(self) -> tuple[NDArray[np.intp], ...]:
        """Responses of which the others follow, those others, and where the kept of each begin.

        If all gave a response to an item, its most frequent one is that of the rest. The items
        with missing responses, of which all are kept, come last.
        """
        given, n = self.patterns.counts @ self.indicators, self.patterns.counts.sum()
        others, usual, starts, all_of_item = list[int](), list[int](), list[int](), list[int]()
        row = 0
        for _, n_responses in self.layout.shapes:
            rows = [*range(row, row := row + n_responses)]
            if given[rows].sum() < n:
                all_of_item += rows
                continue
            usual.append(rows.pop(int(np.argmax(given[rows]))))
            starts.append(len(others))
            others += rows
        ends = [len(others)] if usual else []
        return tuple(
            np.array(one, dtype=np.intp) for one in (others + all_of_item, usual, starts + ends)
        )

    @cached_property
    def _parts(self) -> tuple[tuple[slice, Floats], ...]:
        """Some patterns, and the indicators of what is kept of them; the last row has ones."""
        n, n_classes = len(self.indicators), self.places.shape[1]
        step = max(_CHUNK_CELLS // n_classes, 1)
        rows = np.concatenate([self.indicators[:, self._kept[0]], np.ones((n, 1))], axis=1)
        parts = [slice(start, min(start + step, n)) for start in range(0, n, step)]
        return tuple([(part, np.ascontiguousarray(rows[part].T)) for part in parts])

    @cached_property
    def _moved(self) -> tuple[NDArray[np.intp], ...]:
        """The places of what is kept, of what comes in its place, of the others, and of both."""
        kept, usual, starts = self._kept
        instead = usual.repeat(np.diff(starts)) if len(usual) else usual
        every = self.places[np.concatenate([kept, usual])].reshape(-1)
        return self.places[kept], self.places[instead], self.places[usual], every

    @cached_property
    def _classes_and_places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        place = {v.name: axis for axis, v in enumerate(self.skills.variables)}
        shape = self.skills.shape
        levels = np.indices(shape).reshape(len(shape), -1)
        names = [name for block in self.layout.blocks for name in block.names]
        seen: dict[bytes, int] = {}
        columns: list[NDArray[np.intp]] = []
        of_item = []
        for name, groups in zip(names, self.layout.groups, strict=True):
            parents = [v.name for v in self.bank.network.cpd(name).parents]
            sizes = [shape[place[parent]] for parent in parents]
            flat = np.ravel_multi_index([levels[place[parent]] for parent in parents], sizes)
            column = groups[flat]
            number = seen.setdefault(column.tobytes(), len(columns))
            if number == len(columns):
                columns.append(column)
            of_item.append(number)
        table, classes = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        places = [
            start + table[:, column] * n_responses + response
            for start, column, (_, n_responses) in zip(
                self.layout.starts, of_item, self.layout.shapes, strict=True
            )
            for response in range(n_responses)
        ]
        return sealed(classes.reshape(-1).astype(np.intp)), sealed(np.array(places, dtype=np.intp))

    def __call__(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Expected:
        """Return expected counts; see `Expectation`."""
        prior, (classes, places) = self.skills.prior(tables), self._classes_and_places
        of_class = placed_sums(classes, prior, places.shape[1])
        kept, usual, starts = self._kept
        total, found = 0.0, np.zeros((len(kept) + 1, len(of_class)))
        for part, given, likely, scale in self._likelihoods(response_parameters):
            weights = self.patterns.counts[part]
            with np.errstate(divide="ignore"):
                evidence = of_class @ likely
                log_evidence = np.log(evidence) + scale
            if log_evidence.min() < _DOUBTFUL:
                self._check(part, response_parameters, of_class)
            total += float(weights @ log_evidence)
            likely *= weights / evidence
            found += given @ likely.T
        in_class = found[-1]
        by_class = found[:-1]
        if len(usual):
            rest = in_class - np.add.reduceat(found[: starts[-1]], starts[:-1], axis=0)
            rest *= rest > _ROUNDING * in_class
            by_class = np.concatenate([by_class, rest])
        by_class *= of_class
        every = self._moved[-1]
        counts = placed_sums(every, by_class.reshape(-1), len(response_parameters))
        return Expected(total, counts, self.skills.counts(prior * in_class[classes]))

    def of_class(self, tables: tuple[Floats, ...]) -> Floats:
        """Return the probability of each class, ``(classes,)``."""
        return placed_sums(self.classes, self.skills.prior(tables), self.places.shape[1])

    def posteriors(self, response_parameters: Floats, tables: tuple[Floats, ...]) -> Floats:
        """Return the distribution over the classes given each pattern, ``(patterns, classes)``."""
        of_class = self.of_class(tables)[:, None]
        parts = [likely * of_class for _, _, likely, _ in self._likelihoods(response_parameters)]
        joint = np.concatenate(parts, axis=1)
        return np.ascontiguousarray((joint / joint.sum(axis=0)).T)

    def group_masses(
        self, response_parameters: Floats, tables: tuple[Floats, ...]
    ) -> Iterator[tuple[slice, int, Floats]]:
        """Yield some patterns, the number of an item in the layout, and ``(patterns, groups)``.

        The masses are the probabilities of the groups of the item's parent configurations.
        """
        posterior = self.posteriors(response_parameters, tables)
        row = 0
        for number, (start, (n_groups, n_responses)) in enumerate(
            zip(self.layout.starts, self.layout.shapes, strict=True)
        ):
            group = (self.places[row] - start) // n_responses
            row += n_responses
            each_its_own = np.array_equal(group, np.arange(n_groups))
            masses = posterior if each_its_own else posterior @ np.eye(n_groups)[group]
            yield slice(None), number, masses

    def _likelihoods(
        self, response_parameters: Floats
    ) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
        """Yield some patterns, what they gave, Lᵀ with columns multiplied by exp(−scale), scale."""
        logs = np.log(np.maximum(response_parameters, _FLOOR))
        of_kept, instead, others, _ = self._moved
        changes = np.empty((len(of_kept) + 1, of_kept.shape[1]))
        changes[:-1] = logs[of_kept]
        changes[: len(instead)] -= logs[instead]
        changes[-1] = logs[others].sum(axis=0)
        for part, given in self._parts:
            table = changes.T @ given
            scale = table.max(axis=0)
            table -= scale
            yield part, given, np.exp(table, out=table), scale

    def _check(self, part: slice, response_parameters: Floats, of_class: Floats) -> None:
        """Raise if a pattern is impossible in every class."""
        none = (response_parameters[self.places] <= 0) | (of_class <= 0)
        wrong = np.flatnonzero((self.indicators[part] @ none > 0).all(axis=1))
        if wrong.size:
            place = int(wrong[0]) + (part.start or 0)
            rows, who = self.patterns.rows.astype(np.int16), self.patterns.who(place)
            raise impossible_rows(self.bank, rows, [place], who=who)


# --- The E-step by a junction tree, for more skills than a table over all profiles allows ---------
#
# The plan is compiled once with its tables as inputs. Each step runs it with new tables for all
# patterns, in batches. Items are soft variables, so items without responses have no effect. The
# targets are the parents of the items, and the families of the hidden variables.

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
        families = [np.zeros(table.shape) for table in tables]
        counts = np.zeros(len(response_parameters))
        total = 0.0
        for part, posterior, joints in self._posteriors(response_parameters, tables):
            weights = self.patterns.counts[part]
            total += float(weights @ posterior.log_evidence)
            for table, scope in zip(families, self.skills.scopes, strict=True):
                table += np.tensordot(weights, joints[scope], axes=1)
            for number, cause in enumerate(self._causes):
                masses = joints[cause].reshape(len(weights), -1) * weights[:, None]
                self._add(counts, number, masses, self.patterns.rows[part])
        return Expected(total, counts, tuple(families))

    def group_masses(
        self, response_parameters: Floats, tables: tuple[Floats, ...]
    ) -> Iterator[tuple[slice, int, Floats]]:
        """Yield some patterns, the number of an item in the layout, and ``(patterns, groups)``.

        The masses are the probabilities of the groups of the item's parent configurations.
        """
        for part, _, joints in self._posteriors(response_parameters, tables):
            for number, cause in enumerate(self._causes):
                joint = np.real(joints[cause]).reshape(part.stop - part.start, -1)
                groups = self.layout.groups[number]
                yield part, number, joint @ np.eye(self.layout.shapes[number][0])[groups]

    def _posteriors(
        self, response_parameters: Floats, tables: tuple[Floats, ...]
    ) -> Iterator[tuple[slice, Any, dict[tuple[str, ...], Floats]]]:
        """Yield some patterns, their posterior, and the joint distributions by their scopes."""
        inputs = self._inputs(response_parameters, tables)
        scopes = [tuple(v.name for v in scope) for scope in self.plan.targets]
        sizes = [math.prod([v.n_states for v in scope]) for scope in self.plan.targets]
        step, n = max(_BATCH_CELLS // sum(sizes), 1), len(self.patterns.rows)
        for part in [slice(start, min(start + step, n)) for start in range(0, n, step)]:
            cases = {
                name: self.patterns.rows[part, column].astype(np.intp)
                for name, column in zip(self._names, self.layout.columns, strict=True)
            }
            try:
                posterior = self.plan.run_batch(cases, inputs)
            except ImpossibleEvidenceError:
                raise self._impossible(cases, inputs, part.start) from None
            yield part, posterior, dict(zip(scopes, posterior.joints, strict=True))

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
                rows, who = self.patterns.rows.astype(np.int16), self.patterns.who(place)
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
        for number, name in enumerate(self._names):
            start, (n_groups, n_responses) = self.layout.starts[number], self.layout.shapes[number]
            chances = response_parameters[start : start + n_groups * n_responses].reshape(
                n_groups, n_responses
            )
            channel = chances[self.layout.groups[number]]
            shape = [v.n_states for v in self.bank.network.cpd(name).scope]
            inputs[f"table of {name}"] = (channel.T * n_responses).reshape(shape)
        return inputs


assert MISSING == -1  # the code of run_batch for missing evidence


def placed_sums(places: NDArray[np.intp], weights: Floats, n: int) -> Floats:
    """Return the sum of the weights at each place."""
    return np.bincount(places, weights=weights, minlength=n).astype(np.float64)


class Parameters(NamedTuple):
    """All parameters of a model."""

    items: tuple[Floats, ...]
    """The parameters of each block of items."""
    skills: tuple[Floats, ...]
    """The table of each family of the skills, group after group."""


@dataclass(frozen=True, eq=False)
class BankAscent:
    """The log-likelihood of a bank's parameters, with its EM steps; see `Ascent`.

    Parameters
    ----------
    layout
        The items, whose counts in all groups are added up.
    skills, expectations
        The distributions of the skills, and the E-step, of each group of examinees.
    """

    layout: ResponseLayout
    skills: tuple[SkillFamilies, ...]
    expectations: tuple[Expectation, ...]

    def split(self, tables: tuple[Floats, ...]) -> list[tuple[Floats, ...]]:
        """Return the tables of each group."""
        n = len(tables) // len(self.skills)
        return [tables[start : start + n] for start in range(0, len(tables), n)]

    def at(self, parameters: Parameters) -> Place[Parameters]:
        """Do the E-step."""
        items, tables = parameters
        blocks = self.layout.blocks
        groups = self.split(tables)
        chances = self.layout.response_parameters(items)
        pairs = zip(self.expectations, groups, strict=True)
        found = [expectation(chances, own) for expectation, own in pairs]
        prior = sum(one.log_prior(own) for one, own in zip(self.skills, groups, strict=True))
        prior += sum(block.log_prior(values) for block, values in zip(blocks, items, strict=True))
        counts = sum([one.counts for one in found[1:]], found[0].counts)

        def improved() -> Parameters:
            better = self.layout.maximized(items, counts, chances)
            of_groups = zip(self.skills, groups, found, strict=True)
            shares = [one.maximize(own, e.families) for one, own, e in of_groups]
            return Parameters(better, tuple([table for own in shares for table in own]))

        def is_top() -> bool:
            parts = zip(blocks, items, self.layout.parts(counts), strict=True)
            return all(block.residual(*part) <= _ARRIVED for block, *part in parts)

        likelihood = sum(one.log_likelihood for one in found)
        return Place(parameters, likelihood, likelihood + prior, improved, is_top)

    def numbers(self, parameters: Parameters) -> Floats:
        """Return the parameters of the blocks and the tables of the skills in one array."""
        tables = [table.reshape(-1) for table in parameters.skills]
        return np.concatenate([*parameters.items, *tables])

    def within(self, numbers: Floats, known: Parameters) -> Parameters:
        """Return parameters within bounds and in order, with normalized distributions."""
        items, skills = [], []
        end = 0
        for block, values in zip(self.layout.blocks, known.items, strict=True):
            part = numbers[end : end + len(values)]
            end += len(values)
            items.append(block.between(values, part))
        for table in known.skills:
            part = numbers[end : end + table.size].reshape(table.shape)
            end += table.size
            part = np.where(part > 0, part, table * 0.5)
            skills.append(part / part.sum(axis=0))
        pairs = zip(self.skills, self.split(tuple(skills)), strict=True)
        settled = [table for one, own in pairs for table in one.settled(own)]
        return Parameters(tuple(items), tuple(settled))


_ARRIVED = 1e-3
"""The largest residual of items at a maximum, for each examinee."""

MIXTURE_STARTS = 5
"""The default number of starts for models with discrete skills."""

_ROUGH = 0.01
"""A drawn start is first followed until a step gains no more than this."""

_NEAR = 2.0
"""The best drawn start is followed to its end if it comes so near the first one, or above it."""

_P = TypeVar("_P")


def usual_starts(bank: ItemBank) -> int:
    """Return the default number of starts for a bank."""
    return 1 if has_ability(bank) else MIXTURE_STARTS


def all_climbs(
    ascent: Ascent[_P],
    start: Callable[[int], _P],
    options: LearningOptions,
    usual: int,
    progress: Callable[[int, int], None] | None,
) -> tuple[list[Climb[_P]], list[int]]:
    """Return the ascent from each start, and the numbers of those stopped early.

    Parameters
    ----------
    ascent
        The objective and its steps.
    start
        A function from the number of a start to its parameters.
    options
        The number of starts, the criterion of convergence, and the workers.
    usual
        The number of starts if the options have none.
    progress
        As for `learn`.
    """
    n = usual if options.starts is None else options.starts
    short = options.starts is None and n > 1
    rough = max(_ROUGH, options.tolerance)
    told = AllStarts(progress, n + short)

    def task(place: _P, tolerance: float, steps: int = 0) -> Callable[[], Climb[_P]]:
        return partial(
            climb_alone,
            ascent,
            place,
            max_iterations=options.max_iterations - steps,
            tolerance=tolerance,
            accelerate=options.accelerate,
            progress=told.during_a_start if options.workers == 1 else None,
            until=options.until if options.workers == 1 else None,
        )

    tasks = [
        task(start(number), rough if short and number else options.tolerance) for number in range(n)
    ]
    climbs: list[Climb[_P]] = []
    ended = False
    for one in results_of(tasks, options.workers):
        climbs.append(one)
        told.after_a_start(one.steps)
        if ended := options.until is not None and options.until():
            break
    if ended:
        return climbs, [number for number, one in enumerate(climbs) if not one.converged]
    if not short:
        return climbs, []
    early = set(range(1, n))
    ends = [one.objectives[-1] for one in climbs]
    best = 1 + int(np.argmax(ends[1:]))
    steps = 0
    # An end that equals that of the first start is the same maximum.
    if ends[best] > ends[0] - _NEAR and abs(ends[best] - ends[0]) > EQUAL:
        way = task(climbs[best].parameters, options.tolerance, climbs[best].steps)()
        steps = way.steps
        climbs[best] = _joined(climbs[best], way)
        early.remove(best)
    told.after_a_start(steps)
    return climbs, sorted(early)


def climb_alone(ascent: Ascent[_P], start: _P, **options: Any) -> Climb[_P]:
    """Return the result of `climb`, with one thread for BLAS."""
    with one_blas_thread():
        return climb(ascent, start, **options)


def _joined(first: Climb[_P], then: Climb[_P]) -> Climb[_P]:
    """Return an ascent and its continuation as one."""
    return Climb(
        parameters=then.parameters,
        log_likelihoods=first.log_likelihoods + then.log_likelihoods[1:],
        objectives=first.objectives + then.objectives[1:],
        steps=first.steps + then.steps,
        converged=then.converged,
    )
