"""What is learned: the model of a bank and its responses, and what a user gives for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind._messages import counted, listed
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.qmatrix import (
    QMatrix,
    bank_parts,
    renamed_skills,
    skill_cpds,
    skill_levels,
)
from bnmind.adaptive.items.skill_distributions import Independent, ProfileDistribution, Saturated
from bnmind.adaptive.items.text_tables import are_numbered, match_names
from bnmind.adaptive.learning.blocks import (
    FixedBlock,
    ItemBlock,
    ItemRule,
    PairBlock,
    StepsBlock,
    TableBlock,
)
from bnmind.adaptive.learning.curves import CURVES, curve_block, kind_of_curve
from bnmind.adaptive.learning.main_effects import (
    EffectsBlock,
    NoisyBlock,
    SharedBlock,
    kind_of_noise,
)
from bnmind.adaptive.learning.options import Bounds, LearningOptions, kept_off
from bnmind.adaptive.response_models.additive import ItemEffects, MainEffects, SkillEffects
from bnmind.adaptive.response_models.base import ResponseModel, response_channel
from bnmind.adaptive.response_models.gates import Dina, GuessSlip, NoisySkills
from bnmind.adaptive.response_models.registry import gate_of
from bnmind.adaptive.response_models.tables import (
    Gdina,
    ParametricModel,
    Sequential,
    StepsOf,
    Tabulated,
)
from bnmind.adaptive.responses.responses import Responses, names_in
from bnmind.errors import InvalidArgumentError, InvalidModelError, TableError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Network, Variable

if TYPE_CHECKING:
    import pandas

# --- Learning items with a response model of the user's own, numerically --------------------------
#
# The parameters maximize the expected log-likelihood within their limits by L-BFGS-B with finite
# differences; by the simplex method if that does not raise it, as near an edge where the model is
# invalid. They change only if the objective grows, so no step of EM lowers the likelihood.
#
# References
# ----------
# R. Byrd, P. Lu, J. Nocedal and C. Zhu, "A limited memory algorithm for bound constrained
# optimization", SIAM J. Sci. Comput. 1995; J. Nelder and R. Mead, "A simplex method for function
# minimization", Comput. J. 1965.

_SEARCHES: tuple[tuple[Any, Any], ...] = (
    ("L-BFGS-B", {"maxiter": 20, "ftol": 1e-14, "gtol": 1e-8}),
    ("Nelder-Mead", {"maxiter": 100}),
)
"""The methods of one step of EM, of which the second helps the first."""


@dataclass(frozen=True, eq=False)
class ParametricBlock(ItemBlock):
    """An item with a `ParametricModel`.

    Bounds, priors and monotonicity do not apply; the model has limits of its own. Parameters
    with limits in [0, 1] stay `ItemRule.least` away from 0 and 1.

    Parameters
    ----------
    rules
        The item.
    """

    @property
    def _model(self) -> ParametricModel:
        assert isinstance(self.rules[0].model, ParametricModel)
        return self.rules[0].model

    @property
    def _entries(self) -> list[tuple[str, int | None]]:
        """Each number among the parameters: its field, and its place in a tuple."""
        entries: list[tuple[str, int | None]] = []
        for name, value in self._model.parameters.items():
            entries += [(name, n) for n in range(len(value))] if np.ndim(value) else [(name, None)]  # type: ignore[arg-type]
        return entries

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the model, those of a tuple numbered from 1."""
        return tuple(
            (self.rules[0].name, name if place is None else f"{name} {place + 1}")
            for name, place in self._entries
        )

    @property
    def limits(self) -> Floats:
        """The limits of the model; probabilities are kept off 0 and 1."""
        limits = []
        for name, _ in self._entries:
            low, high = self._model.limits_of(name)
            inside = low >= 0 and high <= 1
            limits.append(kept_off((low, high), self.rules[0].least) if inside else (low, high))
        return np.array(limits, dtype=np.float64).reshape(-1, 2)

    def start(self) -> Floats:
        """Return the current parameters of the model."""
        values = [np.atleast_1d(value) for value in self._model.parameters.values()]
        current: Floats = np.clip(np.concatenate([*values, np.zeros(0)]), *self.limits.T)
        return current

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters, uniform within finite limits, else near the current ones."""
        low, high = self.limits.T
        current = self.start()
        bounded = np.isfinite(low) & np.isfinite(high)
        near = current + rng.normal(0, 0.5, len(current)) * np.maximum(np.abs(current), 1.0)
        within = np.where(bounded, low, 0.0), np.where(bounded, high, 1.0)
        uniform = rng.uniform(*within)
        return np.clip(np.where(bounded, uniform, near), low, high)

    def _with(self, values: Floats) -> ParametricModel:
        changed: dict[str, Any] = {}
        for (name, place), value in zip(self._entries, values.tolist(), strict=True):
            changed[name] = value if place is None else (*changed.get(name, ()), value)
        return dataclasses.replace(self._model, **changed)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        channel = self._with(values).channel([v.n_states for v in self.rules[0].parents])
        return channel[None]

    def _expected(self, values: Floats, counts: Floats) -> float:
        """Return the expected log-likelihood; minus infinity where the model is invalid."""
        try:
            chances = self.response_parameters(values)
        except (InvalidModelError, ArithmeticError, ValueError):
            return -np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(counts > 0, counts * np.log(chances), 0.0).sum())

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger expected log-likelihood."""
        from scipy.optimize import minimize

        if not len(values):
            return values
        before = self._expected(values, counts)
        scale = max(float(counts.sum()), 1.0)
        worst = min(before, 0.0) / scale - 1e3  # stands for minus infinity

        def objective(x: Floats) -> float:
            return -max(self._expected(x, counts) / scale, worst)

        for method, options in _SEARCHES:
            found = minimize(
                objective,
                values,
                method=method,
                bounds=[tuple(pair) for pair in self.limits],
                options=options,
            )
            best = np.clip(np.asarray(found.x, dtype=np.float64), *self.limits.T)
            if self._expected(best, counts) > before:
                return best
        return values

    def valid(self, values: Floats) -> bool:
        """Return whether the model accepts the parameters."""
        try:
            self.response_parameters(values)
        except (InvalidModelError, ArithmeticError, ValueError):
            return False
        return True

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model."""
        return (self._with(values),)


# --- The parameters to learn: blocks of items and families of skills ------------------------------
#
#

SATURATED_SKILLS = 12
"""By default up to this many skills have a saturated distribution; more are independent."""

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
    cpds = skill_cpds(q, skills, (q.needs.max(axis=0) + 1).tolist())
    models = q.response_models(*_START, gate, levels=skill_levels(q, cpds))
    if n_responses and (gate is Sequential or isinstance(gate, StepsOf)):
        numbers = [n_responses.get(name, 2) for name in q.item_names]
        models = tuple(
            Sequential((model,) * (n - 1)) if n > 2 else model
            for model, n in zip(models, numbers, strict=True)
        )
    return ItemBank(*bank_parts(q, models, cpds))


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
                model=item.gate,
                parents=parents,
                channel=channel,
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


def _channel(bank: ItemBank, item: str, parents: tuple[Variable, ...]) -> Floats:
    names = [v.name for v in parents]
    factor = bank.network.cpd(item).to_factor().transpose([item, *names])
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
        if rule.name in options.fixed:
            blocks.append(FixedBlock((rule,)))
        else:
            alike.setdefault(_kind(rule), []).append(rule)
    problems = []
    for rules in alike.values():
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
    model = rule.model
    if isinstance(model, GuessSlip):
        return GuessSlip
    if isinstance(model, SkillEffects):
        return type(model)
    if isinstance(model, ItemEffects):
        return type(model), len(rule.parents)
    if isinstance(model, Gdina) and model.n_responses == 2:
        return Gdina, tuple([v.n_states for v in rule.parents]), rule.ordered
    if isinstance(model, NoisySkills):
        return NoisySkills, kind_of_noise(rule)
    return kind_of_curve(rule) if isinstance(model, CURVES) else rule.name


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


def block_of(
    rules: tuple[ItemRule, ...], options: LearningOptions, *, of_steps: bool = False
) -> ItemBlock | None:
    """Return the block of alike items; None if their response model cannot be learned."""
    rule, priors, monotone = rules[0], options.priors, options.monotone
    model = rule.model
    if model is None or isinstance(model, Gdina):
        return TableBlock(rules, priors, monotone)
    if isinstance(model, GuessSlip):
        # A step cannot become a table, so the order always holds.
        return PairBlock(rules, priors, monotone or of_steps)
    if isinstance(model, NoisySkills):
        return NoisyBlock(rules, priors)
    if isinstance(model, SkillEffects):
        return SharedBlock(rules, priors, monotone)
    if isinstance(model, MainEffects):
        return EffectsBlock(rules, priors, monotone)
    if isinstance(model, CURVES):
        return curve_block(rules, priors)
    if isinstance(model, ParametricModel):
        return ParametricBlock(rules)
    if isinstance(model, Sequential):
        steps = []
        for step in model.steps:
            part = ItemRule(
                name=rule.name,
                model=step,
                parents=rule.parents,
                channel=response_channel(step, rule.parents),
                bounds=rule.bounds,
                ordered=rule.ordered,
                least=rule.least,
            )
            steps.append(block_of((part,), options, of_steps=True))
        known_steps = [step for step in steps if step is not None]
        return StepsBlock(rules, tuple(known_steps)) if len(known_steps) == len(steps) else None
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
    return q, replace(data, notes=tuple(notes))
