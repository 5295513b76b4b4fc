"""What is learned: the model of a bank and its responses, and what a user gives for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._messages import counted, listed
from bnmind.adaptive.beliefs.estimates import has_ability
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
    FormBlock,
    ItemBlock,
    ItemRule,
    rises_along,
)
from bnmind.adaptive.learning.options import Bounds, LearningOptions
from bnmind.adaptive.response_models.additive import ItemEffects, MainEffects, SkillEffects
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.curves import Logistic
from bnmind.adaptive.response_models.gates import Dina, GuessSlip
from bnmind.adaptive.response_models.registry import gate_of
from bnmind.adaptive.response_models.tables import (
    Gdina,
    Sequential,
    StepsOf,
    Tabulated,
    is_learnable,
)
from bnmind.adaptive.responses.responses import Responses, names_in
from bnmind.errors import InvalidArgumentError, InvalidModelError, TableError, UnknownNameError
from bnmind.information import Floats
from bnmind.pgm import Network, Variable

if TYPE_CHECKING:
    import pandas

# --- The parameters to learn: blocks of items and families of skills ------------------------------
#
#

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
                model=_with_asymptotes(item.gate, bounds),
                parents=parents,
                channel=channel,
                bounds=bounds,
                ordered=ordered,
                least=options.least_chance,
                floor=0.0 if has_ability(bank) else options.least_chance,
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
        if rule.name in options.fixed:
            blocks.append(FixedBlock((rule,)))
        else:
            alike.setdefault(_kind(rule), []).append(rule)
    together: dict[Hashable, list[ItemRule]] = {}
    is_flat = options.priors.guess == options.priors.slip == (1.0, 1.0)
    for kind, rules in alike.items():
        first = rules[0]
        if is_flat and isinstance(first.model, ItemEffects) and first.channel.shape[0] <= _STACKED:
            kind = type(first.model)
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


def block_of(rules: tuple[ItemRule, ...], options: LearningOptions) -> FormBlock | None:
    """Return the block of alike items; None if their response model cannot be learned."""
    model = rules[0].model
    if model is not None and not is_learnable(model):
        return None
    return FormBlock(rules, options.priors, options.monotone)


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
