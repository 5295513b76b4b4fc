"""A learned bank judged as a whole: its fit, its Q-matrix, and its items, also in groups."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, parts_of, picked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.items.name_match import names_shown
from bnmind.adaptive.learning.fit.dif import FunctioningOptions, ItemFunctioning, item_functioning
from bnmind.adaptive.learning.fit.item_fit import ItemFit, PairFit, item_fit, pair_fit
from bnmind.adaptive.learning.fit.limited_information import LimitedInformation, limited_information
from bnmind.adaptive.learning.fit.q_validation import (
    QValidation,
    predicted_cutoff,
    validate_qmatrix,
)
from bnmind.adaptive.learning.fit.reduced_models import (
    ReducedModel,
    reduced_models,
    reduced_models_by_ratio,
)
from bnmind.adaptive.learning.groups import learn_groups
from bnmind.adaptive.learning.irt import has_curves
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.errors import BnmindError

__all__ = ["Judgment", "judge"]

_T = TypeVar("_T")

_PAIRS_SHOWN = 5
_ROWS_SHOWN = 60
_TESTED = ("item", "statistic", "degrees", "differences", "anchors")
_INTERRUPTED = "interrupted"
"""The reason why a part is missing after Ctrl-C."""

_Report: TypeAlias = Callable[[int, int | None], None]
_Runner: TypeAlias = Callable[[str, Callable[[_Report], Any]], Any]


@dataclass(frozen=True, eq=False, kw_only=True)
class Judgment(Result, Value):
    """How well a learned bank fits, and what to change. Created by `judge`.

    A part that cannot be computed is a text that says why; one that was not asked for is empty.
    """

    learned: Learned
    """The learned bank."""
    fit: LimitedInformation | str
    """The fit of the whole model."""
    pairs: tuple[PairFit, ...] | str
    """The fit of pairs of items, the worst first."""
    items: tuple[ItemFit, ...] | str
    """The fit of each item."""
    proposals: QValidation | str = ""
    """The skills that the items seem to need."""
    models: tuple[ReducedModel, ...] | str = ""
    """Wald tests of simpler models of the items."""
    ratios: tuple[ReducedModel, ...] | str = ""
    """Likelihood-ratio tests of the same models."""
    functioning: tuple[ItemFunctioning, ...] | str = ""
    """Tests of the items in the groups of the examinees."""
    groups: FunctioningOptions | None = None
    """How the items were tested in the groups."""
    abilities: Mapping[str, tuple[float, float]]
    """The mean and the standard deviation of the ability in each group; empty for skills."""
    interrupted: bool = False
    """Whether Ctrl-C ended the computations before the last one."""

    def to_dict(self) -> dict[str, Any]:
        """Return all results as a record for JSON."""
        fit, proposals = self.fit, self.proposals
        whole = {"reason": fit} if isinstance(fit, str) else fit.to_dict()
        nothing: dict[str, Any] = {"cutoff": None, "qmatrix": []}
        record = {
            **picked(self.learned, "log_likelihood", "aic", "bic", parameters="n_parameters"),
            "fit": whole,
            "pairs": [
                picked(
                    *(pair, "items", "correlation"),
                    expected="expected_correlation",
                    z="correlation_z",
                    p="correlation_p",
                )
                for pair in _known(self.pairs)
            ],
            "items": [
                picked(item, "rmsd", "s_x2", name="item", p="p_value", complete="n_complete")
                for item in _known(self.items)
            ],
            **(nothing if isinstance(proposals, str) else proposals.to_dict()),
            "models": {one.item: one.chosen for one in _known(self.models)},
            "model_tests": [one.to_dict() for one in (*_known(self.models), *_known(self.ratios))],
            "groups": [picked(one, *_TESTED, p="p_value") for one in _known(self.functioning)],
            "abilities": {
                name: {"mean": mean, "deviation": deviation}
                for name, (mean, deviation) in self.abilities.items()
            },
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        learned, fit = self.learned, self.fit
        yield (
            f"{counted(len(learned.responses), 'examinee')},"
            f" {counted(len(learned.bank.items), 'item')}."
            f" Log-likelihood {learned.log_likelihood:.2f},"
            f" {counted(learned.n_parameters, 'parameter')}, AIC {learned.aic:.2f}, BIC"
            f" {learned.bic:.2f}."
        )
        yield from [f"No M2: {fit}."] if isinstance(fit, str) else parts_of(fit)
        if not isinstance(self.pairs, str):
            yield Table(
                ("worst pairs", "correlation", "expected", "z", "corrected p"),
                [
                    (
                        ", ".join(pair.items),
                        f"{pair.correlation:.3f}",
                        f"{pair.expected_correlation:.3f}",
                        f"{pair.correlation_z:.2f}",
                        f"{pair.correlation_p:.3g}",
                    )
                    for pair in self.pairs[:_PAIRS_SHOWN]
                ],
            )
        yield from self._shown_items()
        yield from self._shown_models()
        if not isinstance(self.proposals, str):
            yield from parts_of(self.proposals)
        for what, reason in (
            ("proposals for the Q-matrix", self.proposals),
            ("tests of simpler models", self.models),
            ("tests of groups", self.functioning),
        ):
            if isinstance(reason, str) and reason:
                yield f"No {what}: {reason}."
        if not isinstance(self.functioning, str):
            yield from self._shown_groups(self.functioning)

    def _shown_items(self) -> Iterator[str | Table]:
        items, n = _known(self.items), len(self.learned.responses)
        rows = [(one.item, f"{one.rmsd:.3f}", _p_text(one.p_value)) for one in items]
        yield from _first(("item", "RMSD", "p of S-X2, uncorrected"), rows)
        complete = items[0].n_complete if items else 0
        if items and not complete:
            yield "S-X2 needs examinees who answered all items; there are none."
        elif any(item.degrees for item in items) and complete < n:
            yield f"S-X2 is from the {complete:,} of {n:,} examinees who answered all items."

    def _shown_models(self) -> Iterator[str | Table]:
        both = [_known(self.models), _known(self.ratios)]
        for found in both:
            if found:
                yield (
                    f"Simpler models, by the {found[0].method} test: p, corrected for the number of"
                    " items (Holm), and the model that is chosen by the p of each item."
                )
                rows = [
                    (one.item, *(_p_text(test.corrected_p) for test in one.tests), one.chosen)
                    for one in found
                ]
                yield from _first(
                    ("item", *(test.model for test in found[0].tests), "chosen"), rows
                )
        names = [one.item for one, other in zip(*both, strict=False) if one.chosen != other.chosen]
        if names:
            yield (
                f"The two tests choose different models for {names_shown(names)}. Trust the Wald"
                " test: the two-step test rejects too often where the items leave the skills"
                " unclear."
            )

    def _shown_groups(self, found: tuple[ItemFunctioning, ...]) -> Iterator[str | Table]:
        testing = self.groups or FunctioningOptions()
        n_anchors = min(len(one.anchors) for one in found)
        yield (
            "Items in the groups, by likelihood-ratio tests with at least"
            f" {counted(n_anchors, 'anchor')}: p, corrected for the number of items (Holm)."
        )
        rows = [
            (
                one.item,
                f"{one.statistic:.2f}",
                str(one.degrees),
                f"{one.p_value:.3g}",
                ", ".join(f"{value:+.3f}" for value in one.differences),
            )
            for one in sorted(found, key=lambda one: one.p_value)[:_ROWS_SHOWN]
        ]
        yield Table(("item", "gain", "degrees", "corrected p", "difference of the score"), rows)
        first, *others = sorted(set(self.learned.responses.groups))
        yield (
            f"Difference: {', '.join(others)} minus {first}, of the expected score of examinees"
            f" with the same {'ability' if self.abilities else 'skills'}."
        )
        flagged = sum(one.p_value < testing.alpha for one in found)
        if flagged > 1 and testing.anchors is None and not testing.purify:
            yield (
                f"{flagged} items differ, and each was an anchor for the others, so some may only"
                " seem to. purify=True removes them from the anchors and tests again."
            )
        if self.abilities:
            moments = [
                (name, f"{mean + (0.0 if abs(mean) >= 5e-4 else -mean):.3f}", f"{deviation:.3f}")
                for name, (mean, deviation) in self.abilities.items()
            ]
            yield Table(("group", "mean ability", "standard deviation"), moments)


def _known(results: tuple[_T, ...] | str) -> tuple[_T, ...]:
    """Return results; none if there is a reason instead."""
    return () if isinstance(results, str) else results


def _first(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str | Table]:
    """Yield the first rows of a table, and the number of the others."""
    yield Table(heads, rows[:_ROWS_SHOWN])
    if len(rows) > _ROWS_SHOWN:
        yield f"  and {len(rows) - _ROWS_SHOWN} more"


def _p_text(p: float) -> str:
    return "–" if math.isnan(p) else f"{p:.3g}"


class _Parts:
    """The parts of a judgment, one after the other, until Ctrl-C."""

    def __init__(self, runner: _Runner) -> None:
        self.runner, self.interrupted = runner, False

    def part(self, what: str, compute: Callable[[_Report], _T]) -> _T | str:
        """Return a part, or why there is none."""
        if not self.interrupted:
            try:
                found: _T = self.runner(what, compute)
                return found
            except BnmindError as fault:
                return str(fault)
            except KeyboardInterrupt:
                self.interrupted = True
        return _INTERRUPTED


@checked
def judge(
    learned: Learned,
    *,
    cutoff: float | None = 0.95,
    alpha: float = 0.05,
    groups: FunctioningOptions | None = None,
    runner: Callable[[str, Callable[[Any], Any]], Any] | None = None,
) -> Judgment:
    """Return how well a learned bank fits: the model, pairs of items, items, and the Q-matrix.

    If all items have G-DINA models, which assume least about how skills act together, other skills
    of the items are proposed, and simpler models of them tested. After Ctrl-C, the judgment has
    the parts computed so far.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.
    cutoff
        As for `validate_qmatrix`; None for `predicted_cutoff`.
    alpha
        As for `reduced_models_by_ratio`.
    groups
        How items are tested in the groups of the responses; by default they are not.
    runner
        Called for each part with a few words about it and a function, whose result it returns. The
        function takes another one, to report progress. By default it is simply called.

    Examples
    --------
    >>> from bnmind.adaptive import Examinees, Gdina, ItemBank, learn
    >>> q = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
    >>> seen = Examinees.drawn(ItemBank.from_qmatrix(q, 0.1, 0.1), 1000, seed=1).responses
    >>> found = judge(learn(seen, q, gate=Gdina))
    >>> [(item.item, item.chosen) for item in found.models]
    [('item_3', 'dina'), ('item_6', 'dina')]
    """
    parts = _Parts(runner or (lambda what, compute: compute(lambda done, total: None)))
    data = learned.responses
    found: dict[str, Any] = {
        "fit": parts.part("testing the fit", lambda _: limited_information(learned)),
        "pairs": parts.part("comparing pairs of items", lambda _: pair_fit(learned)),
        "items": parts.part("comparing items", lambda _: item_fit(learned)),
    }
    if all(isinstance(item.gate, Gdina) for item in learned.bank.items):
        chosen = predicted_cutoff(learned) if cutoff is None else cutoff
        found["proposals"] = parts.part(
            "checking the Q-matrix", lambda _: validate_qmatrix(learned, cutoff=chosen)
        )
        found["models"] = parts.part(
            "comparing models", lambda _: reduced_models(learned, alpha=alpha)
        )
        if not isinstance(found["models"], str):
            found["ratios"] = parts.part(
                "testing models",
                lambda report: reduced_models_by_ratio(learned, alpha=alpha, progress=report),
            )
    abilities: Mapping[str, tuple[float, float]] = {}
    if groups is not None:
        found["functioning"] = parts.part(
            "testing items",
            lambda report: item_functioning(
                data, learned.bank, testing=groups, options=learned.options, progress=report
            ),
        )
        if has_curves(learned.bank) and not isinstance(found["functioning"], str):
            together = parts.part(
                "learning groups",
                lambda report: learn_groups(
                    data, learned.bank, options=learned.options, progress=report
                ),
            )
            abilities = {} if isinstance(together, str) else together.abilities
    return Judgment(
        learned=learned,
        **found,
        groups=groups,
        abilities=abilities,
        interrupted=parts.interrupted,
    )
