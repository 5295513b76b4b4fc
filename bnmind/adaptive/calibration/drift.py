r"""Drift: whether an item is answered otherwise than its parameters predict, from some time on.

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
E. Page, "Continuous inspection schemes", Biometrika 1954; W. Veerkamp and C. Glas, "Detection of
known items in adaptive testing with a statistical quality control method", J. Educ. Behav. Stat.
2000; A. P. Dawid, "The prequential approach", J. R. Stat. Soc. A 1984.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, whole_array
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING, updated_batch_anyway
from bnmind.adaptive.beliefs.estimates import start_beliefs
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of
from bnmind.adaptive.responses.responses import Responses, responses_to
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas

__all__ = ["Drift", "DriftChart", "ItemDrift", "item_drift"]

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
    asked: ArrayLike | None = None,
    pilot: Sequence[str] = (),
    shift: float = 0.5,
    false_alarm: float = 0.01,
) -> Drift:
    """Return for each item that was answered whether its answers drift from the predictions.

    Parameters
    ----------
    bank
        The bank, or what `learn` returns; best an averaged bank: errors of the
        parameters look like drift. An item that drifts much also makes the answers to others of its
        skills look strange, so correct or leave out the worst one first.
    responses
        The responses, or a table of them as for `Responses.of`; examinees in the order of time.
    rng
        The source of random numbers for the limits.
    asked
        ``(examinees, questions)``, the columns of the items in the order asked, −1 at the end;
        see `AnsweredTests`. None if the items asked did not depend on the answers.
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
        If a number is out of range, or ``asked`` does not fit.
    UnknownNameError
        If the bank has no such item.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees
    >>> bank = ItemBank.from_qmatrix([[1, 0], [0, 1]] * 4, guess=0.2, slip=0.1)
    >>> codes = np.array(Examinees.drawn(bank, 600, seed=1).responses)
    >>> codes[300:, 2] = 1  # the answer has become known
    >>> found = item_drift(bank, Responses.of(codes), rng=np.random.default_rng(1))
    >>> max(found, key=lambda row: row.easier.largest - row.easier.limit).item
    'item_3'
    >>> 300 <= found[2].easier.noticed < 400
    True
    """
    if not 0 < shift <= 10 or not 0 < false_alarm < 1:
        raise InvalidArgumentError(
            "expected a shift in (0, 10] and a probability of false alarms in (0, 1), got"
            f" {shift} and {false_alarm}",
            (shift, false_alarm),
        )
    bank = bank_of(bank)
    data = responses_to(bank, responses)
    columns = np.array([bank.position(name) for name in data.items], dtype=np.intp)
    codes = np.full((len(data), len(bank.items)), MISSING, dtype=np.int16)
    codes[:, columns] = data.codes
    codes[:, [bank.position(name) for name in pilot]] = MISSING
    order = None
    if asked is not None:
        given = whole_array(asked, "asked")
        fits = given.ndim == 2 and len(given) == len(codes)
        if not fits or np.any((given < MISSING) | (given >= len(columns))):
            raise InvalidArgumentError(
                f"expected asked as columns of the responses, a row for each of {len(codes)}"
                " examinees",
                asked,
            )
        order = np.where(given == MISSING, MISSING, columns[given])
    predicted = _predictions(bank, codes, order)
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
    bank: ItemBank, codes: NDArray[np.int16], order: NDArray[np.intp] | None
) -> Floats:
    """Return the predicted chances of the answers, ``(examinees, items, responses)``."""
    widest = max(len(bank.responses(name)) for name in bank.item_names)
    predicted = np.zeros((*codes.shape, widest))
    for start in range(0, len(codes), _CHUNK):
        part = slice(start, start + _CHUNK)
        some, table = codes[part], predicted[part]
        rows = np.arange(len(some))
        if order is not None:
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
