r"""What simulated tests are measured by after every answer, and their results.

==============  ==================================================================
symbol          name here
==============  ==================================================================
P(X=r | e)      ``Moment.predicted``: the response r to item X given the answers e;
                for an answered item, as if it were asked again
x               ``Moment.responses``: the examinee's answer, asked or not
½ Σ_r (P−[r=x])²  ``brier_score``; with two responses (P(X=1) − x)²
ln P(X=x | e)   ``log_score``
==============  ==================================================================

References
----------
G. Brier, "Verification of forecasts expressed in terms of probability", Mon. Weather Rev.
1950; I. J. Good, "Rational decisions", J. R. Stat. Soc. B 1952 (the logarithmic score); H.
Huebner and C. Wang, "A note on comparing examinee classification methods for cognitive
diagnosis models", Educ. Psychol. Meas. 2011 (patterns and attributes).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._display import Result, Table, finite, frame_html
from bnmind._messages import counted, percent
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs import MISSING, BatchBelief, BatchProfiles, Responses
from bnmind.adaptive.estimates import ability_deviation, expected_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.models import GradedResponse, Logistic
from bnmind.adaptive.responses import Levels
from bnmind.adaptive.stopping import Reasons
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats

if TYPE_CHECKING:
    import pandas as pd

_TIE = 1e-12
"""Probabilities closer than this count as equal."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Moment(Value):
    """The state of some tests between two questions, as input to measures."""

    beliefs: BatchBelief
    """The belief about each examinee."""
    responses: Responses
    """``(examinees, items)``, the answers to all items, asked or not; `MISSING` if unknown."""
    asked: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the items asked."""
    levels: Levels
    """``(examinees, skills)``, the true levels; `MISSING` where unknown."""
    abilities: Floats
    """``(examinees,)``, the true abilities; NaN where unknown."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.beliefs.bank

    @cached_property
    def predicted(self) -> Floats:
        """The probability of each response, ``(examinees, items, responses)``."""
        beliefs, bank = self.beliefs, self.bank
        width = max(channel.shape[1] for channel in bank.item_channels)
        predicted = np.zeros((len(beliefs), len(bank.items), width))
        # Items of one cause are predicted together, several times as fast as one by one.
        for number in range(len(bank.causes)):
            items = np.flatnonzero(bank.cause_numbers == number)
            channels = bank.channels([bank.item_names[i] for i in items])
            masses = beliefs.masses(items[:1])[:, 0]
            predicted[:, items, : channels.shape[2]] = np.tensordot(masses, channels, axes=(1, 1))
        return sealed(predicted)

    @cached_property
    def chances(self) -> Floats:
        """The predicted probability of each answer, ``(examinees, items)``."""
        numbers = np.maximum(self.responses, 0).astype(np.intp)[..., None]
        return sealed(np.take_along_axis(self.predicted, numbers, axis=2)[..., 0])

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """Whether the most probable response is the answer; ties go to the better response."""
        predicted = self.predicted
        if predicted.shape[2] == 2:
            best = (predicted[..., 1] >= 0.5 - _TIE).astype(np.intp)
        else:
            near = predicted >= predicted.max(axis=2, keepdims=True) - _TIE
            best = predicted.shape[2] - 1 - np.argmax(near[..., ::-1], axis=2)
        return sealed(best == self.responses)

    @cached_property
    def classified(self) -> Levels:
        """The most probable level of each skill, ``(examinees, skills)``."""
        widths = [self.bank.variable(skill).n_states for skill in self.bank.skills]
        parts = np.split(self.marginals, np.cumsum(widths)[:-1], axis=1)
        return sealed(np.stack([part.argmax(axis=1) for part in parts], axis=1))

    @cached_property
    def marginals(self) -> Floats:
        """The probability of each level of each skill, ``(examinees, levels of all skills)``."""
        parts = [self.beliefs.marginal(skill) for skill in self.bank.skills]
        return sealed(np.concatenate(parts, axis=1))

    @cached_property
    def profile(self) -> BatchProfiles:
        """The most probable profile of each examinee."""
        return self.beliefs.profile()

    @checked
    def mean_of_answers(
        self, values: Floats | NDArray[np.bool_], among: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return for each examinee the mean of values over the answers; NaN without answers.

        Parameters
        ----------
        values
            ``(examinees, items)``.
        among
            ``(examinees, items)``, a mask of the items to include; default all.
        """
        is_included = self.responses != MISSING
        counted = number_array(values, "values")
        check_shape(counted, "values", is_included.shape)
        if among is not None:
            check_shape(among, "among", is_included.shape)
            is_included = is_included & among
        return _share(np.where(is_included, counted, 0.0).sum(axis=1), is_included.sum(axis=1))


_Function: TypeAlias = Callable[[Moment], Floats]


@dataclass(frozen=True)
class Measure(Value):
    """A measure of each test, taken after each answer.

    Parameters
    ----------
    name
        The name of the column in data frames.
    function
        A function of a `Moment` that returns a number for each examinee, ``(examinees,)``;
        NaN where undefined. With several workers it must be possible to pickle it.
    label
        The label in plots; if empty, the name.
    of_answers
        Whether it is a mean over the answers of an examinee. Means over examinees are then
        weighted by the number of answers, so that they are means over all answers.
    is_share
        Whether it is within 0 and 1, as shares and probabilities are. Confidence bands of its means
        then are, too.
    """

    name: str
    function: _Function
    label: str = ""
    of_answers: bool = field(default=False, kw_only=True)
    is_share: bool = field(default=False, kw_only=True)


def _share(parts: NDArray[Any], wholes: NDArray[Any]) -> Floats:
    shares = np.full(len(wholes), np.nan)
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return shares


_MEASURES: dict[str, Measure] = {}
MEASURES: Mapping[str, Measure] = MappingProxyType(_MEASURES)
"""The measures by name."""


def _measure(
    name: str, label: str, *, of_answers: bool = False, is_share: bool = False
) -> Callable[[_Function], _Function]:
    """Return a decorator that makes a function one of the `MEASURES`; see `Measure`."""

    def register(function: _Function) -> _Function:
        _MEASURES[name] = Measure(name, function, label, of_answers=of_answers, is_share=is_share)
        return function

    return register


@_measure("accuracy", "answers predicted, all", of_answers=True, is_share=True)
def _accuracy(moment: Moment) -> Floats:
    """Return the share of all answers, of asked items too, that are predicted by P(X | e) ≥ ½."""
    return moment.mean_of_answers(moment.hits)


@_measure("unasked_accuracy", "answers predicted, not asked", is_share=True)
def _unasked_accuracy(moment: Moment) -> Floats:
    """Return the share of the answers to items not asked yet that are predicted correctly."""
    return moment.mean_of_answers(moment.hits, ~moment.asked)


@_measure("brier_score", "Brier score", of_answers=True, is_share=True)
def _brier_score(moment: Moment) -> Floats:
    """Return the mean Brier score over all answers; 0 is perfect."""
    if moment.predicted.shape[2] == 2:
        return moment.mean_of_answers((1 - moment.chances) ** 2)
    squares = (moment.predicted**2).sum(axis=2)
    return moment.mean_of_answers((squares - 2 * moment.chances + 1) / 2)


@_measure("log_score", "log score, natural", of_answers=True)
def _log_score(moment: Moment) -> Floats:
    """Return the mean natural logarithm of the probability of the answers; 0 is perfect."""
    with np.errstate(divide="ignore"):
        return moment.mean_of_answers(np.log(moment.chances))


@_measure("entropy", "entropy of the skills, bits")
def _entropy(moment: Moment) -> Floats:
    """Return the entropy of all skills jointly, in bits."""
    return moment.beliefs.entropy


@_measure("profile_probability", "probability of the most probable profile", is_share=True)
def _profile_probability(moment: Moment) -> Floats:
    """Return the probability of the most probable profile."""
    return moment.profile.probabilities


@_measure("pattern_accuracy", "profiles classified right", is_share=True)
def _pattern_accuracy(moment: Moment) -> Floats:
    """Return whether the most probable profile is the true profile."""
    known = np.all(moment.levels != MISSING, axis=1)
    if not known.any():
        return np.full(len(known), np.nan)
    right = np.all(moment.profile.levels == moment.levels, axis=1)
    return np.where(known, right, np.nan)


@_measure("attribute_accuracy", "skills classified right", is_share=True)
def _attribute_accuracy(moment: Moment) -> Floats:
    """Return the share of skills whose most probable level is the true level."""
    known = moment.levels != MISSING
    right = (moment.classified == moment.levels) & known
    return _share(right.sum(axis=1), known.sum(axis=1))


@_measure("ability", "ability expected")
def _ability(moment: Moment) -> Floats:
    """Return the mean of the belief about the ability of an IRT bank."""
    return expected_ability(moment.beliefs)


@_measure("ability_deviation", "standard deviation of the ability")
def _ability_deviation(moment: Moment) -> Floats:
    """Return the standard deviation of the belief about the ability."""
    return ability_deviation(moment.beliefs)


@_measure("ability_error", "bias of the ability expected")
def _ability_error(moment: Moment) -> Floats:
    """Return the expected ability minus the true ability; the mean is the bias."""
    return _ability(moment) - moment.abilities


@_measure("ability_squared_error", "mean squared error of the ability")
def _ability_squared_error(moment: Moment) -> Floats:
    """Return the square of `_ability_error`."""
    return _ability_error(moment) ** 2


def measure_of(given: str | Measure) -> Measure:
    """Return a measure that is given itself, or by its name among the `MEASURES`."""
    if not isinstance(given, str):
        return given
    if given not in MEASURES:
        raise UnknownNameError("measure", given, MEASURES)
    return MEASURES[given]


@checked
def default_measures(bank: ItemBank, *, truth: bool) -> tuple[Measure, ...]:
    """Return the default measures of a simulation.

    Parameters
    ----------
    bank
        The bank. The measures are those of abilities for IRT banks, else of profiles.
    truth
        Whether the true levels are known.
    """
    names = ["accuracy", "brier_score", "log_score", "entropy"]
    if len(bank.skills) == 1 and all(
        isinstance(item.gate, Logistic | GradedResponse) for item in bank.items
    ):
        names += ["ability", "ability_deviation"]
        names += ["ability_error", "ability_squared_error"] * truth
    else:
        names += ["pattern_accuracy", "attribute_accuracy"] * truth
    return tuple(MEASURES[name] for name in names)


_NORMAL = 1.959963984540054
"""Half the width of a 95 % confidence band, in standard errors."""


_HEADS = {
    "accuracy": ("answers", "share of all answers that are predicted"),
    "entropy": ("bits", "entropy of the skills"),
    "pattern_accuracy": ("profiles", "share of profiles classified right"),
    "attribute_accuracy": ("skills", "share of skills classified right"),
    "ability_deviation": ("deviation", "standard deviation of the ability"),
    "ability_squared_error": ("squared error", "squared error of the estimated ability"),
}
"""The measures on the terminal: the heads of their columns, and their meaning."""

_ALL_STEPS = 10
"""The most items of a test whose every step has a column."""

_SOME_STEPS = (0, 1, 2, 3, 5, 10, 20, 40)
"""The steps of longer tests that have a column."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectorRun(Value):
    """The results of all tests with one selector."""

    selector: str
    """The name of the selector."""
    asked: NDArray[np.intp]
    """``(examinees, questions)`` positions of items, in order; `MISSING` after the last one."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test ended."""
    set_aside: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the items that exposure control withheld."""
    values: Floats
    """``(measures, examinees, 1 + questions)``; values do not change after the end of a test."""
    classified: Levels
    """``(examinees, skills)``, the most probable level of each skill at the end."""
    impossible: NDArray[np.bool_]
    """``(examinees,)``, whether no profile of the bank's skills explains all answers.

    In these tests each answer counts as an error with a chance of 2**-40."""
    profiles: Levels
    """``(examinees, skills)``, the most probable profile as a whole at the end."""
    probabilities: Floats
    """``(examinees,)``, the probability of that profile."""
    posteriors: Floats
    """``(examinees, 1 + questions, levels)``, the probability of each level of each skill, the
    skills side by side. Without `SimulationOptions.posteriors`, only those at the end of each test,
    ``(examinees, 1, levels)``."""

    @cached_property
    def lengths(self) -> NDArray[np.intp]:
        """``(examinees,)``, the number of items asked in each test."""
        return sealed(np.count_nonzero(self.asked != MISSING, axis=1))

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """``(items,)``, the number of examinees who were asked each item."""
        return sealed(self.asked_mask.sum(axis=0))

    @property
    def exposure(self) -> Floats:
        """``(items,)``, the share of examinees who were asked each item."""
        return sealed(self.counts / len(self.asked))

    @property
    def asked_mask(self) -> NDArray[np.bool_]:
        """``(examinees, items)``, a mask of the items asked."""
        mask = np.zeros(self.set_aside.shape, dtype=bool)
        rows, steps = np.nonzero(self.asked != MISSING)
        mask[rows, self.asked[rows, steps]] = True
        return sealed(mask)

    @property
    def selected(self) -> Floats:
        """``(items,)``, the share of tests in which each item was selected, asked or set aside."""
        return sealed((self.asked_mask | self.set_aside).mean(axis=0))

    @property
    def shared(self) -> Floats:
        """``(items,)``, the share of pairs of examinees who were both asked the item."""
        n, counts = len(self.asked), self.counts
        if n < 2:
            return sealed(np.full(len(counts), np.nan))
        return sealed(counts * (counts - 1) / (n * (n - 1)))

    @property
    def overlap(self) -> float:
        """The mean number of items that two examinees share, divided by the mean length.

        For tests of equal length it is the test overlap rate.

        References
        ----------
        S.-Y. Chen, R. Ankenmann and J. Spray, "The relationship between item exposure and
        test overlap in computerized adaptive testing", J. Educ. Meas. 2003.
        """
        mean = float(self.lengths.mean())
        return float(self.shared.sum()) / mean if mean else float("nan")


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulationResult(Result, Value):
    """The results of a simulation with one or more selectors.

    Data frames are in long form. Means over examinees include finished tests, with their
    final values.
    """

    items: tuple[str, ...]
    """The names of the items."""
    skills: tuple[str, ...]
    """The names of the skills."""
    measures: tuple[Measure, ...]
    """The measures recorded."""
    responses: Responses
    """``(examinees, items)``, the answers to all items."""
    levels: Levels
    """``(examinees, skills)``, the true levels; `MISSING` where unknown."""
    runs: tuple[SelectorRun, ...]
    """The results of each selector, in order."""
    states: tuple[tuple[str, ...], ...]
    """The names of the levels of each skill."""
    examinees: tuple[str, ...] = ()
    """The names of the examinees; empty if they are numbered from 0."""

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.summary, caption=repr(self))

    def __repr__(self) -> str:
        return f"SimulationResult({counted(len(self), 'examinee')}, {', '.join(self.selectors)})"

    def __len__(self) -> int:
        return len(self.responses)

    def to_dict(self) -> dict[str, Any]:
        """Return the curves, lengths and exposures of each selector as a record for JSON."""

        def curve(selector: str, measure: str) -> Mapping[str, Any]:
            mean, error = self.mean(selector, measure)
            return {"mean": mean.tolist(), "standard_error": error.tolist()}

        record = {
            "examinees": len(self),
            "items": len(self.items),
            "skills": self.skills,
            "selectors": [
                {
                    "selector": run.selector,
                    "mean_length": float(run.lengths.mean()),
                    "overlap": run.overlap,
                    "impossible": int(run.impossible.sum()),
                    "exposure": dict(zip(self.items, run.exposure.tolist(), strict=True)),
                    "by_items_asked": {m.name: curve(run.selector, m.name) for m in self.measures},
                }
                for run in self.runs
            ],
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        sizes = f"{counted(len(self), 'examinee')}, {counted(len(self.items), 'item')}"
        yield f"{sizes}. At the end of the tests:"
        columns = [
            ("length", "mean number of items", [f"{r.lengths.mean():.2f}" for r in self.runs])
        ]
        for measure in self.measures:
            if measure.name in _HEADS:
                ends = [self.mean(run.selector, measure.name)[0][-1] for run in self.runs]
                columns.append((*_HEADS[measure.name], [f"{end:.3f}" for end in ends]))
        most = [percent(run.exposure.max()) for run in self.runs]
        shared = ["-" if math.isnan(r.overlap) else percent(r.overlap) for r in self.runs]
        columns += [
            ("exposed", "share of tests with the item that is asked most", most),
            ("overlap", "mean share of items that two tests have in common", shared),
        ]
        heads, meanings, cells = zip(*columns, strict=True)
        yield Table(("selector", *heads), [*zip(self.selectors, *cells, strict=True)])
        width = max(map(len, heads))
        yield from (f"  {h:{width}}   {about}" for h, about in zip(heads, meanings, strict=True))
        for run in self.runs:
            if run.impossible.any():
                yield (
                    f"{run.selector}: by the bank, the answers of"
                    f" {counted(int(run.impossible.sum()), 'examinee')} are impossible together;"
                    " each of these answers counts as an error with a probability of 2^-40."
                )
        differ = any(run.lengths.min() < run.lengths.max() for run in self.runs)
        last = " (the last column: at the end of the tests)" if differ else ""
        steps = _steps(self.n_steps)
        for name in ("accuracy", "pattern_accuracy"):
            if any(measure.name == name for measure in self.measures):
                yield f"{_HEADS[name][1].capitalize()}, by the number of items asked{last}:"
                means = [(one, self.mean(one, name)[0]) for one in self.selectors]
                rows = [(one, *(f"{mean[step]:.3f}" for step in steps)) for one, mean in means]
                yield Table(("selector", *map(str, steps)), rows)

    @cached_property
    def _names(self) -> NDArray[Any]:
        """The names of the examinees, or their numbers from 0, for data frames."""
        return np.array(
            self.examinees or range(len(self)), dtype=object if self.examinees else None
        )

    @property
    def selectors(self) -> tuple[str, ...]:
        """The names of the selectors."""
        return tuple(run.selector for run in self.runs)

    @property
    def n_steps(self) -> int:
        """The number of items of the longest test."""
        return max(int(run.asked.shape[1]) for run in self.runs)

    @checked
    def run_of(self, selector: str) -> SelectorRun:
        """Return the results of a selector.

        Parameters
        ----------
        selector
            The name of a selector.

        Raises
        ------
        UnknownNameError
            If no selector has the name.
        """
        for run in self.runs:
            if run.selector == selector:
                return run
        raise UnknownNameError("selector", selector, self.selectors)

    @checked
    def measure(self, name: str) -> Measure:
        """Return the measure with a name.

        Parameters
        ----------
        name
            The name of a measure, such as ``entropy``.
        """
        return self.measures[self._row(name)]

    @checked
    def values(self, selector: str, measure: str) -> Floats:
        """Return the values of a `measure` with a `selector`, ``(examinees, 1 + steps)``.

        Values do not change after the end of a test.
        """
        values = self.run_of(selector).values[self._row(measure)]
        missing = 1 + self.n_steps - values.shape[1]
        return np.concatenate([values, np.repeat(values[:, -1:], missing, axis=1)], axis=1)

    @checked
    def mean(self, selector: str, measure: str) -> tuple[Floats, Floats]:
        """Return means of a `measure` of a `selector`, and their errors, each ``(1 + steps,)``."""
        return _mean(self.values(selector, measure), self._weights(measure))

    @checked
    def band(self, selector: str, measure: str) -> tuple[Floats, Floats]:
        """Return both ends of 95 % intervals of the `mean` at each step, each ``(1 + steps,)``.

        They are 1.96 standard errors away from the mean. Those of shares (`Measure.is_share`) are
        Wilson's, for as many observations of 0 and 1 as would have the same standard error; if all
        shares are 0, or all are 1, for as many as there are examinees.

        Parameters
        ----------
        selector, measure
            As for `mean`.

        References
        ----------
        E. B. Wilson, "Probable inference, the law of succession, and statistical inference", J. Am.
        Stat. Assoc. 22, 1927; E. L. Korn and B. I. Graubard, "Confidence intervals for proportions
        with small expected number of positive counts estimated from survey data", Survey
        Methodology 24, 1998 (the number of observations).
        """
        mean, error = self.mean(selector, measure)
        if not self.measure(measure).is_share:
            return mean - _NORMAL * error, mean + _NORMAL * error
        n = (~np.isnan(self.values(selector, measure))).sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            same = mean * (1 - mean) * n / ((n - 1) * error**2)
            return share_interval(mean, np.where(mean * (1 - mean) > 0, same, n))

    @checked
    def difference(self, measure: str, selector: str, than: str) -> tuple[Floats, Floats]:
        """Return the mean difference of a measure between two selectors, and its error.

        Both arrays are ``(1 + steps,)``. The differences are paired by examinee, so the
        standard error is smaller than for independent groups.

        Parameters
        ----------
        measure
            The name of the measure.
        selector, than
            The names of the selectors; the values of ``than`` are subtracted.
        """
        values = self.values(selector, measure) - self.values(than, measure)
        return _mean(values, self._weights(measure))

    @property
    def steps(self) -> pd.DataFrame:
        """A row for each selector, examinee and step, up to the end of each test.

        Columns ``selector, examinee, step, item, response`` and one for each measure. Step
        0 is the state before the first question.
        """
        import pandas as pd

        def columns(run: SelectorRun) -> Mapping[str, Any]:
            rows, steps = np.nonzero(np.arange(run.values.shape[2]) <= run.lengths[:, None])
            places = np.pad(run.asked, ((0, 0), (1, 0)), constant_values=MISSING)[rows, steps]
            answers = pd.Series(self.responses[rows, places].astype(np.int64))
            answers = answers.mask((places == MISSING) | (answers == MISSING).to_numpy())
            measured = zip(self.measures, run.values, strict=True)
            return {
                "examinee": self._names[rows],
                "step": steps,
                "item": np.array([*self.items, ""], dtype=object)[places],
                "response": answers.astype("Int64"),
                **{measure.name: values[rows, steps] for measure, values in measured},
            }

        return self._frame(columns)

    @property
    def curves(self) -> pd.DataFrame:
        """A row for each selector, measure and step, with means over all examinees.

        Columns ``selector, measure, step, mean, standard_error, low, high`` (see `band`), and
        ``testing``, the number of tests of at least this length.
        """
        steps, names = np.arange(1 + self.n_steps), [measure.name for measure in self.measures]

        def columns(run: SelectorRun) -> Mapping[str, Any]:
            each = [(*self.mean(run.selector, n), *self.band(run.selector, n)) for n in names]
            stacked = np.hstack([np.empty((4, 0)), *each])
            testing = (run.lengths[:, None] >= steps).sum(axis=0)
            return {
                "measure": np.repeat(np.array(names, dtype=object), len(steps)),
                "step": np.tile(steps, len(names)),
                **dict(zip(("mean", "standard_error", "low", "high"), stacked, strict=True)),
                "testing": np.tile(testing, len(names)),
            }

        return self._frame(columns)

    @property
    def exposure(self) -> pd.DataFrame:
        """A row for each selector and item.

        Columns ``selector, item``, ``asked`` (the number of examinees), ``exposure`` (their
        share), ``selected`` (the share of tests in which it was asked or set aside by
        exposure control), ``overlap`` (the share of pairs of examinees who were both asked).
        """
        return self._frame(
            lambda run: {
                "item": list(self.items),
                "asked": run.counts,
                "exposure": run.exposure,
                "selected": run.selected,
                "overlap": run.shared,
            }
        )

    @property
    def lengths(self) -> pd.DataFrame:
        """A row for each selector and examinee.

        Columns ``selector, examinee, length, reason, impossible``; for the last see
        `SelectorRun.impossible`.
        """
        return self._frame(
            lambda run: {
                "examinee": self._names,
                "length": run.lengths,
                "reason": run.reasons.astype(object),
                "impossible": run.impossible,
            }
        )

    @property
    def people(self) -> pd.DataFrame:
        """A row for each selector and examinee, with the profile at the end of the test.

        Columns ``selector, examinee, length``, ``true_SKILL`` where all true levels are known,
        ``map_SKILL`` and ``map_probability`` (the most probable profile as a whole),
        ``eap_SKILL`` (the expected level: for two levels the probability of having the skill),
        ``level_SKILL`` (the most probable level by itself).
        """
        names = [np.array(states, dtype=object) for states in self.states]
        ends = np.cumsum([len(states) for states in self.states])[:-1]

        def named(head: str, levels: Levels) -> dict[str, Any]:
            each = zip(self.skills, names, levels.T, strict=True)
            known = [one for one in each if np.all(one[2] != MISSING)]
            return {f"{head}_{skill}": states[column] for skill, states, column in known}

        def columns(run: SelectorRun) -> Mapping[str, Any]:
            final = np.split(run.posteriors[:, -1], ends, axis=1)
            each = zip(self.skills, self.states, final, strict=True)
            return {
                "examinee": self._names,
                "length": run.lengths,
                **named("true", self.levels),
                **named("map", run.profiles),
                "map_probability": run.probabilities,
                **{f"eap_{skill}": table @ _values(states) for skill, states, table in each},
                **named("level", run.classified),
            }

        return self._frame(columns)

    @property
    def posteriors(self) -> pd.DataFrame:
        """A row for each selector, examinee, step, skill and level, with the probability.

        Columns ``selector, examinee, step, skill, level, probability``. Without
        `SimulationOptions.posteriors`, only the last step of each test.
        """
        pairs = [
            (skill, state)
            for skill, states in zip(self.skills, self.states, strict=True)
            for state in states
        ]

        def columns(run: SelectorRun) -> Mapping[str, Any]:
            kept, n = run.posteriors.shape[1], len(pairs)
            # Where only those at the end are kept, they are in the first place.
            rows, at = np.nonzero(np.arange(kept) <= run.lengths[:, None])
            skills, levels = np.tile(np.array(pairs, dtype=object).T, len(rows))
            return {
                "examinee": np.repeat(self._names[rows], n),
                "step": np.repeat(at if kept > 1 else run.lengths, n),
                "skill": skills,
                "level": levels,
                "probability": run.posteriors[rows, at].reshape(-1),
            }

        return self._frame(columns)

    @property
    def attributes(self) -> pd.DataFrame:
        """A row for each selector and skill whose true level is known.

        Columns ``selector, skill, examinees`` (their number), ``accuracy`` (the share whose
        most probable level at the end of the test is the true level), ``low, high`` (Wilson's 95 %
        interval of the share).
        """
        import pandas as pd

        rows = []
        for run in self.runs:
            for column, skill in enumerate(self.skills):
                known = self.levels[:, column] != MISSING
                if known.any():
                    right = run.classified[known, column] == self.levels[known, column]
                    share, n = float(right.mean()), int(known.sum())
                    low, high = share_interval(share, n)
                    rows.append((run.selector, skill, n, share, float(low), float(high)))
        columns = ["selector", "skill", "examinees", "accuracy", "low", "high"]
        return pd.DataFrame(rows, columns=columns)

    @property
    def summary(self) -> pd.DataFrame:
        """A row for each selector, with lengths, exposure, and each measure at the end.

        Columns ``selector, examinees, mean_length, sd_length, largest_exposure, overlap``, and
        one for each measure.
        """
        return self._frame(
            lambda run: {
                "examinees": [len(self)],
                "mean_length": run.lengths.mean(),
                "sd_length": run.lengths.std(),
                "largest_exposure": run.exposure.max(),
                "overlap": run.overlap,
                **{m.name: self.mean(run.selector, m.name)[0][-1] for m in self.measures},
            }
        )

    def _frame(self, columns: Callable[[SelectorRun], Mapping[str, Any]]) -> pd.DataFrame:
        """Return a data frame of the columns of each selector, one selector after the other."""
        import pandas as pd

        frames = [pd.DataFrame({"selector": run.selector, **columns(run)}) for run in self.runs]
        return pd.concat(frames, ignore_index=True)

    def _row(self, measure: str) -> int:
        names = [one.name for one in self.measures]
        if measure not in names:
            raise UnknownNameError("measure", measure, names)
        return names.index(measure)

    def _weights(self, measure: str) -> Floats:
        if not self.measure(measure).of_answers:
            return np.ones(len(self))
        counts: Floats = (self.responses != MISSING).sum(axis=1).astype(np.float64)
        return counts


def _values(states: Sequence[str]) -> Floats:
    """Return the points of an ability, else the positions of the levels."""
    try:
        return np.array([float(state) for state in states])
    except ValueError:
        return np.arange(float(len(states)))


def _steps(n_steps: int) -> list[int]:
    """Return the numbers of items that have a column: all of a short test.

    >>> _steps(4), _steps(15)
    ([0, 1, 2, 3, 4], [0, 1, 2, 3, 5, 10, 15])
    """
    if n_steps <= _ALL_STEPS:
        return list(range(n_steps + 1))
    return [*(step for step in _SOME_STEPS if step < n_steps), n_steps]


def _mean(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weighted means of columns and their standard errors, ignoring NaN."""
    is_known = ~np.isnan(values)
    weight = np.where(is_known, weights[:, None], 0.0)
    known = np.where(is_known, values, 0.0)
    total, n = weight.sum(axis=0), is_known.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = (weight * known).sum(axis=0) / total
        squares = (weight**2 * (known - mean) ** 2).sum(axis=0)
        error = np.sqrt(squares * n / (n - 1)) / total
    return mean, error


def share_interval(share: ArrayLike, n: ArrayLike) -> tuple[Floats, Floats]:
    """Return the ends of Wilson's 95 % interval of a share of n observations, within 0 and 1.

    Examples
    --------
    >>> low, high = share_interval([0.5, 1.0], 20)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.299, 0.839], [0.701, 1.0])
    """
    p, extra = np.asarray(share, dtype=np.float64), _NORMAL**2 / np.asarray(n)
    center = (p + extra / 2) / (1 + extra)
    half = np.sqrt(extra * (p * (1 - p) + extra / 4)) / (1 + extra)
    return np.clip(center - half, 0.0, p), np.clip(center + half, p, 1.0)


def joined_runs(parts: Sequence[SelectorRun], order: ArrayLike) -> SelectorRun:
    """Return the results of several groups of examinees as one run.

    Parameters
    ----------
    parts
        The results of the groups, for the same selector.
    order
        For each examinee, the position in the concatenation of the groups.
    """
    if len({part.selector for part in parts}) != 1:
        raise InvalidArgumentError("runs of different selectors cannot be joined")
    rows = np.asarray(order)
    joined: dict[str, Any] = {}
    for one in fields(SelectorRun)[1:]:
        arrays = [getattr(part, one.name) for part in parts]
        people = 1 if one.name == "values" else 0
        if one.name in ("asked", "values", "posteriors"):
            # Shorter tests keep their last values, and ask nothing any more.
            steps = [array.shape[people + 1] for array in arrays]
            how: dict[str, Any] = {"mode": "edge"}
            if one.name == "asked":
                how = {"constant_values": MISSING}
            arrays = [_widened(array, people + 1, max(steps), **how) for array in arrays]
        joined[one.name] = np.concatenate(arrays, axis=people).take(rows, axis=people)
    return replace(parts[0], **joined)


def _widened(array: NDArray[Any], axis: int, width: int, **how: Any) -> NDArray[Any]:
    """Return an array with more values at the end of an axis, as `numpy.pad` fills them."""
    more = [(0, 0)] * array.ndim
    more[axis] = (0, width - array.shape[axis])
    return np.pad(array, more, **how)
