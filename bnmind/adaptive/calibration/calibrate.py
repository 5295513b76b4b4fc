r"""Calibrating new items from the answers of many examinees, with all other items fixed.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
q_n(c)                 the posterior of examinee n over the configurations of a new item
cycle 1 (OEM)          q_n from the answers to the other items alone, then one M-step
cycles 2, … (MEM)      q_n from all answers with the current parameters, then an M-step
a − 1                  the pseudo-counts of earlier answers, added to the expected counts; see
                       `earlier_answers`
=====================  ===================================================================

One cycle needs no parameters of the new items, so it cannot go astray; more cycles use the new
items to know the examinees better. Answers of adaptive tests are missing at random given the
answers that count, so the likelihood holds.

References
----------
H. Wainer and R. Mislevy, in *Computerized Adaptive Testing: A Primer*, 1990 (one EM cycle);
J.-C. Ban, B. Hanson, T. Wang, Q. Yi and D. Harris, "A comparative study of on-line
pretest item-calibration/scaling methods in computerized adaptive testing", J. Educ. Meas. 2001
(multiple cycles); P. Chen, T. Xin, C. Wang and H.-H. Chang, "Online calibration methods for
the DINA model with independent attributes in CD-CAT", Psychometrika 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind._workers import one_blas_thread
from bnmind.adaptive.beliefs.start import start_belief
from bnmind.adaptive.calibration.earlier_answers import earlier_counts, together
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.items.certain_tables import table_deviations
from bnmind.adaptive.learning.certainties import item_certainties
from bnmind.adaptive.learning.em.response_layout import ResponseLayout
from bnmind.adaptive.learning.learn import LearningModel
from bnmind.adaptive.learning.parameters.least_chance import maximized
from bnmind.adaptive.learning.parameters.options import LearningOptions
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
class Calibration(Value):
    """The result of `calibrate_items`."""

    bank: ItemBank
    """The bank with the new parameters, and how sure they are."""
    items: tuple[CalibratedItem, ...]
    """The calibrated items."""
    n_cycles: int
    """The number of EM cycles."""


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
    earlier = earlier_counts(bank, model.layout, () if anew else chosen)
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
            name: together(certainty, bank.item(name).certainty)
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
