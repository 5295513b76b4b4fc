r"""The learned parameters of the items in the words of their models, with standard errors.

==================  ======================================================================
symbol              name here
==================  ======================================================================
x                   the parameters of learning, with the covariance Σ of `standard_errors`
f(x)                ``numbers``: the fields of the item's response model; of `Gdina` the δ
J                   the slopes of f, by differences
J Σ Jᵀ              the covariance of f (delta method)
g(P_c)              Σ_S δ_S over the sets S of skills of configuration c; g is the link
==================  ======================================================================

A parameter has no standard error if it is fixed, at a bound, held by the order of the chances, or
not identified by the responses, and then says so.

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011, equations 1 to 3 (δ with
the identity, logit and log link).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import frame_html
from bnmind._values import Value
from bnmind.adaptive.learning.fit.standard_errors import block_covariance, item_slopes
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.parameters.block import FixedBlock, ItemBlock, PairBlock
from bnmind.adaptive.learning.parameters.curves.block import CurveBlock
from bnmind.adaptive.learning.parameters.main_effects import EffectsBlock, SharedBlock
from bnmind.adaptive.learning.parameters.sequential import StepsBlock
from bnmind.adaptive.response_models.additive.effects import MainEffects
from bnmind.adaptive.response_models.additive.link import IDENTITY, LinkFunction
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.nominal import Nominal
from bnmind.adaptive.response_models.partial_credit import PartialCredit
from bnmind.adaptive.response_models.registry import RESPONSE_MODELS
from bnmind.adaptive.response_models.sequential import Sequential
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

if TYPE_CHECKING:
    import pandas

__all__ = ["Coefficient", "Coefficients", "coefficients", "model_numbers"]

_STEP = 1e-6
_EDGE = 1e-4
_NONE = 1e-9
"""Slopes up to this are none."""
_SINGULAR = {
    "effects": "effect",
    "penalties": "penalty",
    "links": "link",
    "slopes": "slope",
    "thresholds": "threshold",
    "intercepts": "intercept",
}
_OF_RESPONSES = GradedResponse | PartialCredit | Nominal
"""Models whose tuples have a number for each response, not for each skill."""

_Numbers = list[tuple[str, float]]


@dataclass(frozen=True)
class Coefficient(Value):
    """A number of an item's response model."""

    item: str
    """The name of the item."""
    model: str
    """The name of the response model, as in `RESPONSE_MODELS`; ``table`` for a table."""
    name: str
    """The field of the response model, such as guess, or effect of a skill."""
    _: KW_ONLY
    value: float
    """The estimate."""
    error: float
    """The standard error; nan if there is none."""
    note: str = ""
    """Why there is no standard error."""


@dataclass(frozen=True, eq=False)
class Coefficients(Value):
    """The numbers of all items' response models. Created by `coefficients`."""

    rows: tuple[Coefficient, ...]
    """The numbers, in the order of the items."""
    chances: tuple[Coefficient, ...]
    """The guess and the slip of each item, whatever its model; see `LearnedItem`."""
    item_by_item: bool = field(kw_only=True)
    """Whether the standard errors of an item take all other parameters for known; see
    `StandardErrors`."""

    @checked
    def of(self, item: str) -> dict[str, Coefficient]:
        """Return the numbers of an item, by name.

        Parameters
        ----------
        item
            The name of the item. An item without coefficients has no numbers.
        """
        return {row.name: row for row in self.rows if row.item == item}

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption="Coefficients of the items")

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each number: ``item, model, parameter, value, error, note``."""
        import pandas as pd

        columns = ["item", "model", "parameter", "value", "error", "note"]
        return pd.DataFrame([dataclasses.astuple(row) for row in self.rows], columns=columns)


@checked
def coefficients(learned: Learned, *, link: LinkFunction = IDENTITY) -> Coefficients:
    """Return the parameters of the items in the words of their models, with standard errors.

    Parameters
    ----------
    learned
        A learned bank.
    link
        The scale of the effects of `Gdina` items with two responses and binary skills. Other
        tables are given by their chances.

    Raises
    ------
    TooLargeError
        If there are too many profiles for a table over all of them.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees, Gdina, ItemBank, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Examinees.drawn(ItemBank.from_qmatrix(q, 0.2, 0.1), 1000, seed=1).responses
    >>> found = coefficients(learn(seen, q, gate=Gdina))
    >>> [(row.name, round(row.value, 1)) for row in found.of("item_2").values()]
    [('intercept', 0.2), ('effect of skill_2', 0.7)]
    """
    covariance, alone = block_covariance(learned)
    rows: dict[str, list[Coefficient]] = {}
    chances: dict[str, list[Coefficient]] = {}
    learned_items = {item.name: item for item in learned.items}
    end = 0
    for block, values in zip(learned.model.layout.blocks, learned.parameters.items, strict=True):
        part = slice(end, end + len(values))
        end += len(values)
        notes = _notes(block, values, np.diag(covariance)[part])
        slopes = item_slopes(block, values)
        for item, name in enumerate(block.names):
            parents = learned.model.bank.network.cpd(name).parents
            numbers, places = _numbers_of(block, item, values, parents, link)
            found = _with_errors(
                numbers, values[places], block.limits[places], covariance[part, part], places, notes
            )
            model = _name_of(learned.model.bank.item(name).gate)
            if isinstance(block, FixedBlock):
                found = [(label, value, np.nan, "fixed") for label, value in numbers(values)]
            rows[name] = [_row(name, model, *row) for row in found]
            own, (columns, slope) = covariance[part, part], slopes[item]
            lowest, highest = (block.groups[item][k] * block.shape[1] for k in (0, -1))
            known = learned_items[name]
            chances[name] = [
                _row(name, model, what, value, *_error(row, own, columns, notes))
                for what, value, row in (
                    ("guess", known.guess, slope[lowest]),
                    ("slip", known.slip, slope[highest + block.shape[1] - 1]),
                )
            ]
    names = learned.bank.item_names
    return Coefficients(
        tuple(row for name in names for row in rows[name]),
        tuple(row for name in names for row in chances[name]),
        item_by_item=alone,
    )


def _row(item: str, model: str, name: str, value: float, error: float, note: str) -> Coefficient:
    return Coefficient(item=item, model=model, name=name, value=value, error=error, note=note)


def _name_of(model: ResponseModel | None) -> str:
    names = {known.make: name for name, known in RESPONSE_MODELS.items()}
    return "table" if model is None else names.get(type(model), type(model).__name__)


def _notes(block: ItemBlock, values: Floats, variances: Floats) -> list[str]:
    """Return why each parameter has no standard error; an empty text if it has one."""
    notes = []
    for value, (low, high), variance in zip(values, block.limits, variances, strict=True):
        if not np.isnan(variance):
            notes.append("")
        elif not low < high:
            notes.append("fixed")
        elif not low + _EDGE < value < high - _EDGE:
            notes.append("at a bound")
        else:
            notes.append("held by the order of chances, or not identified")
    return notes


def _numbers_of(
    block: ItemBlock,
    item: int,
    values: Floats,
    parents: Sequence[Variable],
    link: LinkFunction,
) -> tuple[Callable[[Floats], _Numbers], NDArray[np.intp]]:
    """Return a function from an item's parameters to its numbers, and the parameters' places."""
    own = [name == block.names[item] for name, _ in block.parameters]
    places = np.flatnonzero(own)
    if isinstance(block, PairBlock):
        # An item of which more skill lowers the chance has a guess and a slip all the same.
        return (lambda x: list(zip(("guess", "slip"), x.tolist(), strict=True))), places
    if isinstance(block, EffectsBlock | CurveBlock):
        single = dataclasses.replace(block, rules=(block.rules[item],))
        return (lambda x: model_numbers(single.response_models(x)[0], parents, link)), places
    if isinstance(block, SharedBlock):
        shared = block.rules[item].model
        assert isinstance(shared, MainEffects)
        return (lambda x: model_numbers(shared.with_coefficients(x), parents, link)), block.columns[
            item
        ]
    everything = np.arange(len(values))
    if isinstance(block, StepsBlock):
        return _numbers_of_steps(block, values, parents, link), everything
    return (lambda x: model_numbers(block.response_models(x)[item], parents, link)), everything


def _numbers_of_steps(
    block: StepsBlock, values: Floats, parents: Sequence[Variable], link: LinkFunction
) -> Callable[[Floats], _Numbers]:
    """Return a function from the parameters of all steps to their numbers."""
    steps = [
        _numbers_of(step, 0, part, parents, link)
        for step, part in zip(block.steps, block.parts_of(values), strict=True)
    ]

    def numbers(x: Floats) -> _Numbers:
        return [
            (f"step {number}: {name}", value)
            for number, ((own, places), part) in enumerate(
                zip(steps, block.parts_of(x), strict=True), 1
            )
            for name, value in own(part[places])
        ]

    return numbers


def _with_errors(
    numbers: Callable[[Floats], _Numbers],
    values: Floats,
    limits: Floats,
    covariance: Floats,
    places: NDArray[np.intp],
    notes: Sequence[str],
) -> list[tuple[str, float, float, str]]:
    """Return name, value, standard error and note of each number that is learned."""
    here = numbers(values)
    slopes = np.zeros((len(here), len(values)))
    for place, (value, (low, high)) in enumerate(zip(values.tolist(), limits, strict=True)):
        step = _STEP * max(1.0, abs(value))
        ends = []
        for end in (value + step, value - step):
            moved = values.copy()
            # A fixed parameter is moved too, to see which numbers depend on it.
            moved[place] = np.clip(end, low, high) if low < high else end
            try:
                ends.append((moved[place], np.array([x for _, x in numbers(moved)])))
            except (InvalidModelError, ArithmeticError):
                ends.append((value, np.array([x for _, x in here])))
        (up, above), (down, below) = ends
        if up > down:
            slopes[:, place] = (above - below) / (up - down)
    found = []
    for (name, value), slope in zip(here, slopes, strict=True):
        if np.any(np.abs(slope) > _NONE):
            found.append((name, value, *_error(slope, covariance, places, notes)))
    return found


def _error(
    slope: Floats, covariance: Floats, places: NDArray[np.intp], notes: Sequence[str]
) -> tuple[float, str]:
    """Return the standard error of a function of parameters, and why there is none."""
    used = np.flatnonzero(np.abs(slope) > _NONE)
    used = used[[notes[place] != "fixed" for place in places[used]]]
    at = places[used]
    if not used.size:
        return float("nan"), "fixed"
    if note := next((notes[place] for place in at if notes[place]), ""):
        return float("nan"), note
    variance = float(slope[used] @ covariance[np.ix_(at, at)] @ slope[used])
    return float(np.sqrt(max(variance, 0.0))), ""


def model_numbers(
    model: ResponseModel | None, parents: Sequence[Variable], link: LinkFunction = IDENTITY
) -> _Numbers:
    """Return the numbers of a response model, by name."""
    if model is None:
        return []
    if isinstance(model, Sequential):
        return [
            (f"step {number}: {name}", value)
            for number, step in enumerate(model.steps, 1)
            for name, value in model_numbers(step, parents, link)
        ]
    if isinstance(model, Gdina):
        return _of_table(model.probabilities, parents, link)
    found: _Numbers = []
    for one in dataclasses.fields(model):  # type: ignore[arg-type]
        value = getattr(model, one.name)
        if isinstance(value, float):
            found.append((_SINGULAR.get(one.name, one.name), value))
        elif isinstance(value, tuple) and all(isinstance(x, float) for x in value):
            label = _SINGULAR.get(one.name, one.name)
            by_response = isinstance(model, _OF_RESPONSES) or one.name == "thresholds"
            if len(value) == len(parents) and not by_response:
                found += [(f"{label} of {v.name}", x) for v, x in zip(parents, value, strict=True)]
            else:
                found += [(f"{label} {n}", x) for n, x in enumerate(value, 1)]
    return found


def _of_table(table: Floats, parents: Sequence[Variable], link: LinkFunction) -> _Numbers:
    """Return the δ of a table, or its chances if skills have levels or there are more responses."""
    n = len(parents)
    if table.shape[1] > 2 or any(v.n_states != 2 for v in parents):
        states = product(*(map(str, v.states) for v in parents))
        return [
            (f"P({response} | {', '.join(state)})", chance)
            for state, row in zip(states, table.tolist(), strict=True)
            for response, chance in enumerate(row[1:], 1)
        ]
    delta = link.of(np.clip(table[:, 1], 1e-12, 1 - 1e-12)).reshape((2,) * n)
    for axis in range(n):
        low, high = np.split(delta, 2, axis=axis)
        delta = np.concatenate([low, high - low], axis=axis)
    found: _Numbers = [("intercept", float(delta[(0,) * n]))]
    for size in range(1, n + 1):
        for chosen in combinations(range(n), size):
            place = tuple(int(k in chosen) for k in range(n))
            names = " × ".join(parents[k].name for k in chosen)
            found.append((f"effect of {names}", float(delta[place])))
    return found
