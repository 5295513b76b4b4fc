"""Learning a bank from responses: the parameters that make them most likely.

How sure learned parameters are, from the posterior of each examinee.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
q_n(g)                 ``masses``: the probability of group g of an item's parent
                       configurations, given the answers of examinee n
N_{gr}                 Σ_n q_n(g) [x_n = r], the expected counts of the last E-step
ρ_g                    Σ_n q_n(g)² / Σ_n q_n(g): the share of the counts that is information
a_{gr} = 1 + ρ_g N_{gr}  `TableCertainty.counts`
s_n                    the score of examinee n: Σ_g q_n(g) ∂ ln θ_g(x_n), in the parameters of
                       the item
(Σ_n s_n s_nᵀ)⁻¹       `ParameterCertainty.covariance`
=====================  ===================================================================

The expected counts are those of complete data; whose group is uncertain tells less. For a chance
θ_g, the observed information is Σ_n q_n(g)² (x_n − θ_g)² / (θ_g (1 − θ_g))², so about ρ_g times
that of the complete data, by which the counts are multiplied (Louis 1982: the missing information).
The prior is flat, so the mode of the Dirichlet distribution is the learned table, and its mean lies
between the table and equal chances. Parameters of other items and of the skills count as known.

References
----------
T. Louis, "Finding the observed information matrix when using the EM algorithm", J. R. Stat.
Soc. B 1982.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._values import Value
from bnmind._workers import one_blas_thread
from bnmind.adaptive.belief_tables import n_profiles
from bnmind.adaptive.estimates import has_ability
from bnmind.adaptive.formulas import ResponseModel, ability_values, parameter_vector
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Certainty, ParameterCertainty, TableCertainty
from bnmind.adaptive.items.qmatrix import QMatrix, renamed_skills
from bnmind.adaptive.items.skill_distributions import Independent, ProfileDistribution, Saturated
from bnmind.adaptive.items.text_tables import are_numbered, match_names
from bnmind.adaptive.learning.blocks import (
    Bounds,
    ItemBlock,
    ItemRule,
    LearningOptions,
    rises_along,
)
from bnmind.adaptive.learning.em import (
    BankAscent,
    Parameters,
    Patterns,
    PlanExpectation,
    ResponseLayout,
    TableExpectation,
    all_climbs,
    climb_alone,
    usual_starts,
)
from bnmind.adaptive.learning.forms import differences
from bnmind.adaptive.learning.skill_families import SkillFamilies
from bnmind.adaptive.models import Logistic, gate_of
from bnmind.adaptive.responses import Responses, names_in
from bnmind.adaptive.skill_models import (
    Dina,
    Gdina,
    GuessSlip,
    MainEffects,
    Sequential,
    SkillEffects,
    StepsOf,
    Tabulated,
    is_learnable,
)
from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    InvalidModelError,
    TableError,
    UnknownNameError,
)
from bnmind.fitting.em import Climb, LearningRecord
from bnmind.information import Floats
from bnmind.pgm import Network, Variable

if TYPE_CHECKING:
    import pandas

    from bnmind.adaptive.learning.judgment import LearnedSummary, LearningNote

_MOST_GROUPS = 2**10
"""Items with more groups have no certainty: their tables are not meant to be stored."""

_WIDEST = 10.0
"""The standard deviation of the parameters of a curve of which the answers tell nothing."""

_NEVER = 1e-300
"""In place of a chance of 0 in a ratio."""


def item_certainties(
    expectation: TableExpectation | PlanExpectation,
    items: tuple[Floats, ...],
    tables: tuple[Floats, ...],
) -> dict[str, Certainty]:
    """Return how sure the parameters of the learned items are, by name.

    Parameters
    ----------
    expectation
        The E-step of the responses.
    items, tables
        The parameters of each block, and of each family of the skills.
    """
    layout, patterns = expectation.layout, expectation.patterns
    probabilities = layout.response_parameters(items)
    names = [name for block in layout.blocks for name in block.names]
    slopes = _all_slopes(layout, items)
    sums: dict[int, _Sums] = {
        number: _Sums(layout.shapes[number], slopes.get(name))
        for number, name in enumerate(names)
        if name in slopes
    }
    for part, number, masses in expectation.group_masses(probabilities, tables):
        if number in sums:
            answers = patterns.rows[part, layout.columns[number]]
            sums[number].add(masses, answers, patterns.counts[part])
    found: dict[str, Certainty] = {}
    of_items = [(name, block) for block in layout.blocks for name in block.names]
    for number, (name, block) in enumerate(of_items):
        if number in sums:
            found[name] = sums[number].certainty(block, layout.groups[number])
    return found


class _Slopes:
    """The derivatives of an item's table and of its model's parameters, by those of its block."""

    def __init__(self, of_logs: Floats, of_model: Floats) -> None:
        self.of_logs = of_logs  # (parameters, groups, responses)
        self.of_model = of_model  # (parameters of the model, parameters)


class _Sums:
    """The sums over examinees that an item's certainty needs."""

    def __init__(self, shape: tuple[int, int], slopes: _Slopes | None) -> None:
        self.slopes = slopes
        self.answers = 0.0
        self.counts = np.zeros(shape)
        self.first, self.squares = np.zeros(shape[0]), np.zeros(shape[0])
        size = 0 if slopes is None else len(slopes.of_logs)
        self.information = np.zeros((size, size))

    def add(self, masses: Floats, answers: NDArray[np.signedinteger[Any]], weights: Floats) -> None:
        if self.slopes is not None:
            for response in range(self.counts.shape[1]):
                gave_it = np.flatnonzero(answers == response)
                scores = masses[gave_it] @ self.slopes.of_logs[..., response].T
                weighted = weights[gave_it]
                self.answers += float(weighted.sum())
                self.information += (scores.T * weighted) @ scores
            return
        weighted = (answers[:, None] == np.arange(self.counts.shape[1])) * weights[:, None]
        self.answers += float(weighted.sum())
        self.counts += masses.T @ weighted
        self.first += weighted.sum(axis=1) @ masses
        self.squares += weighted.sum(axis=1) @ masses**2

    def certainty(self, block: ItemBlock, groups: NDArray[np.intp]) -> Certainty:
        if self.slopes is not None:
            inverse = np.linalg.inv(self.information + np.eye(len(self.information)) / _WIDEST**2)
            covariance = self.slopes.of_model @ inverse @ self.slopes.of_model.T
            return ParameterCertainty((covariance + covariance.T) / 2, self.answers)
        share = np.divide(
            self.squares, self.first, out=np.zeros_like(self.first), where=self.first > 0
        )
        counts = 1 + share[:, None] * self.counts
        if block.is_saturated:
            (a, b), (c, d) = block.priors.guess, block.priors.slip
            counts[0] += (b - 1, a - 1)
            counts[-1] += (c - 1, d - 1)
        return TableCertainty(counts, tuple(groups.tolist()), self.answers)


def _all_slopes(layout: ResponseLayout, items: tuple[Floats, ...]) -> Mapping[str, _Slopes | None]:
    """Return the slopes of items with parameters, None for tables; others are left out."""
    found: dict[str, _Slopes | None] = {}
    for block, values in zip(layout.blocks, items, strict=True):
        if block.fixed or block.shape[0] > _MOST_GROUPS or block.shared:
            continue
        if isinstance(block.rules[0].model, Gdina | GuessSlip | None):
            found |= dict.fromkeys(block.names)
            continue
        tables, slopes = block.response_parameters(values), block.slopes(values)
        for place, (rule, own) in enumerate(zip(block.rules, block.own, strict=True)):
            with suppress(BnmindError):  # a step leaves the range of the parameters
                limits = block.limits[own]
                free = np.flatnonzero(limits[:, 0] < limits[:, 1])
                of_model = _slopes_of_model(rule, values[own], limits)[:, free]
                if of_model.size:
                    logs = slopes[place, free] / np.maximum(tables[place], _NEVER)
                    found[rule.name] = _Slopes(logs, of_model)
    return found


def _slopes_of_model(rule: ItemRule, numbers: Floats, limits: Floats) -> Floats:
    """Return the derivatives of a model's own parameters by those of its formula."""
    same = parameter_vector(rule.learnable)
    if np.array_equal(same[: len(numbers)], rule.learnable._numbers):
        return np.eye(len(same), len(numbers))

    def own(numbers: Floats) -> Floats:
        return parameter_vector(rule.learnable._with_numbers(numbers))

    return differences(own, numbers, limits)


# --- What is learned: the model of a bank and its responses, and what a user gives ---------------

SATURATED_SKILLS = 12
"""By default up to this many skills have a saturated distribution; more are independent."""

_STACKED = 32
"""The most configurations of main effects that are learned in one array with those of fewer."""

_START = 0.2, 0.2
"""The first guess and slip: those of `din` in the R package CDM (A. George, A. Robitzsch, T.
Kiefer, J. Groß and A. Ünlü, J. Stat. Softw. 2016), so that both programs reach the same of
several maxima."""


def bank_to_learn(
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    gate: str | Callable[..., ResponseModel],
    skills: ProfileDistribution | Network | None,
    n_responses: Mapping[str, int] | None = None,
) -> ItemBank:
    """Return the bank whose parameters are the first start.

    Parameters
    ----------
    model
        A bank; or a Q-matrix, as for `ItemBank.from_qmatrix`.
    gate
        A class of response models or its name, or a function that makes one from a guess and a
        slip.
    skills
        The distribution of the skills.
    n_responses
        For `Sequential`, the number of responses to each item; default 2.
    """
    gate = gate_of(gate)
    if isinstance(model, ItemBank):
        if gate is not Dina or skills is not None:
            raise InvalidArgumentError("gate and skills are for a Q-matrix; a bank has its own")
        return model
    q = model if isinstance(model, QMatrix) else QMatrix.of(model)
    if skills is None:
        skills = Saturated() if len(q.skills) <= SATURATED_SKILLS else Independent()
    levels = (q.needs.max(axis=0) + 1).tolist()
    bank = ItemBank.from_qmatrix(q, *_START, gate, skills=skills, levels=levels)
    if n_responses and (gate is Sequential or isinstance(gate, StepsOf)):
        models: list[Any] = [item.gate for item in bank.items]
        numbers = [n_responses.get(name, 2) for name in q.item_names]
        stepped = [
            Sequential((model,) * (n - 1)) if n > 2 else model
            for model, n in zip(models, numbers, strict=True)
        ]
        return ItemBank.from_response_models(q, stepped, skills=skills, levels=levels)
    return bank


def item_rules(bank: ItemBank, options: LearningOptions) -> tuple[ItemRule, ...]:
    """Return the rule of each item.

    Raises
    ------
    UnknownNameError
        If a fixed or bounded name is unknown.
    InvalidArgumentError
        If bounds contradict the order of the chances of success.
    """
    known = {*bank.item_names, *(v.name for v in bank.hidden)}
    for name in sorted(set(options.fixed) - known):
        raise UnknownNameError("item or skill", name, sorted(known))
    hidden = {v.name for v in bank.hidden}
    for name in sorted({*options.scaled, *options.moved} - hidden):
        raise UnknownNameError("ability", name, sorted(hidden))
    if not isinstance(options.bounds, Bounds):
        for name in options.bounds:
            bank.position(name)
    rules, problems = [], []
    for item in bank.items:
        parents = bank.network.cpd(item.name).parents
        ordered = tuple(v.name in bank.skills for v in parents)
        channel = _channel(bank, item.name, parents)
        bounds = options.bounds_of(item.name)
        if options.monotone:
            bounds = replace(bounds, slope=tuple(np.maximum(bounds.slope, 0.0).tolist()))
        rules.append(
            ItemRule(
                name=item.name,
                model=_with_asymptotes(item.gate, bounds),
                parents=parents,
                channel=channel,
                fixed=item.name in options.fixed,
                bounds=bounds,
                ordered=ordered,
                least=options.least_chance,
            )
        )
        may_fall = item.gate is None or isinstance(item.gate, GuessSlip | Gdina)
        may_fall |= isinstance(item.gate, MainEffects) and not item.gate.always_rises
        if bounds.guess[0] + bounds.slip[0] > 1 and (options.monotone or not may_fall):
            problems.append(
                f"the least guess and the least slip of item {item.name} must sum to at most 1,"
                f" got {bounds.guess[0]} and {bounds.slip[0]}"
            )
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    return tuple(rules)


def _with_asymptotes(model: ResponseModel | None, bounds: Bounds) -> ResponseModel | None:
    """Return a curve with the asymptotes that bounds ask for."""
    if not isinstance(model, Logistic):
        return model
    lower = model.lower or bounds.guess[0]
    upper = model.upper if model.upper < 1 else 1 - bounds.slip[0]
    return replace(model, lower=lower, upper=upper)


def _channel(bank: ItemBank, item: str, parents: tuple[Variable, ...]) -> Floats:
    names = [v.name for v in parents]
    factor = bank.network.cpd(item).to_factor()
    if list(factor.names) != [item, *names]:
        factor = factor.transpose([item, *names])
    values = np.real(factor.values)
    return np.ascontiguousarray(values.reshape(len(values), -1).T)


def item_blocks(bank: ItemBank, options: LearningOptions) -> tuple[ItemBlock, ...]:
    """Return the items in blocks that are learned by the same rule.

    Raises
    ------
    InvalidModelError
        If the response model of an item cannot be learned.
    """
    blocks: list[ItemBlock] = []
    alike: dict[Hashable, list[ItemRule]] = {}
    for rule in item_rules(bank, options):
        if rule.fixed:
            blocks.append(ItemBlock((rule,)))
        else:
            alike.setdefault(_kind(rule), []).append(rule)
    together: dict[Hashable, list[ItemRule]] = {}
    is_flat = options.priors.guess == options.priors.slip == (1.0, 1.0)
    for kind, rules in alike.items():
        model, n_cells = rules[0].model, len(rules[0].channel)
        of_item = isinstance(model, MainEffects) and not model.is_shared
        if is_flat and of_item and n_cells <= _STACKED:
            kind = (type(model),)
        together.setdefault(kind, []).extend(rules)
    problems = []
    for rules in together.values():
        block = block_of(tuple(rules), options)
        if block is None:
            problems += [_why_not(rule) for rule in rules]
        else:
            blocks.append(block)
    if problems:
        raise InvalidModelError(problems)
    return tuple(blocks)


def _kind(rule: ItemRule) -> Hashable:
    """Return what items that are learned together have in common."""
    if rule.model is not None and not is_learnable(rule.model):
        return rule.name
    formula = rule.formula
    if isinstance(rule.model, SkillEffects):
        return type(rule.model)
    parts = [
        (part.link, part.sizes, part.roles, part.rises, tuple(rises_along(part, rule.ordered)))
        for part in formula.parts
    ]
    return formula.link, formula.design.shape, formula.design.tobytes(), tuple(parts)


def _why_not(rule: ItemRule) -> str:
    """Return why the response model of an item cannot be learned."""
    if isinstance(rule.model, Tabulated):
        name = rule.model.name
        return (
            f"item {rule.name} has your response model {name}, of which files hold the table only:"
            f" learn from the Q-matrix with gate={name}, or name the item in options.fixed"
        )
    return (
        f"the response model of item {rule.name} cannot be learned: {rule.model!r};"
        " a ParametricModel can"
    )


def block_of(rules: tuple[ItemRule, ...], options: LearningOptions) -> ItemBlock | None:
    """Return the block of alike items; None if their response model cannot be learned."""
    if rules[0].model is None or is_learnable(rules[0].model):
        return ItemBlock(rules, options.priors, options.monotone)
    return None


def learning_inputs(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    gate: str | Callable[..., ResponseModel],
    skills: ProfileDistribution | Network | None,
) -> tuple[ItemBank, Responses]:
    """Return the bank whose parameters are the first start, and the responses to its items.

    A Q-matrix whose rows only have numbers gets the names of the columns of the responses, by
    position. The notes of the responses say so, and repeat those of the Q-matrix.

    Raises
    ------
    TableError
        If the responses do not fit the items.
    InvalidModelError
        If the Q-matrix is invalid.
    """
    named = isinstance(responses, Responses) or hasattr(responses, "columns")
    q = None
    if not isinstance(model, ItemBank):
        q = QMatrix.of(model, expected=names_in(responses) if named else ())
    names = model.item_names if isinstance(model, ItemBank) else q.item_names if q else ()
    if named:
        data = Responses.of(responses, expected=names)
    else:
        data = Responses.of(responses, items=names)
    if q is None:
        bank = bank_to_learn(model, gate, skills)
    else:
        q, data = _with_equal_names(q, data)
        bank = bank_to_learn(q, gate, skills, _numbers_of_responses(q, data))
    data = data.for_bank(bank)
    data.require_answers()
    return bank, data


def _numbers_of_responses(q: QMatrix, data: Responses) -> dict[str, int]:
    """Return the number of responses to each item in the data; without the items unknown here."""
    match = match_names(data.items, q.item_names)
    if match is None:
        return {}
    most = data.codes.max(axis=0, initial=0)
    pairs = zip(q.item_names, match.places, strict=True)
    return {name: int(most[place]) + 1 for name, place in pairs}


def _with_equal_names(q: QMatrix, data: Responses) -> tuple[QMatrix, Responses]:
    """Return a Q-matrix with the names of the responses, if its own only count its rows."""
    match = match_names(data.items, q.item_names)
    strange = not set(data.items) & set(q.item_names)
    if match is None and strange and len(data.items) == len(q.skills) != len(q.items):
        raise TableError(
            [
                f"the Q-matrix has {counted(len(q.items), 'row')} and"
                f" {counted(len(q.skills), 'column')}, and the responses have"
                f" {counted(len(data.items), 'item')}: it must have a row for each item, and"
                " seems to be transposed"
            ]
        )
    notes = [*data.notes, *(f"Q-matrix: {note}" for note in q.notes)]
    by_position = match is not None and match.by_position
    if match is not None and by_position and are_numbered(q.item_names):
        if set(data.items) & set(q.skills) and are_numbered(q.skills):
            notes.append(f"Q-matrix: {renamed_skills(q.skills)}")
            skills = tuple(f"skill_{number}" for number in range(1, len(q.skills) + 1))
            q = replace(q, skills=skills)
        q = q.with_item_names(data.items)
        notes.append(match.note)
    return q, replace(data, notes=tuple(notes)) if len(notes) > len(data.notes) else data


# --- Learning a bank from responses: the parameters that make them most likely --------------------


@dataclass(frozen=True)
class LearnedItem(Value):
    """The guess and the slip of an item, whatever its response model."""

    name: str
    """The name of the item."""
    guess: float
    """The probability of any but the worst response at the lowest levels."""
    slip: float
    """The probability of any but the best response at the highest levels."""


@dataclass(frozen=True, eq=False)
class Learned(Value):
    """A learned bank with its likelihood and record. Created by `learn`."""

    bank: ItemBank
    """The bank with the learned parameters."""
    responses: Responses
    """The responses, with columns in the order of the bank's items."""
    _: KW_ONLY
    record: LearningRecord
    """How the likelihood rose."""
    options: LearningOptions
    """The options of learning."""
    model: LearningModel
    """The arrangement of the parameters."""
    parameters: Parameters
    """The parameters at the maximum."""

    def __repr__(self) -> str:
        sizes = (
            counted(len(self.bank.items), "item"),
            counted(len(self.bank.skills), "skill"),
            counted(len(self.responses), "examinee"),
        )
        return (
            f"Learned({', '.join(sizes)}:"
            f" log-likelihood {self.log_likelihood:.2f}, {counted(self.n_parameters, 'parameter')})"
        )

    @property
    def log_likelihood(self) -> float:
        """Natural logarithm of the probability of all responses."""
        return self.record.log_likelihoods[-1]

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return self.model.n_parameters

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 · parameters − 2 · log-likelihood."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, parameters · ln examinees − 2 · log-likelihood."""
        return self.n_parameters * math.log(len(self.responses)) - 2 * self.log_likelihood

    @cached_property
    def items(self) -> tuple[LearnedItem, ...]:
        """Each item's guess and slip."""
        rows = []
        for name in self.bank.item_names:
            channel = self.bank.channel(name)
            slip = float(1 - channel[-1, -1])
            rows.append(LearnedItem(name, float(1 - channel[0, 0]), slip))
        return tuple(rows)

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each item, with its parameters and their standard errors.

        Columns ``item``, ``model``, and for each parameter its value and its standard error, such
        as ``guess, guess_error, slip, slip_error``. Items of an ability have the parameters of
        their curves, as ``slope``. Others have a guess and a slip, whatever their model (see
        `LearnedItem`), and then its own parameters, such as the effects of `Gdina`; see
        `bnmind.adaptive.coefficients`, which also says why a standard error is nan.

        Raises
        ------
        TooLargeError
            If there are too many profiles for a table over all of them.
        """
        from bnmind.adaptive.learning.item_tests import coefficients
        from bnmind.adaptive.learning.judgment import item_frame

        return item_frame(self, coefficients(self))

    def summary(self) -> LearnedSummary:
        """Return the fit, the first items with standard errors, the skills and the notes.

        ``print(learned.summary())`` shows them much as ``bnmind learn`` does. `to_frame` has the
        numbers of all items.
        """
        from bnmind.adaptive.learning.judgment import LearnedSummary

        return LearnedSummary.of(self)

    @cached_property
    def notes(self) -> tuple[LearningNote, ...]:
        """Notes on items and skills that deserve a look, such as wrong keys."""
        from bnmind.adaptive.learning.judgment import learning_notes

        return learning_notes(self)

    @property
    def profiles(self) -> Floats:
        """The probability of each profile, with an axis for each hidden variable."""
        from bnmind.adaptive.belief_tables import ProfileSpace

        space = ProfileSpace.table(self.bank)
        return space.prior[0].reshape(space.shape)


@dataclass(frozen=True, eq=False)
class LearningModel:
    """The parameters of a bank, arranged for learning."""

    bank: ItemBank
    layout: ResponseLayout
    skills: SkillFamilies
    least: float = 0.0
    """The least entry of each learned table."""

    @classmethod
    def of(cls, bank: ItemBank, options: LearningOptions) -> LearningModel:
        """Return the model of a bank."""
        blocks = item_blocks(bank, options)
        names = [name for block in blocks for name in block.names]
        layout = ResponseLayout(blocks, tuple(bank.position(name) for name in names))
        together = n_profiles(bank) <= options.max_profiles
        # The tails of curves come close to 0 and 1 without reaching them.
        least = 0.0 if has_ability(bank) else options.least_chance
        skills = SkillFamilies(
            bank,
            options.fixed,
            options.priors,
            together=together,
            scaled=options.scaled,
            moved=options.moved,
            least=least,
        )
        return cls(bank, layout, skills, least)

    def ascent(self, expectation: TableExpectation | PlanExpectation) -> BankAscent:
        """Return the likelihood of the responses of an E-step, with its EM steps."""
        return BankAscent(self.layout, (self.skills,), (expectation,))

    def expectation(
        self,
        responses: Responses,
        options: LearningOptions,
        among: NDArray[np.bool_] | None = None,
    ) -> TableExpectation | PlanExpectation:
        """Return the E-step for some responses, by a table, or by a tree for many profiles.

        Parameters
        ----------
        responses, options
            The responses and the options of learning.
        among
            The examinees that count, ``(examinees,)``; by default all.
        """
        patterns = Patterns.of(responses, among)
        if n_profiles(self.bank) <= options.max_profiles:
            return TableExpectation(self.bank, self.layout, self.skills, patterns)
        return PlanExpectation(self.bank, self.layout, self.skills, patterns)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, without parameters whose bounds are equal."""
        free = sum(
            int(np.count_nonzero(block.limits[:, 0] < block.limits[:, 1]))
            for block in self.layout.blocks
        )
        return free + self.skills.n_parameters

    def start(self, number: int, options: LearningOptions) -> Parameters:
        """Return the parameters of a start: those of the bank for the first, else drawn."""
        blocks = self.layout.blocks
        if number == 0:
            first = tuple(block.start() for block in blocks)
            return Parameters(first, self.skills.start())
        # Each start has its own generator, so it does not depend on the number of starts.
        rng = np.random.default_rng([options.seed, number])
        drawn = tuple(block.draw(rng) for block in blocks)
        return Parameters(drawn, self.skills.draw(rng))

    def oriented(self, parameters: Parameters) -> Parameters:
        """Return equivalent parameters for which the sum of the slopes is not negative.

        A mirrored ability gives the same chances if its distribution is symmetric, and all slopes
        may have either sign.
        """
        blocks = self.layout.blocks
        curves = all(hasattr(item.gate, "fisher_information") for item in self.bank.items)
        if not (has_ability(self.bank) and curves and not any(block.fixed for block in blocks)):
            return parameters
        signs = [
            np.array([-1.0 if what.startswith("slope") else 1.0 for _, what in block.parameters])
            for block in blocks
        ]
        pairs = list(zip(signs, parameters.items, strict=True))
        free = all(
            np.array_equal(block.limits[sign < 0, 0], -block.limits[sign < 0, 1])
            for block, sign in zip(blocks, signs, strict=True)
        )
        (initial,) = self.skills.start()
        points = ability_values(self.bank.hidden[0])
        even = np.allclose(points, -points[::-1]) and np.allclose(initial, initial[::-1])
        if not (free and even and sum(float(x[sign < 0].sum()) for sign, x in pairs) < 0):
            return parameters
        mirrored = tuple(table[::-1].copy() for table in parameters.skills)
        return Parameters(tuple(sign * x for sign, x in pairs), mirrored)

    def bank_of(
        self,
        parameters: Parameters,
        *,
        title: str,
        source: str,
        certainties: Mapping[str, Certainty] | None = None,
    ) -> ItemBank:
        """Return the bank with some parameters, and how sure they are, by item.

        Items whose parameters are fixed keep their certainty.
        """
        known = dict(certainties or {})
        for block in self.layout.blocks:
            if block.fixed:
                kept = ((name, self.bank.item(name).certainty) for name in block.names)
                known |= {name: certainty for name, certainty in kept if certainty is not None}
        learned: dict[str, ResponseModel | None] = {}
        cpds = {cpd.variable.name: cpd for cpd in self.skills.cpds(parameters.skills)}
        for block, values in zip(self.layout.blocks, parameters.items, strict=True):
            learned |= dict(zip(block.names, block.response_models(values), strict=True))
        items = []
        for item in self.bank.items:
            cpd = self.bank.network.cpd(item.name)
            model = learned[item.name]
            cpds[item.name] = cpd if model is None else model.cpd(cpd.variable, cpd.parents)
            keeps = item.gate is None  # a table of the network stays a table
            gate = None if keeps else model
            items.append(replace(item, gate=gate, certainty=known.get(item.name)))
        network = Network(tuple(cpds.get(cpd.variable.name, cpd) for cpd in self.bank.network.cpds))
        labels = self.bank.labels
        return ItemBank(
            network=network,
            skills=self.bank.skills,
            items=tuple(items),
            title=title,
            source=source,
            labels=labels,
        )


@checked
def learn(
    responses: Responses | pandas.DataFrame | ArrayLike,
    model: ItemBank | QMatrix | pandas.DataFrame | ArrayLike,
    *,
    gate: str | Callable[..., ResponseModel] = Dina,
    skills: ProfileDistribution | Network | None = None,
    options: LearningOptions | None = None,
    title: str | None = None,
    source: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Learned:
    """Learn a bank from responses by maximum likelihood, with the EM algorithm.

    Missing responses are left out of the likelihood. This is valid if the reason why a
    response is missing does not depend on its value, as in designs with booklets and in
    adaptive tests.

    Parameters
    ----------
    responses
        The responses; see `Responses.of`.
    model
        A Q-matrix; or a bank with the structure, the response models, and the parameters of
        the first start.
    gate
        The response model for a Q-matrix, such as `Dina`, `Dino`, `Acdm`, or `Gdina` (the
        saturated model, with separate probabilities for each configuration); or its name in
        `RESPONSE_MODELS`, such as ``"gdina"``, ``"G-DINA"`` or ``"sequential:dina"``.
    skills
        The distribution of the skills for a Q-matrix, as for `ItemBank.from_qmatrix`.
        Default saturated up to 12 skills, else independent. Impossible profiles stay
        impossible.
    options
        Starts, bounds, priors, fixed parameters, the stopping criterion, and the workers that
        the starts are distributed over.
    title, source
        The title and source of the bank; default those of the model.
    progress
        Called from time to time with the number of steps done and an estimate of the number of
        all steps, of all starts together. With several workers, called after each start.

    Returns
    -------
    Learned
        The bank, with a record of the iterations.

    Raises
    ------
    TableError
        If responses do not fit the items; the message names rows and columns.
    UnknownNameError
        If no response model has the name.
    InvalidModelError
        If the Q-matrix is invalid, or the response model of an item cannot be learned.
    ImpossibleEvidenceError
        If fixed parameters make an examinee's responses impossible.

    References
    ----------
    A. Dempster, N. Laird and D. Rubin, J. R. Stat. Soc. B 1977 (EM); E. Haertel, J. Educ.
    Meas. 1989, and J. de la Torre, J. Educ. Behav. Stat. 2009 (DINA).

    Examples
    --------
    >>> answers = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, -1, 1], [0, 0, 0]]
    >>> learn(answers, [[1, 0], [1, 0], [0, 1]]).record.converged
    True
    """
    asked = options or LearningOptions()
    bank, data = learning_inputs(responses, model, gate, skills)
    layout = LearningModel.of(bank, asked)
    expectation = layout.expectation(data, asked)
    climbs, early = all_climbs(
        layout.ascent(expectation),
        lambda number: layout.start(number, asked),
        asked,
        usual_starts(bank),
        progress,
    )
    return _learned(layout, data, asked, expectation, climbs, early, (title, source))


def learn_from_start(
    responses: Responses, bank: ItemBank, number: int, options: LearningOptions
) -> Learned:
    """Return what `learn` finds from one of its starts.

    Parameters
    ----------
    responses
        The responses.
    bank
        The structure, the response models, and the parameters of the first start.
    number
        The number of the start, from 0. A start does not depend on the number of all starts.
    options
        The options of learning.
    """
    data = responses.for_bank(bank)
    layout = LearningModel.of(bank, options)
    expectation = layout.expectation(data, options)
    way = climb_alone(
        layout.ascent(expectation),
        layout.start(number, options),
        max_iterations=options.max_iterations,
        tolerance=options.tolerance,
        accelerate=options.accelerate,
        progress=None,
    )
    return _learned(layout, data, options, expectation, [way], [], (None, None))


def _learned(
    model: LearningModel,
    responses: Responses,
    options: LearningOptions,
    expectation: TableExpectation | PlanExpectation,
    climbs: Sequence[Climb[Parameters]],
    early: Sequence[int],
    about: tuple[str | None, str | None],
) -> Learned:
    record = LearningRecord.of(climbs, options.seed, stopped_early=early)
    parameters = model.oriented(climbs[record.best_start].parameters)
    title = model.bank.title if about[0] is None else about[0]
    source = model.bank.source if about[1] is None else about[1]
    with one_blas_thread():
        certainties = item_certainties(expectation, parameters.items, parameters.skills)
    bank = model.bank_of(parameters, title=title, source=source, certainties=certainties)
    return Learned(
        bank=bank,
        responses=responses,
        record=record,
        options=replace(options, until=None),
        model=model,
        parameters=parameters,
    )
