"""The promises of response models: distributions that files hold and learning can find."""

from __future__ import annotations

import dataclasses
import math
import tempfile
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive import (
    RESPONSE_MODELS,
    AbilityGrid,
    ItemBank,
    LearningOptions,
    ParametricModel,
    ResponseModel,
    Responses,
    irt_bank,
    learn,
    read_bank,
    start_belief,
    write_bank,
)
from bnmind.adaptive.formulas import response_channel
from bnmind.errors import BnmindError
from bnmind.pgm import Variable
from bnmind.testing.promises import Family, Promises

_FAMILY = Family(
    "response model", room="bnmind.adaptive", registry=RESPONSE_MODELS, commands=("learn",)
)
_Q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1]]
_CLOSE = 1e-12


@checked
def check_response_model(
    model: ResponseModel | str,
    *,
    parents: Sequence[Variable] | None = None,
    monotone: bool = True,
    thorough: bool = False,
) -> None:
    """Check that a response model keeps the promises of response models.

    It is an immutable dataclass. Each row of its table is a distribution, the same every time and
    whatever the skills are called, and more skill never lowers a response. An item with another
    number of responses is refused. A bank holds it; the posterior after a response follows from
    its table by Bayes' rule; a file of the bank restores it. Fisher's information, if the model
    has it, is that of the derivative of its table. A `ParametricModel`, or a model whose name
    promises it, is learned from a Q-matrix: the likelihood that learning reports is that of the
    learned bank, by enumeration of all profiles, and is no smaller than that of the bank that it
    started from.

    Parameters
    ----------
    model
        The response model, or the name of a registered one, which stands for its example.
    parents
        The variables on which an item depends; by default one skill of two levels, one of three
        levels, two skills, and an ability on a grid, those that the model accepts.
    monotone
        Whether more skill never lowers a response.
    thorough
        Whether to learn from more examinees.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no response model has the name.

    Examples
    --------
    >>> from bnmind.adaptive import Dina
    >>> check_response_model(Dina(guess=0.2, slip=0.1))
    """
    kind: Any = None
    if isinstance(model, str):
        promises = _FAMILY.check_name(model, listed=False)
        row = RESPONSE_MODELS[model]
        _FAMILY.check_export(model, row.example)
        kind = row.make if row.from_qmatrix else None
        if kind is not None:
            _FAMILY.check_name(model)
        name, model = model, row.example
        _check_files(promises, model, name)
    elif isinstance(model, ParametricModel):
        kind = type(model)
    promises = Promises("response model", model)
    promises.value()
    promises.has("n_responses", "cpd")
    choices = _PARENTS if parents is None else {"the given parents": tuple(parents)}
    promise = "it refuses parents that do not fit with words"
    fits = {
        about: own
        for about, own in choices.items()
        if promises.accepts(partial(response_channel, model, own), promise, about)
    }
    promises.keep(fits, "it fits some skills", ", ".join(choices))
    for about, own in fits.items():
        _check_table(promises, model, own, about, monotone=monotone)
    _check_other_items(promises, model, next(iter(fits.values())))
    if hasattr(model, "fisher_information"):
        _check_fisher(promises, model)
    _check_belief(promises, model)
    _check_own_file(promises, model)
    if isinstance(model, ParametricModel):
        _check_limits(promises, model, fits)
    if kind is not None:
        _check_learning(promises, kind, 200 if thorough else 40)


def _skills(*sizes: int) -> tuple[Variable, ...]:
    return tuple(Variable.of_integers(f"skill_{i}", range(n)) for i, n in enumerate(sizes, 1))


_ABILITY = Variable("ability", tuple(str(x) for x in (-3.0, -1.0, 0.0, 0.5, 2.0)))
_PARENTS = {
    "one skill of two levels": _skills(2),
    "one skill of three levels": _skills(3),
    "two skills": _skills(2, 2),
    "skills of three and two levels": _skills(3, 2),
    "an ability": (_ABILITY,),
}


def _check_table(
    promises: Promises,
    model: ResponseModel,
    parents: Sequence[Variable],
    about: str,
    *,
    monotone: bool,
) -> None:
    with promises.pure(example=about):
        table, again = response_channel(model, parents), response_channel(model, parents)
    rows = math.prod(v.n_states for v in parents)
    promises.keep(
        table.shape == (rows, model.n_responses),
        "its table has a row for each configuration, and as many responses as announced",
        f"{about}: {table.shape}",
    )
    for number, row in enumerate(table):
        where = f"{about}, configuration {number + 1} of {rows}: {row.round(6).tolist()}"
        promises.keep(np.all(row >= 0), "no probability is negative", where)
        promises.keep(
            abs(float(row.sum()) - 1) <= _CLOSE * len(row), "the rows of its table sum to 1", where
        )
    promises.keep(np.array_equal(table, again), "its table is the same every time", about)
    renamed = [
        Variable(f"other {number}", variable.states) for number, variable in enumerate(parents)
    ]
    promises.keep(
        np.array_equal(response_channel(model, renamed), table),
        "the names of the skills do not matter",
        about,
    )
    for name in ("item_1", "item_2", "item_3"):
        cpd = model.cpd(Variable.of_integers(name, range(model.n_responses)), parents)
        values = np.moveaxis(np.real(cpd.to_factor().values), 0, -1)
        promises.keep(
            np.array_equal(values.reshape(table.shape), table),
            "the name of the item does not matter",
            f"{about}, {name}",
        )
    if monotone:
        shape = (*[v.n_states for v in parents], model.n_responses)
        tails = np.cumsum(table[:, ::-1], axis=1).reshape(shape)
        for axis, variable in enumerate(parents):
            steps = np.diff(tails, axis=axis)
            promises.keep(
                np.all(steps >= -1e-9),
                "more skill never makes a good response less probable",
                f"{about}, more of {variable.name}",
            )


def _check_other_items(
    promises: Promises, model: ResponseModel, parents: Sequence[Variable]
) -> None:
    item = Variable.of_integers("item", range(model.n_responses + 1))
    promises.refuse(
        lambda: model.cpd(item, parents),
        "it refuses an item with another number of responses",
        f"{item.n_states} responses",
    )


def _check_fisher(promises: Promises, model: Any) -> None:
    """Σ_r P_r'² / P_r, with derivatives by differences of the table."""
    step = 1e-5
    for theta in (-1.7, -0.4, 0.0, 0.3, 1.1, 2.2):
        states = tuple(repr(float(x)) for x in (theta - step, theta, theta + step))
        low, here, high = response_channel(model, [Variable("ability", states)])
        slopes = (high - low) / (2 * step)
        right = float(np.sum(slopes**2 / np.maximum(here, 1e-300)))
        found = float(np.asarray(model.fisher_information([theta])).ravel()[0])
        promises.keep(
            math.isclose(found, right, rel_tol=1e-5, abs_tol=1e-8),
            "its Fisher information is that of its table",
            f"ability {theta}: {found:.6g}, by differences {right:.6g}",
        )


def _bank(model: ResponseModel) -> ItemBank:
    if hasattr(model, "fisher_information"):
        return irt_bank([model, model], AbilityGrid.normal(n_points=7))
    return ItemBank.from_response_models([[1], [1]], [model, model])


def _check_belief(promises: Promises, model: ResponseModel) -> None:
    """Check the posterior after one response by Bayes' rule."""
    try:
        bank = _bank(model)
    except BnmindError:
        return  # an item of several skills
    item, skill = bank.item_names[0], bank.skills[0]
    for response in range(model.n_responses):
        prior = np.asarray(start_belief(bank).marginal(skill))
        joint = prior * bank.channel(item)[:, response]
        if not joint.sum() > 0:
            continue
        found = np.asarray(start_belief(bank).update(item, response).marginal(skill))
        promises.keep(
            np.allclose(found, joint / joint.sum(), rtol=1e-9, atol=1e-12),
            "the posterior after a response follows from its table",
            f"response {response}",
        )


def _check_files(promises: Promises, model: ResponseModel, name: str) -> None:
    with promises.no_error("a file of a bank holds it"):
        bank = _bank(model)
        again, text = _from_file(bank)
    promises.keep(f'"kind": "{name}"' in text, "a file names it as the registry does")
    for item in bank.item_names:
        promises.keep(
            repr(again.item(item).gate) == repr(bank.item(item).gate)
            and np.array_equal(again.channel(item), bank.channel(item)),
            "a file of a bank restores it",
            f"{again.item(item).gate!r}",
        )


def _check_own_file(promises: Promises, model: ResponseModel) -> None:
    """Check that a bank file keeps the table of a model, whoever wrote the model."""
    try:
        bank = _bank(model)
    except BnmindError:
        return  # an item of several skills
    with promises.no_error("a file of a bank holds it"):
        again = _from_file(bank)[0]
    promises.keep(
        all(np.array_equal(again.channel(one), bank.channel(one)) for one in bank.item_names),
        "a file of a bank restores it",
        f"{again.item(bank.item_names[0]).gate!r}",
    )


def _check_limits(
    promises: Promises, model: ParametricModel, fits: dict[str, tuple[Variable, ...]]
) -> None:
    """Check the tables with each parameter, and all, at the ends of what learning may find."""
    ends: list[dict[str, Any]] = [{}, {}]
    for name, value in model.parameters.items():
        for end, limit in enumerate(model.limits_of(name)):
            if math.isfinite(limit):
                moved = (limit,) * len(value) if isinstance(value, tuple) else limit
                ends[end][name] = moved
                ends.append({name: moved})
    for changed in ends:
        for about, own in fits.items():
            with promises.no_error(
                "its table is a distribution wherever its parameters are within `limits`",
                f"{about}, {', '.join(f'{name} {value}' for name, value in changed.items())}",
            ):
                response_channel(dataclasses.replace(model, **changed), own)


def _from_file(bank: ItemBank) -> tuple[ItemBank, str]:
    """Return a bank that was written and read again, and the text of its file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bank.json"
        write_bank(bank, path)
        return read_bank(path), path.read_text(encoding="utf-8")


def _check_learning(promises: Promises, kind: Any, n: int) -> None:
    """Check that the likelihood is that of the learned bank, and does not fall."""
    with promises.no_error("it is made from a Q-matrix, with a guess and a slip"):
        bank = ItemBank.from_qmatrix(_Q, 0.2, 0.1, gate=kind)
    _check_posterior(promises, bank)
    people = Responses.drawn(bank, n, seed=1)
    responses = np.asarray(people.codes)
    short = LearningOptions(starts=1, max_iterations=25)
    with promises.no_error("it is learned from responses and a Q-matrix"):
        learned = learn(people.codes, _Q, gate=kind, options=short)
    with promises.no_error("learning goes on from a bank"):
        further = learn(people.codes, learned.bank, options=short)
    for result, about in ((learned, "from a Q-matrix"), (further, "from a bank")):
        right = _log_likelihood(result.bank, responses)
        promises.keep(
            math.isclose(result.log_likelihood, right, rel_tol=1e-6, abs_tol=1e-6),
            "the likelihood that learning reports is that of the learned bank",
            f"{about}: {result.log_likelihood:.8g}, by enumeration {right:.8g}",
        )
    with promises.no_error("a file holds a learned bank"):
        again = _from_file(learned.bank)[0]
    for item in learned.bank.item_names:
        promises.keep(
            np.array_equal(again.channel(item), learned.bank.channel(item)),
            "a file of a bank restores it",
            f"after learning: {again.item(item).gate!r}",
        )
    promises.keep(
        further.n_parameters == learned.n_parameters,
        "a learned bank has as many parameters as the model",
        f"{further.n_parameters} and {learned.n_parameters}",
    )
    promises.keep(
        further.log_likelihood >= learned.log_likelihood - 1e-3,
        "learning never lowers the likelihood",
        f"{further.log_likelihood:.8g} after {learned.log_likelihood:.8g}",
    )


def _check_posterior(promises: Promises, bank: ItemBank) -> None:
    """Check the posterior of several skills after two responses, by enumeration of profiles."""
    answers = {bank.item_names[2]: 1, bank.item_names[0]: 0}
    belief = start_belief(bank)
    for item, response in answers.items():
        belief = belief.update(item, response)
    joint = _joint(bank, [answers.get(item, -1) for item in bank.item_names])
    for place, skill in enumerate(bank.skills):
        right = np.zeros(bank.variable(skill).n_states)
        for profile, probability in joint.items():
            right[profile[place]] += probability
        promises.keep(
            np.allclose(belief.marginal(skill), right / right.sum(), rtol=1e-9, atol=1e-12),
            "the posterior after responses follows from its table",
            f"{skill} after {answers}",
        )


def _joint(bank: ItemBank, responses: Sequence[int]) -> dict[tuple[int, ...], float]:
    """Return P(profile) Π_items P(response | profile) for each profile; −1 is no response."""
    joint = dict(_profiles(bank))
    for profile in joint:
        states = dict(zip(bank.skills, profile, strict=True))
        for item, response in zip(bank.item_names, responses, strict=True):
            if response < 0:
                continue
            place = 0
            for skill in bank.cause(item):
                place = place * bank.variable(skill).n_states + states[skill]
            joint[profile] *= float(bank.channel(item)[place, int(response)])
    return joint


def _log_likelihood(bank: ItemBank, responses: NDArray[Any]) -> float:
    """Return Σ_people log Σ_profiles P(profile) Π_items P(response | profile)."""
    patterns, counts = np.unique(responses.astype(np.int64), axis=0, return_counts=True)
    return math.fsum(
        count * math.log(math.fsum(_joint(bank, pattern).values()))
        for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True)
    )


def _profiles(bank: ItemBank) -> dict[tuple[int, ...], float]:
    """Return the probability of each profile, by multiplication of the tables."""
    cpds = list(bank.hidden_network().cpds)
    sizes = [v.n_states for v in bank.hidden]
    names = [v.name for v in bank.hidden]
    found: dict[tuple[int, ...], float] = {}
    for states in product(*map(range, sizes)):
        place = dict(zip(names, states, strict=True))
        probability = math.prod(
            float(np.real(factor.values[tuple(place[v.name] for v in factor.scope)]))
            for factor in (cpd.to_factor() for cpd in cpds)
        )
        profile = tuple(place[skill] for skill in bank.skills)
        found[profile] = found.get(profile, 0.0) + probability
    return found
