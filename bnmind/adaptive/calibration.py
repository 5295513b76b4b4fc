"""Calibration of new items from answers, of the bank while tests run, and drift of items.

Calibrating new items from the answers of many examinees, with all other items fixed.

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

Calibration of new items one examinee at a time.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
a_g                    the parameters of the Dirichlet distribution of row g
w_g                    P(group g | answers, x): the posterior, by the mean table of the item
a_{g,x} + w_g          fractional updating
=====================  ===================================================================

The exact posterior is a mixture over the groups; fractional updating adds to each row the part of
the answer that belongs to it.

Drift: whether an item is answered otherwise than its parameters predict, from some time on.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
p_n(x)                 the predicted chances of the answer of examinee n to the item
δ                      ``shift``, on the scale of the logit; −δ for the other direction
ℓ_n                    δ x_n − ln Σ_x p_n(x) exp(δ x), the log-likelihood ratio of a shift
S_n                    max(0, S_{n−1} + ℓ_n): the chart
h                      ``limit``: exceeded by no more than a share ``false_alarm`` of charts
                       of this length without drift
z                      Σ (x_n − E_n) / √Σ V_n
=====================  ===================================================================

If the order of the questions is known, an answer is predicted from the earlier answers of the
examinee alone. In an adaptive test later items depend on the answer, so the later answers, which
are given to these items, would give it away. Without an order it is predicted from all others.
The limit is the quantile of the largest values of charts that are simulated by the predictions.

References
----------
H. Wainer and R. Mislevy, in *Computerized Adaptive Testing: A Primer*, 1990 (one EM cycle); J.-C.
Ban, B. Hanson, T. Wang, Q. Yi and D. Harris, "A comparative study of on-line pretest
item-calibration/scaling methods in computerized adaptive testing", J. Educ. Meas. 2001 (multiple
cycles); P. Chen, T. Xin, C. Wang and H.-H. Chang, "Online calibration methods for the DINA model
with independent attributes in CD-CAT", Psychometrika 2012.

D. Spiegelhalter and S. Lauritzen, "Sequential updating of conditional probabilities on directed
graphical structures", Networks 1990.

E. Page, "Continuous inspection schemes", Biometrika 1954; W. Veerkamp and C. Glas, "Detection of
known items in adaptive testing with a statistical quality control method", J. Educ. Behav. Stat.
2000; A. P. Dawid, "The prequential approach", J. R. Stat. Soc. A 1984.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeGuard

import numpy as np
from annotated_types import Gt, Le, Lt, MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted
from bnmind._records import faults_in
from bnmind._values import Count, Value
from bnmind._workers import one_blas_thread
from bnmind.adaptive.beliefs import MISSING, SkillBelief, updated_batch_anyway
from bnmind.adaptive.estimates import start_belief, start_beliefs
from bnmind.adaptive.formulas import response_channel
from bnmind.adaptive.items.bank import (
    HasBank,
    ItemBank,
    bank_of,
    cause_order,
    table_deviations,
    with_tables,
)
from bnmind.adaptive.items.item import (
    Certainty,
    ParameterCertainty,
    TableCertainty,
    deviations,
    with_table,
)
from bnmind.adaptive.learning.blocks import ItemBlock, LearningOptions
from bnmind.adaptive.learning.em import ResponseLayout
from bnmind.adaptive.learning.learn import LearningModel, item_certainties
from bnmind.adaptive.responses import Responses, require_known, responses_to
from bnmind.adaptive.sessions import Session
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

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
    items: Annotated[Sequence[str], MinLen(1)],
    *,
    max_cycles: Count = 200,
    anew: bool = False,
    largest_error: Annotated[float, Gt(0), Le(1)] = 0.05,
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
    >>> q = [[1, 0], [0, 1]] * 5
    >>> truth = ItemBank.from_qmatrix(q, guess=0.2, slip=0.1)
    >>> people = Responses.drawn(truth, 1000, seed=1)
    >>> guessed = ItemBank.from_qmatrix(q, guess=[0.2] * 9 + [0.4], slip=0.1)
    >>> calibration = calibrate_items(guessed, people, ["item_10"])
    >>> gate = calibration.bank.item("item_10").gate
    >>> round(gate.guess, 1), round(gate.slip, 1), calibration.items[0].is_ready
    (0.2, 0.1, True)
    """
    bank = bank_of(bank)
    chosen = tuple(dict.fromkeys(items))
    for name in chosen:
        bank.position(name)  # raises for an unknown one
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
                _best(block, one, count)
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
    require_known(responses, bank)
    places = [bank.position(name) for name in responses.items]
    codes = np.full((len(responses), len(bank.items)), MISSING, dtype=np.int16)
    codes[:, places] = responses.codes
    order = np.array([*places, MISSING])[responses.order]  # the last for `MISSING`
    return replace(responses, codes=codes, items=bank.item_names, order=order)


def _cells(layout: ResponseLayout) -> Iterator[tuple[int, str, slice]]:
    """Yield the number, the name and the response probabilities of each item."""
    names = [name for block in layout.blocks for name in block.names]
    for number, (name, start) in enumerate(zip(names, layout.starts, strict=True)):
        yield number, name, slice(start, start + math.prod(layout.shapes[number]))


def _flat(layout: ResponseLayout, chosen: Sequence[str], chances: Floats) -> Floats:
    """Return response probabilities of which those of new items tell nothing."""
    flat = chances.copy()
    for number, name, cells in _cells(layout):
        if name in chosen:
            flat[cells] = 1 / layout.shapes[number][1]
    return flat


def _best(block: ItemBlock, values: Floats, counts: Floats) -> Floats:
    """Return the parameters of a block with the largest likelihood of expected counts."""
    for _ in range(_MOST_STEPS):
        better = block.maximize(values, counts)
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


def _earlier_counts(bank: ItemBank, layout: ResponseLayout, chosen: Sequence[str]) -> Floats:
    """Return the pseudo-counts of earlier answers, in the layout."""
    earlier = np.zeros(layout.size)
    for number, name, cells in _cells(layout):
        certainty = bank.item(name).certainty if name in chosen else None
        grouped = np.zeros(layout.shapes[number])
        if isinstance(certainty, TableCertainty) and certainty.counts.shape == grouped.shape:
            grouped = np.maximum(certainty.counts - 1, 0.0)
        elif _is_usable(certainty):
            np.add.at(grouped, layout.groups[number], _counts_of_curve(bank, name, certainty))
        earlier[cells] = grouped.reshape(-1)
    return earlier


def _counts_of_curve(bank: ItemBank, name: str, certainty: ParameterCertainty) -> Floats:
    """Return expected counts of answers that tell as much as the earlier ones, of a whole table.

    They are those of w examinees drawn from the bank. Their information about the parameters is w
    times that of one, I; the weight is such that w tr(C I) is the number of uncertain parameters,
    as if C were the inverse of w I. The sum of the variances of the cells, each over its chance, is
    tr(C I).
    """
    item, cpd = bank.item(name), bank.network.cpd(name)
    assert item.gate is not None
    table = response_channel(item.gate, cpd.parents)
    masses = np.zeros(len(table))
    masses[cause_order(bank, name)] = start_belief(bank).masses([name])[0][: len(table)]
    variances = (deviations(item, cpd) ** 2).sum(axis=0)
    told = float((masses[:, None] * variances / np.maximum(table, 1e-12)).sum())
    uncertain = int(np.count_nonzero(np.diag(certainty.covariance) > 0))
    weight = uncertain / told if told > 0 else 0.0
    return weight * masses[:, None] * table


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


@dataclass(frozen=True, eq=False)
class AnsweredTests(Value):
    """The answers of finished tests; see `read_answers`."""

    responses: Responses
    """The responses, a row for each test, in the order of time, with the order of the items."""
    pilot: tuple[str, ...] = ()
    """The items that were pilot items in some test; see `PilotItems`."""


@checked
def read_answers(paths: Sequence[str | os.PathLike[str]], bank: ItemBank) -> AnsweredTests:
    """Return the answers in files of sessions, sorted by the time of the last answer.

    Parameters
    ----------
    paths
        The files. Tests without a time stay in the order given, before the others.
    bank
        The bank of the tests.

    Raises
    ------
    ModelFileError
        If a file is not a session of this bank, or no test has an answer.
    """
    tests: list[tuple[str, str, dict[str, int]]] = []
    pilot: dict[str, None] = {}
    for path in paths:
        place = Path(path)
        with faults_in(place):
            session = Session.load(place, bank)
        of_test, events, state = session.bank, session.events, session.state
        if session.design.pilot is not None:
            pilot |= dict.fromkeys(session.design.pilot.items)
        given = {
            name: of_test.response(name, state.responses[name])
            for name in state.asked
            if name in state.responses
        }
        if given:
            tests.append((events[-1].at, place.name, given))
    if not tests:
        raise ModelFileError("expected sessions with answers, got none", None)
    tests.sort(key=lambda test: test[0])
    names = sorted({name for _, _, given in tests for name in given}, key=bank.position)
    codes = np.full((len(tests), len(names)), MISSING)
    order = np.full((len(tests), max(len(given) for _, _, given in tests)), MISSING)
    for row, (_, _, given) in enumerate(tests):
        places = [names.index(name) for name in given]
        codes[row, places] = list(given.values())
        order[row, : len(places)] = places
    who = tuple(f"{n}: {name}" for n, (_, name, _) in enumerate(tests, start=1))
    return AnsweredTests(Responses(codes, tuple(names), who, order=order), tuple(pilot))


@checked
def calibrate_online(
    bank: ItemBank, belief: SkillBelief, item: str, response: int | str
) -> ItemBank:
    """Return the bank after one more answer to a new item, while examinees answer it.

    Parameters
    ----------
    bank
        The bank; the certainty of each new item is a `TableCertainty`, which grows by the answer.
    belief
        The belief about the examinee by the answers to other items.
    item, response
        The new item and the answer.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        If there is no such item, or response, or it has no `TableCertainty`.

    Examples
    --------
    >>> from bnmind.adaptive import start_belief
    >>> new = {"item_3": TableCertainty(np.ones((2, 2)), (0, 1))}
    >>> bank = ItemBank.from_qmatrix([[1]] * 3, 0.2, 0.1).with_certainties(new)
    >>> belief = start_belief(bank).update("item_1", 1).update("item_2", 1)
    >>> learned = calibrate_online(bank, belief, "item_3", 1)
    >>> learned.item("item_3").certainty.counts.round(2).tolist()
    [[1.0, 1.05], [1.0, 1.95]]
    """
    known, number = bank.item(item).certainty, bank.response(item, response)
    if not isinstance(known, TableCertainty):
        raise InvalidArgumentError(
            f"expected item {item} with a TableCertainty; see `ItemBank.with_certainties`", item
        )
    rows = np.array(known.rows)[cause_order(bank, item)]
    masses = belief.masses([item])[0][: len(rows)]
    of_row = np.bincount(rows, weights=masses, minlength=len(known.counts))
    joint = of_row * known.means[:, number]
    counts = np.array(known.counts)
    counts[:, number] += joint / float(joint.sum())
    after = TableCertainty(counts, known.rows, known.answers + 1)
    cpd = bank.network.cpd(item)
    changed = replace(bank.item(item), certainty=after)
    table = after.means[list(after.rows)]
    return with_tables(bank, {item: with_table(changed, cpd, table)})


_CHARTS = 1000
"""The number of simulated charts."""

_CHUNK = 500
_CELLS = 2**21


@dataclass(frozen=True, kw_only=True)
class DriftChart(Value):
    """The chart of an item in one direction."""

    largest: float
    """The largest value of the chart."""
    limit: float
    """The value at which drift is noticed."""
    p_value: float
    """The share of charts without drift that come as far."""
    noticed: int | None
    """The row of the examinee at whose answer drift is noticed; None if it is not."""
    began: int | None
    """The row of the examinee at whose answer it seems to have begun; None if not noticed."""


@dataclass(frozen=True, kw_only=True)
class ItemDrift(Value):
    """Whether an item drifts."""

    item: str
    """The name of the item."""
    answers: int
    """The number of answers to the item."""
    z: float
    """The observed sum of the responses minus the predicted one, in standard deviations."""
    easier: DriftChart
    """The chart for better answers than predicted."""
    harder: DriftChart
    """The chart for worse answers than predicted."""

    @property
    def is_noticed(self) -> bool:
        """Whether drift is noticed in one of the directions."""
        return self.easier.noticed is not None or self.harder.noticed is not None


def _charts(item: ItemDrift) -> tuple[tuple[str, DriftChart], ...]:
    """Return the charts of an item, by what it may have become."""
    return ("easier", item.easier), ("harder", item.harder)


@dataclass(frozen=True)
class Drift(Result, Value):
    """Which items drift: a sequence of the items that were answered. Created by `item_drift`."""

    items: tuple[ItemDrift, ...]
    """The items."""
    examinees: tuple[str, ...]
    """The names of the examinees, in the order of time."""
    false_alarm: float
    """The probability that a chart notices drift where there is none."""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ItemDrift]:
        return iter(self.items)

    def __getitem__(self, place: int) -> ItemDrift:
        return self.items[place]

    def to_dict(self) -> dict[str, Any]:
        """Return the charts of all items as a record for JSON."""
        items = [
            picked(row, "item", "answers", "z")
            | {
                name: {
                    "p_value": chart.p_value,
                    "noticed": self._who(chart.noticed),
                    "began": self._who(chart.began),
                }
                for name, chart in _charts(row)
            }
            for row in self.items
        ]
        return dict(finite({"drift": items}))

    def _who(self, row: int | None) -> str | None:
        return None if row is None else self.examinees[row]

    def _shown(self) -> Iterator[str | Table]:
        rate = f"{self.false_alarm:g} for each chart"
        noticed = [row for row in self.items if row.is_noticed]
        if not noticed:
            yield f"No drift among {counted(len(self), 'other item')}; false alarms {rate}."
            return
        yield f"Items that drift (false alarms {rate}):"
        rows = [
            (
                item.item,
                f"{item.answers:,}",
                f"{item.z:+.1f}",
                name,
                f"{chart.p_value:.3f}",
                self._who(chart.noticed) or "",
                self._who(chart.began) or "",
            )
            for item in sorted(noticed, key=lambda one: -abs(one.z))
            for name, chart in _charts(item)
            if chart.noticed is not None
        ]
        yield Table(("item", "answers", "z", "became", "p", "noticed at", "since about"), rows)


@checked
def item_drift(
    bank: ItemBank | HasBank,
    responses: Responses | pandas.DataFrame | ArrayLike,
    *,
    rng: np.random.Generator,
    pilot: Sequence[str] = (),
    shift: Annotated[float, Gt(0), Le(10)] = 0.5,
    false_alarm: Annotated[float, Gt(0), Lt(1)] = 0.01,
) -> Drift:
    """Return for each item that was answered whether its answers drift from the predictions.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns; best an averaged bank: errors of the
        parameters look like drift. An item that drifts much also makes the answers to others of its
        skills look strange, so correct or leave out the worst one first.
    responses
        The responses, or a table of them as for `Responses.of`; examinees in the order of time. If
        the items asked depended on the answers, with the order of the items.
    rng
        The source of random numbers for the limits.
    pilot
        Items that predict nothing and have no chart.
    shift
        In (0, 10]: the change to look for, on the scale of the logit.
    false_alarm
        In (0, 1): the probability that a chart, for one item and one direction, notices drift where
        there is none.

    Raises
    ------
    InvalidArgumentError
        If a number is out of range.
    UnknownNameError
        If the bank has no such item.
    TableError
        If an item has no such response.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1]] * 4, guess=0.2, slip=0.1)
    >>> codes = np.array(Responses.drawn(bank, 600, seed=1).codes)
    >>> codes[300:, 2] = 1  # the answer has become known
    >>> found = item_drift(bank, Responses.of(codes), rng=np.random.default_rng(1))
    >>> max(found, key=lambda row: row.easier.largest - row.easier.limit).item
    'item_3'
    >>> 300 <= found[2].easier.noticed < 400
    True
    """
    bank = bank_of(bank)
    data = _columns(responses_to(bank, responses), bank)
    codes = np.array(data.codes)
    codes[:, [bank.position(name) for name in pilot]] = MISSING
    predicted = _predictions(bank, codes, data.order)
    found = []
    for place, name in enumerate(bank.item_names):
        rows = np.flatnonzero(codes[:, place] != MISSING)
        if not len(rows):
            continue
        n_responses = len(bank.responses(name))
        chances = predicted[rows, place, :n_responses]
        answers = codes[rows, place].astype(np.intp)
        scores = np.arange(n_responses)
        mean = chances @ scores
        variance = float((chances @ scores**2 - mean**2).sum())
        z = float((answers - mean).sum()) / np.sqrt(variance) if variance > 0 else 0.0
        charts = [
            _chart(chances, answers, rows, sign * shift, false_alarm, rng) for sign in (1, -1)
        ]
        found.append(
            ItemDrift(item=name, answers=len(rows), z=z, easier=charts[0], harder=charts[1])
        )
    return Drift(tuple(found), data.examinees, false_alarm)


def _predictions(
    bank: ItemBank, codes: NDArray[np.signedinteger[Any]], order: NDArray[np.intp]
) -> Floats:
    """Return the predicted chances of the answers, ``(examinees, items, responses)``."""
    widest = max(len(bank.responses(name)) for name in bank.item_names)
    predicted = np.zeros((*codes.shape, widest))
    for start in range(0, len(codes), _CHUNK):
        part = slice(start, start + _CHUNK)
        some, table = codes[part], predicted[part]
        rows = np.arange(len(some))
        if order.size:
            beliefs = start_beliefs(bank, len(some))
            for items in order[part].T:
                answers = some[rows, items].astype(np.intp)
                now = np.where((items == MISSING) | (answers == MISSING), MISSING, items)
                used = np.unique(now[now != MISSING])
                if len(used):
                    chances = beliefs.predict(used)
                    for number, item in enumerate(used.tolist()):
                        who = now == item
                        table[who, item, : chances.shape[2]] = chances[who, number]
                    beliefs = updated_batch_anyway(beliefs, now, answers)
            continue
        for item in np.flatnonzero((some != MISSING).any(axis=0)).tolist():
            beliefs = start_beliefs(bank, len(some))
            for other in range(codes.shape[1]):
                if other != item and (some[:, other] != MISSING).any():
                    now = np.where(some[:, other] == MISSING, MISSING, other)
                    beliefs = updated_batch_anyway(beliefs, now, some[:, other].astype(np.intp))
            chances = beliefs.predict([item])[:, 0]
            table[:, item, : chances.shape[1]] = chances
    return predicted


def _chart(
    chances: Floats,
    answers: NDArray[np.intp],
    rows: NDArray[np.intp],
    shift: float,
    false_alarm: float,
    rng: np.random.Generator,
) -> DriftChart:
    tilt = np.exp(shift * np.arange(chances.shape[1]))
    constant = np.log(chances @ tilt)
    sums = np.concatenate([[0.0], np.cumsum(shift * answers - constant)])
    lowest = np.minimum.accumulate(sums)
    chart = (sums - lowest)[1:]
    reached = np.cumsum(chances, axis=1)[:, :-1]
    simulated: list[Floats] = []
    together = max(1, _CELLS // len(answers))
    for first in range(0, _CHARTS, together):
        luck = rng.random((min(together, _CHARTS - first), len(answers)))
        drawn = sum((luck > edge).astype(np.float64) for edge in reached.T)
        walk = np.cumsum(shift * np.asarray(drawn) - constant, axis=1)
        walk = np.concatenate([np.zeros((len(walk), 1)), walk], axis=1)
        simulated.append((walk - np.minimum.accumulate(walk, axis=1)).max(axis=1))
    ends = np.concatenate(simulated)
    limit = float(np.quantile(ends, 1 - false_alarm, method="higher"))
    largest = float(chart.max())
    over = np.flatnonzero(chart > limit + 1e-9)
    noticed = began = None
    if len(over):
        noticed = int(rows[over[0]])
        began = int(rows[np.flatnonzero(sums[: over[0] + 1] <= lowest[over[0]] + 1e-12)[-1]])
    p_value = float((1 + np.count_nonzero(ends >= largest - 1e-9)) / (1 + len(ends)))
    return DriftChart(largest=largest, limit=limit, p_value=p_value, noticed=noticed, began=began)
