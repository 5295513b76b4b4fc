r"""Calibrating new items from the answers of many examinees, with all other items fixed.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
q_n(c)                 the posterior of examinee n over the configurations of a new item
cycle 1 (OEM)          q_n from the answers to the other items alone, then one M-step
cycles 2, … (MEM)      q_n from all answers with the current parameters, then an M-step
a − 1                  the pseudo-counts of earlier answers, added to the expected counts; see
                       below
=====================  ===================================================================

One cycle needs no parameters of the new items, so it cannot go astray; more cycles use the new
items to know the examinees better. Answers of adaptive tests are missing at random given the
answers that count, so the likelihood holds.

The bank remembers earlier answers to new items:

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
a − 1                  the counts of a `TableCertainty` without the flat prior
C                      the covariance of a `ParameterCertainty`
I                      the information of one examinee, drawn from the bank, about the
                       parameters of the item
w                      p / tr(C I), with p uncertain parameters: so many examinees tell as much
                       as the earlier ones, as C is about (w I)⁻¹
w π_g P_g              ``_earlier_counts`` of a curve: the expected counts of these examinees
=====================  ===================================================================

The mode of the likelihood of the counts is the model as it was, so new answers move it by the share
that they have in all answers.

References
----------
H. Wainer and R. Mislevy, in *Computerized Adaptive Testing: A Primer*, 1990 (one EM cycle); J.-C.
Ban, B. Hanson, T. Wang, Q. Yi and D. Harris, "A comparative study of on-line pretest
item-calibration/scaling methods in computerized adaptive testing", J. Educ. Meas. 2001 (multiple
cycles); P. Chen, T. Xin, C. Wang and H.-H. Chang, "Online calibration methods for the DINA model
with independent attributes in CD-CAT", Psychometrika 2012.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind._workers import one_blas_thread
from bnmind.adaptive.beliefs.estimates import start_belief
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.items.certain_tables import cause_order, table_deviations
from bnmind.adaptive.items.certainty import Certainty, ParameterCertainty, TableCertainty
from bnmind.adaptive.learning.certainties import item_certainties
from bnmind.adaptive.learning.em.response_layout import ResponseLayout
from bnmind.adaptive.learning.learn import LearningModel
from bnmind.adaptive.learning.parameters.least_chance import maximized
from bnmind.adaptive.learning.parameters.options import LearningOptions
from bnmind.adaptive.response_models.base.vector import model_near, model_table, parameter_vector
from bnmind.adaptive.responses.responses import Responses, responses_to
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas


__all__ = ["CalibratedItem", "Calibration", "calibrate_items"]

_CLOSE = 1e-5
"""Cycles end when no chance changes by more than this."""

_MOST_STEPS = 50
"""The most M-steps of one cycle, for models whose M-step is not in closed form."""


@dataclass(frozen=True, kw_only=True)
class CalibratedItem(Value):
    """A calibrated item."""

    item: str
    """The name of the item."""
    answers: int
    """The number of answers in these data."""
    before: Floats
    """``(configurations, responses)``: the table before."""
    after: Floats
    """``(configurations, responses)``: the table now."""
    errors: Floats
    """``(configurations, responses)``: the standard deviations of its entries."""
    error: float
    """The root of the mean variance of the entries, weighted by the prior of the skills."""
    is_ready: bool
    """Whether this error is small enough for the item to count."""


@dataclass(frozen=True, eq=False)
class Calibration(Result, Value):
    """The result of `calibrate_items`."""

    bank: ItemBank
    """The bank with the new parameters, and how sure they are."""
    items: tuple[CalibratedItem, ...]
    """The calibrated items."""
    n_cycles: int
    """The number of EM cycles."""

    def to_dict(self) -> dict[str, Any]:
        """Return the calibrated items as a record for JSON."""
        items = [
            picked(row, "item", "answers", "error", ready="is_ready")
            | {name: getattr(row, name).tolist() for name in ("before", "after", "errors")}
            for row in self.items
        ]
        return dict(finite({"cycles": self.n_cycles, "items": items}))

    def _shown(self) -> Iterator[str | Table]:
        cycles = counted(self.n_cycles, "EM cycle")
        yield f"New items, after {cycles}; right without and with all skills:"
        rows = []
        for row in self.items:
            ends = (f"{t[0, -1]:.3f}, {t[-1, -1]:.3f}" for t in (row.before, row.after, row.errors))
            ready = "yes" if row.is_ready else "no"
            rows.append((row.item, f"{row.answers:,}", *ends, f"{row.error:.3f}", ready))
        yield Table(("item", "answers", "before", "now", "±", "error", "ready"), rows)


@checked
def calibrate_items(
    bank: ItemBank | HasBank,
    responses: Responses | pandas.DataFrame | ArrayLike,
    items: Sequence[str],
    *,
    max_cycles: int = 200,
    anew: bool = False,
    largest_error: float = 0.05,
) -> Calibration:
    """Learn the parameters of some items; all others and the skills stay as they are.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns. The certainty of an item that it holds counts as
        answers of earlier data.
    responses
        The responses, or a table of them as for `Responses.of`; columns need not be in the order of
        the bank, and items may lack.
    items
        The names of the items to calibrate.
    max_cycles
        1 for the method with one EM cycle, more for multiple cycles until convergence.
    anew
        Whether to forget the answers of earlier data, as when these data hold them too.
    largest_error
        An item is ready if its error is at most this; see `CalibratedItem.error`.

    Raises
    ------
    InvalidArgumentError
        If there is no item to calibrate, or a number is out of range.
    UnknownNameError
        If the bank has no such item.
    TableError
        If the responses do not fit the bank.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees
    >>> q = [[1, 0], [0, 1]] * 5
    >>> truth = ItemBank.from_qmatrix(q, guess=0.2, slip=0.1)
    >>> people = Examinees.drawn(truth, 1000, seed=1)
    >>> guessed = ItemBank.from_qmatrix(q, guess=[0.2] * 9 + [0.4], slip=0.1)
    >>> data = Responses.of(people.responses)
    >>> calibration = calibrate_items(guessed, data, ["item_10"])
    >>> gate = calibration.bank.item("item_10").gate
    >>> round(gate.guess, 1), round(gate.slip, 1), calibration.items[0].is_ready
    (0.2, 0.1, True)
    """
    bank = bank_of(bank)
    chosen = tuple(dict.fromkeys(items))
    places = [bank.position(name) for name in chosen]
    if not places or max_cycles < 1 or not 0 < largest_error <= 1:
        raise InvalidArgumentError(
            "expected items, at least one cycle, and a largest error in (0, 1], got"
            f" {len(chosen)} items, {max_cycles} and {largest_error}",
            chosen,
        )
    data = _columns(responses_to(bank, responses), bank)
    kept = {*bank.item_names, *(v.name for v in bank.hidden)} - set(chosen)
    options = LearningOptions(fixed=kept, starts=1)
    model = LearningModel.of(bank, options)
    blocks, expectation = model.layout.blocks, model.expectation(data, options)
    start = model.start(0, options)
    values, tables = start.items, start.skills
    earlier = _earlier_counts(bank, model.layout, () if anew else chosen)
    chances = _flat(model.layout, chosen, model.layout.response_parameters(values))
    n_cycles = 0
    with one_blas_thread():
        while n_cycles < max_cycles:
            n_cycles += 1
            expected = expectation(chances, tables)
            counts = model.layout.parts(expected.counts + earlier)
            values = tuple(
                _best(block, one, count, model.least)
                for block, one, count in zip(blocks, values, counts, strict=True)
            )
            before, chances = chances, model.layout.response_parameters(values)
            if np.abs(chances - before).max() < _CLOSE:
                break
        certainties = item_certainties(expectation, values, tables)
    if not anew:
        certainties = {
            name: _together(certainty, bank.item(name).certainty)
            for name, certainty in certainties.items()
        }
    parameters = start._replace(items=values)
    learned = model.bank_of(
        parameters, title=bank.title, source=bank.source, certainties=certainties
    )
    return Calibration(learned, _reported(bank, learned, data, chosen, largest_error), n_cycles)


def _columns(responses: Responses, bank: ItemBank) -> Responses:
    """Return the responses with a column for each item of the bank, empty ones too."""
    codes = np.full((len(responses), len(bank.items)), -1, dtype=np.int8)
    for column, name in enumerate(responses.items):
        codes[:, bank.position(name)] = responses.codes[:, column]
    most = np.array([len(bank.responses(name)) for name in bank.item_names])
    wrong = np.argwhere(codes >= most)
    if len(wrong):
        row, place = wrong[0].tolist()
        bank.response(bank.item_names[place], int(codes[row, place]))  # raises, and names it
    return Responses(
        codes=codes,
        items=bank.item_names,
        examinees=responses.examinees,
        groups=responses.groups,
        notes=responses.notes,
    )


def _flat(layout: ResponseLayout, chosen: Sequence[str], chances: Floats) -> Floats:
    """Return response probabilities of which those of new items tell nothing."""
    flat = chances.copy()
    names = [name for block in layout.blocks for name in block.names]
    for name, start, (groups, responses) in zip(names, layout.starts, layout.shapes, strict=True):
        if name in chosen:
            flat[start : start + groups * responses] = 1 / responses
    return flat


def _best(block: object, values: Floats, counts: Floats, least: float) -> Floats:
    """Return the parameters of a block with the largest likelihood of expected counts."""
    for _ in range(_MOST_STEPS):
        better = maximized(block, values, counts, least)  # type: ignore[arg-type]
        change = float(np.abs(better - values).max(initial=0.0))
        values = better
        if change < _CLOSE:
            break
    return values


def _reported(
    bank: ItemBank,
    learned: ItemBank,
    data: Responses,
    chosen: Sequence[str],
    largest_error: float,
) -> tuple[CalibratedItem, ...]:
    prior = start_belief(bank)
    rows = []
    for name in chosen:
        variances = (table_deviations(learned, name) ** 2).sum(axis=0)
        masses = prior.masses([name])[0][: len(variances)]
        answers = int(np.count_nonzero(data.codes[:, bank.position(name)] >= 0))
        error = float(np.sqrt(masses @ variances.mean(axis=1)))
        known = learned.item(name).certainty is not None and answers > 0
        rows.append(
            CalibratedItem(
                item=name,
                answers=answers,
                before=bank.channel(name),
                after=learned.channel(name),
                errors=np.sqrt(variances),
                error=error,
                is_ready=known and error <= largest_error,
            )
        )
    return tuple(rows)


# --- Earlier answers ------------------------------------------------------------------------------

_STEP = 1e-5


def _earlier_counts(bank: ItemBank, layout: ResponseLayout, chosen: Sequence[str]) -> Floats:
    """Return the pseudo-counts of earlier answers, in the layout."""
    earlier = np.zeros(layout.size)
    names = [name for block in layout.blocks for name in block.names]
    for number, name in enumerate(names):
        certainty = bank.item(name).certainty if name in chosen else None
        (groups, responses), start = layout.shapes[number], layout.starts[number]
        if isinstance(certainty, TableCertainty) and certainty.counts.shape == (groups, responses):
            cells = np.maximum(certainty.counts - 1, 0.0).reshape(-1)
        elif _is_usable(certainty):
            grouped = np.zeros((groups, responses))
            np.add.at(grouped, layout.groups[number], _counts_of_curve(bank, name, certainty))
            cells = grouped.reshape(-1)
        else:
            continue
        earlier[start : start + groups * responses] = cells
    return earlier


def _counts_of_curve(bank: ItemBank, name: str, certainty: ParameterCertainty) -> Floats:
    """Return expected counts of answers that tell as much as the earlier ones, of a whole table.

    They are those of w examinees drawn from the bank. Their information about the parameters is w
    times that of one, I; the weight is such that w tr(C I) is the number of uncertain parameters,
    as if C were the inverse of w I.
    """
    item, cpd = bank.item(name), bank.network.cpd(name)
    assert item.gate is not None
    numbers = parameter_vector(item.gate)
    table = model_table(item.gate, cpd.variable, cpd.parents)
    order = cause_order(bank, name)
    masses = np.zeros(len(table))
    masses[order] = start_belief(bank).masses([name])[0][: len(table)]
    slopes = np.zeros((len(numbers), *table.shape))
    for place, step in enumerate(np.diag(_STEP * np.maximum(1.0, np.abs(numbers)))):
        up, down = (model_near(item.gate, sign * step) for sign in (1, -1))
        width = float((parameter_vector(up) - parameter_vector(down))[place])
        if width > 0:
            change = [model_table(one, cpd.variable, cpd.parents) for one in (up, down)]
            slopes[place] = (change[0] - change[1]) / width
    safe = np.maximum(table, 1e-12)
    one = np.einsum("g,igr,jgr->ij", masses, slopes / safe, slopes)
    told = float(np.trace(certainty.covariance @ one))
    uncertain = int(np.count_nonzero(np.diag(certainty.covariance) > 0))
    weight = uncertain / told if told > 0 else 0.0
    counts: Floats = weight * masses[:, None] * table
    return counts


def _together(new: Certainty, old: Certainty | None) -> Certainty:
    """Return how sure parameters are from earlier answers and new ones."""
    if isinstance(new, TableCertainty) and isinstance(old, TableCertainty):
        counts = new.counts + np.maximum(old.counts - 1, 0.0)
        return TableCertainty(counts, new.rows, new.answers + old.answers)
    if isinstance(new, ParameterCertainty) and _is_usable(old):
        informations = np.linalg.pinv(new.covariance), np.linalg.pinv(old.covariance)
        covariance = np.linalg.pinv(sum(informations))
        return ParameterCertainty((covariance + covariance.T) / 2, new.answers + old.answers)
    return new


def _is_usable(certainty: Certainty | None) -> TypeGuard[ParameterCertainty]:
    """Return whether the parameters whose certainty it is are those of the item's model."""
    return isinstance(certainty, ParameterCertainty) and certainty.model is None
