"""Overall fit, proposals of skills, simpler models and groups, as ``bnmind judge`` shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from bnmind._messages import counted
from bnmind.cli.shared.terminal import Report, plain_table, show_table, tell_json, terminal, working
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import (
        ItemFit,
        ItemFunctioning,
        Learned,
        LimitedInformation,
        QValidation,
        ReducedModel,
    )

__all__ = [
    "Steps",
    "cutoff_of",
    "fit_line",
    "functioning_json",
    "named_items",
    "show_compared",
    "show_functioning",
    "show_items",
    "show_models",
    "show_proposals",
    "show_trust",
    "tested_models_json",
]

_SHOWN = 60

_INTERRUPTED = "interrupted"
"""The reason why a result is missing after Ctrl-C."""

_Result = TypeVar("_Result")


def cutoff_of(text: str) -> float | None:
    """Return the cutoff that an option names; None if it is to be predicted."""
    if text.lower() == "predicted":
        return None
    try:
        cutoff = float(text)
    except ValueError:
        cutoff = math.nan
    if not 0 < cutoff < 1:
        raise BnmindError(
            f"expected a number between 0 and 1 for --cutoff, or predicted, got {text!r}"
        )
    return cutoff


_IN_GDINA = frozenset(("dina", "dino", "acdm", "llm", "rrum"))
"""The response models that G-DINA contains, with the same Q-matrix."""


def show_compared(models: Mapping[str, Learned], *, as_json: bool) -> None:
    """Show the relative fit of models of the same responses, the smallest BIC first."""
    from bnmind.adaptive import compare_models, likelihood_ratio
    from bnmind.adaptive.response_models.registry import gate_name

    models = {gate_name(name): model for name, model in models.items()}
    found = compare_models(models)
    larger = models.get("gdina")
    ratios = {}
    if larger is not None:
        ratios = {
            name: likelihood_ratio(smaller, larger)
            for name, smaller in models.items()
            if name in _IN_GDINA and smaller.n_parameters < larger.n_parameters
        }
    rows = sorted(found.models, key=lambda model: model.bic)
    if as_json:
        content = [dict(vars(row)) for row in rows]
        for model in content:
            if model["name"] in ratios:
                model["p_against_gdina"] = ratios[model["name"]].p_value
        best = {"best_by_aic": found.best_by_aic, "best_by_bic": found.best_by_bic}
        tell_json({"models": content, **best})
        return
    console = terminal()
    heads = ("model", "log-likelihood", "parameters", "AIC", "BIC", "CAIC", "SABIC")
    table = plain_table(*heads, *(["p against gdina"] if ratios else []))
    for row in rows:
        cells = [row.name, f"{row.log_likelihood:.2f}", str(row.n_parameters)]
        cells += [f"{value:.2f}" for value in (row.aic, row.bic, row.caic, row.sabic)]
        if ratios:
            cells.append(f"{ratios[row.name].p_value:.3g}" if row.name in ratios else "")
        table.add_row(*cells)
    show_table(console, table)
    by_aic, by_bic = found.best_by_aic, found.best_by_bic
    told = f"AIC prefers {by_aic}, BIC {by_bic}"
    if by_aic == by_bic:
        told = f"AIC and BIC prefer {by_bic}"
    console.print(f"{told}; smaller is better.", soft_wrap=True)
    if ratios:
        console.print(
            "p is that of a likelihood-ratio test. If it is small, gdina fits better than the"
            " smaller model does, by more than chance.",
            soft_wrap=True,
        )


def show_items(items: Sequence[ItemFit], n_examinees: int) -> None:
    """Show the fit of each item."""
    console = terminal()
    table = plain_table("item", "RMSD", "p of S-X2, uncorrected")
    for item in items[:_SHOWN]:
        row = [item.item, f"{item.rmsd:.3f}"]
        row.append("–" if math.isnan(item.p_value) else f"{item.p_value:.3g}")
        table.add_row(*row)
    show_table(console, table)
    if len(items) > _SHOWN:
        console.print(f"  and {len(items) - _SHOWN} more")
    complete = items[0].n_complete if items else 0
    if items and not complete:
        console.print("S-X2 needs examinees who answered all items; there are none.")
    elif any(item.degrees for item in items) and complete < n_examinees:
        console.print(
            f"S-X2 is from the {complete:,} of {n_examinees:,} examinees who answered all items."
        )


def show_models(found: Sequence[ReducedModel]) -> None:
    """Show the corrected p-values of the simpler models of each item, and the chosen models."""
    console = terminal()
    console.print(
        f"Simpler models, by the {found[0].method} test: p, corrected for the number of items"
        " (Holm), and the model that is chosen by the p of each item.",
        soft_wrap=True,
    )
    table = plain_table("item", *(test.model for test in found[0].tests), "chosen")
    for one in found[:_SHOWN]:
        cells = [
            "–" if math.isnan(test.corrected_p) else f"{test.corrected_p:.3g}" for test in one.tests
        ]
        table.add_row(one.item, *cells, one.chosen)
    show_table(console, table)
    if len(found) > _SHOWN:
        console.print(f"  and {len(found) - _SHOWN} more")


def show_trust(by_wald: Sequence[ReducedModel], by_ratio: Sequence[ReducedModel]) -> None:
    """Say which test to trust, if the two choose different models for some items."""
    from bnmind.adaptive.items.name_match import names_shown

    pairs = zip(by_wald, by_ratio, strict=True)
    names = [one.item for one, other in pairs if one.chosen != other.chosen]
    if not names:
        return
    if by_ratio[0].method.startswith("two-step"):
        trust = (
            "the Wald test: the two-step test rejects too often where the items leave the skills"
            " unclear. --refit settles it, with a test that learns the model again"
        )
    else:
        trust = "the likelihood-ratio test, which learned the model again for each test"
    terminal().print(
        f"The two tests choose different models for {names_shown(names)}. Trust {trust}.",
        soft_wrap=True,
    )


def show_proposals(proposals: QValidation | str) -> None:
    """Show the items for which other skills are proposed."""
    console = terminal()
    if isinstance(proposals, str):
        if proposals:
            console.print(f"No proposals for the Q-matrix: {proposals}.", soft_wrap=True)
        return
    if not proposals.changes:
        console.print("The responses propose no change of the Q-matrix.")
        return
    table = plain_table("item", "skills now", "proposed change", "variance, from", "to")
    for item in proposals.changes[:_SHOWN]:
        now, new = item.now.skills, item.proposed.skills
        signs = [f"+{skill}" for skill in new if skill not in now]
        signs += [f"−{skill}" for skill in now if skill not in new]
        table.add_row(
            item.item,
            ", ".join(now),
            ", ".join(signs),
            f"{item.now.share:.1%}",
            f"{item.proposed.share:.1%}",
        )
    show_table(console, table)
    console.print(
        f"Other skills are proposed for {counted(len(proposals.changes), 'item')} (cutoff"
        f" {proposals.cutoff:.3g}). With few"
        " examinees for each profile, proposals name too many skills; ask an expert.",
        soft_wrap=True,
    )


def show_functioning(
    found: Sequence[ItemFunctioning],
    groups: Sequence[str],
    abilities: Mapping[str, tuple[float, float]],
    suspicious: float | None,
) -> None:
    """Show the tests of items in groups, the smallest p first, and the groups' abilities.

    Parameters
    ----------
    found
        The tests.
    groups
        The group of each examinee.
    abilities
        The mean and the deviation of the ability in each group; empty for skills.
    suspicious
        Several items with a smaller p are a reason to test with other anchors; None if the anchors
        were chosen.
    """
    console = terminal()
    n_anchors = min(len(one.anchors) for one in found)
    console.print(
        "Items in the groups, by likelihood-ratio tests with at least"
        f" {counted(n_anchors, 'anchor')}: p, corrected for the number of items (Holm).",
        soft_wrap=True,
    )
    table = plain_table("item", "gain", "degrees", "corrected p", "difference of the score")
    for item in sorted(found, key=lambda one: one.p_value)[:_SHOWN]:
        differences = ", ".join(f"{value:+.3f}" for value in item.differences)
        table.add_row(
            item.item,
            f"{item.statistic:.2f}",
            str(item.degrees),
            f"{item.p_value:.3g}",
            differences,
        )
    show_table(console, table)
    first, *others = sorted(set(groups))
    alike = "ability" if abilities else "skills"
    console.print(
        f"Difference: {', '.join(others)} minus {first}, of the expected score of examinees with"
        f" the same {alike}.",
        soft_wrap=True,
    )
    flagged = sum(one.p_value < suspicious for one in found) if suspicious is not None else 0
    if flagged > 1:
        console.print(
            f"{flagged} items differ, and each was an anchor for the others, so some may only seem"
            " to. --purify removes them from the anchors and tests again.",
            soft_wrap=True,
        )
    if abilities:
        table = plain_table("group", "mean ability", "standard deviation")
        for name, (mean, deviation) in abilities.items():
            mean += 0.0 if abs(mean) >= 5e-4 else -mean
            table.add_row(name, f"{mean:.3f}", f"{deviation:.3f}")
        show_table(console, table)


def functioning_json(found: ItemFunctioning) -> dict[str, Any]:
    """Return the test of an item in groups for JSON."""
    return {
        "item": found.item,
        "statistic": found.statistic,
        "degrees": found.degrees,
        "p": _finite(found.p_value),
        "differences": list(found.differences),
        "anchors": list(found.anchors),
    }


def named_items(text: str | None) -> list[str] | None:
    """Return the items of a list such as ``a, b``; None for None."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def tested_models_json(found: ReducedModel) -> dict[str, Any]:
    """Return the tests of an item for JSON."""
    return {
        "item": found.item,
        "method": found.method,
        "chosen": found.chosen,
        "tests": [
            {
                "model": test.model,
                "statistic": _finite(test.statistic),
                "degrees": test.degrees,
                "p": _finite(test.p_value),
                "corrected_p": _finite(test.corrected_p),
            }
            for test in found.tests
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


class Steps:
    """The parts of a judgment, one after the other, until Ctrl-C."""

    def __init__(self) -> None:
        self.interrupted = False

    def result(self, what: str, compute: Callable[[Report], _Result]) -> _Result | str:
        """Return a result, or why there is none."""
        if self.interrupted:
            return _INTERRUPTED
        try:
            return working(what, compute)
        except BnmindError as fault:
            return str(fault)
        except KeyboardInterrupt:
            self.interrupted = True
            return _INTERRUPTED


def fit_line(fit: LimitedInformation | str) -> str:
    """Return M2, RMSEA2 and SRMSR in words, or why there is no M2."""
    if isinstance(fit, str):
        return f"No M2: {fit}."
    if not fit.degrees:
        srmsr = "" if math.isnan(fit.srmsr) else f" SRMSR {fit.srmsr:.3f}."
        return f"No M2: the parameters determine all means and products of the items.{srmsr}"
    low, high = fit.rmsea2_interval
    return (
        f"M2 {fit.m2:.2f} with {counted(fit.degrees, 'degree')} of freedom (means and products of"
        f" the items less those that the parameters determine), p {fit.p_value:.3g};"
        f" RMSEA2 {fit.rmsea2:.3f} (90 %: {low:.3f} to {high:.3f}), SRMSR {fit.srmsr:.3f}."
        f"{_incomplete(fit)}"
    )


def _incomplete(fit: LimitedInformation) -> str:
    """Return how M2 counts examinees with missing responses; empty if there are none."""
    if not fit.n_incomplete:
        return ""
    return (
        f" {fit.n_incomplete:,} of {fit.n_examinees:,} examinees have missing responses; each mean"
        " and product is of those who answered its items, and M2 is valid if chance decides who"
        " did."
    )
