"""``bnmind judge``: how well a model fits, and whether the Q-matrix is right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from bnmind._messages import counted
from bnmind.cli.adaptive.judge_models import (
    Steps,
    cutoff_of,
    fit_line,
    functioning_json,
    named_items,
    show_compared,
    show_functioning,
    show_items,
    show_models,
    show_proposals,
    show_trust,
    tested_models_json,
)
from bnmind.cli.adaptive.learning_start import learning_start
from bnmind.cli.adaptive.options import GateName, SkillsName
from bnmind.cli.adaptive.response_files import (
    FixedWidth,
    IdColumn,
    IgnoredColumns,
    KeyFile,
    Lowest,
    MissingTexts,
    QMatrixFile,
    ResponseFile,
    say_notes,
)
from bnmind.cli.shared.command import Json, Seed, Share
from bnmind.cli.shared.terminal import (
    INTERRUPTED,
    plain_table,
    say,
    show_table,
    tell_json,
    terminal,
    working,
)
from bnmind.errors import BnmindError

if TYPE_CHECKING:
    from bnmind.adaptive import (
        ItemFit,
        ItemFunctioning,
        Learned,
        LimitedInformation,
        PairFit,
        QValidation,
        ReducedModel,
    )

__all__ = ["judge"]


_SHOWN = 5


@dataclass(frozen=True)
class JudgeOptions:
    """The options of the command.

    Parameters
    ----------
    bank
        A bank, instead of a Q-matrix.
    gates
        The response model of the items, from the list below. Repeat the option to compare
        models. [default: dina]
    skills
        The distribution of the skills, from the list below.
    monotone
        Require that more skill never lowers the probability of success.
    cutoff
        The share of an item's variance that its skills must account for; or predicted: from the
        numbers of examinees and items, and from guesses and slips.
    alpha
        Reject a simpler model if p is smaller.
    refit
        Test simpler models by learning the whole model anew for each of them. By default the
        profiles' probabilities stay those of G-DINA (two-step test).
    groups
        Test which items behave differently in a group, by the column named group.
    anchors
        Items that behave alike in all groups. [default: all but the one that is tested]
    purify
        Remove items that behave differently from the anchors, and test again.
    group_column
        The same as --groups, by the column NAME.
    """

    responses: ResponseFile
    _: KW_ONLY
    qmatrix: QMatrixFile = None
    bank: Path | None = None
    gates: Annotated[list[GateName] | None, "NAME", typer.Option("--gate")] = None
    skills: SkillsName | None = None
    monotone: bool = False
    cutoff: Annotated[str, "P"] = "0.95"
    alpha: Share = 0.05
    refit: bool = False
    groups: bool = False
    anchors: Annotated[str | None, "A,B,…"] = None
    purify: bool = False
    missing: MissingTexts = None
    id_column: IdColumn = None
    group_column: str | None = None
    ignore: IgnoredColumns = None
    fixed_width: FixedWidth = None
    lowest: Lowest = 0
    key: KeyFile = None
    seed: Seed = None
    json_output: Json = False


@dataclass(frozen=True, kw_only=True)
class _Judgment:
    """All results; a text instead of what cannot be computed."""

    learned: Learned
    fit: LimitedInformation | str
    pairs: tuple[PairFit, ...] | str
    items: tuple[ItemFit, ...]
    proposals: QValidation | str
    models: tuple[ReducedModel, ...] | str
    ratios: tuple[ReducedModel, ...] | str
    functioning: tuple[ItemFunctioning, ...] | str
    abilities: Mapping[str, tuple[float, float]]
    interrupted: bool


def judge(options: JudgeOptions) -> None:
    """Judge a model of responses: its fit, its Q-matrix, and its items.

    The command learns the model first, as bnmind learn does. It then prints M2 with RMSEA2 and
    SRMSR, the worst pairs of items, and the fit of each item. With --gate gdina, which assumes
    least about how skills act together, it also proposes the skills that the items need, and a
    simpler model for each item, by Wald and by likelihood-ratio tests. If a column names groups of
    examinees, --groups or --group-column tests which items behave differently in a group. After
    Ctrl-C, the command shows the results that it has.

    If --gate is repeated, the command compares the models instead, by AIC and BIC, and with gdina
    by likelihood-ratio tests.

    Examples
    --------
    bnmind judge models/fractions-class/responses.csv --qmatrix models/fractions-class/qmatrix.csv
    bnmind judge RESPONSES.csv --qmatrix Q.csv --gate gdina --json
    bnmind judge RESPONSES.csv --qmatrix Q.csv --gate dina --gate gdina
    bnmind judge RESPONSES.csv --gate 2PL
    bnmind judge RESPONSES.csv --qmatrix Q.csv --group-column school
    """
    if not 0 < options.alpha < 1:
        raise BnmindError(f"expected a number between 0 and 1 for --alpha, got {options.alpha:g}")
    cutoff_of(options.cutoff)
    gates: list[str | None] = [*dict.fromkeys(options.gates or ())] or [None]
    if len(gates) > 1 and (options.groups or options.group_column):
        raise BnmindError("expected one --gate to test items by groups, got several")
    models = {gate: _learned(options, gate, is_first=gate == gates[0]) for gate in gates}
    if len(gates) > 1:
        show_compared({str(gate): one for gate, one in models.items()}, as_json=options.json_output)
        return
    [learned] = models.values()
    found = _judged(learned, options)
    if options.json_output:
        tell_json(_as_json(found))
    else:
        _show(found, options)
    if found.interrupted:
        say("interrupted; the results above are those computed so far")
        raise typer.Exit(INTERRUPTED)


def _learned(options: JudgeOptions, gate: str | None, *, is_first: bool) -> Learned:
    """Return a model learned from the responses; only the first one reports notes."""
    from bnmind.adaptive import LearningOptions, learn

    settings = LearningOptions(seed=options.seed or 0, monotone=options.monotone)
    start, data, settings = learning_start(options, gate, settings)
    if is_first:
        say_notes(data)
    if options.groups and not data.groups:
        raise BnmindError("expected a column with groups for --groups; name it by --group-column")
    if is_first and data.groups and not (options.groups or options.group_column):
        say("note: --groups tests which items behave differently in some of the groups")
    return working("learning", lambda report: learn(data, start, options=settings, progress=report))


_Result = TypeVar("_Result")


def _judged(learned: Learned, options: JudgeOptions) -> _Judgment:
    from bnmind.adaptive import (
        FunctioningOptions,
        Gdina,
        item_fit,
        item_functioning,
        learn_groups,
        limited_information,
        pair_fit,
        predicted_cutoff,
        reduced_models,
        reduced_models_by_ratio,
        validate_qmatrix,
    )
    from bnmind.adaptive.learning.irt import has_curves

    steps, data = Steps(), learned.responses
    fit = steps.result("testing the fit", lambda _: limited_information(learned))
    pairs = steps.result("comparing pairs of items", lambda _: pair_fit(learned))
    items = steps.result("comparing items", lambda _: item_fit(learned))
    proposals: QValidation | str = ""
    models: tuple[ReducedModel, ...] | str = ""
    ratios: tuple[ReducedModel, ...] | str = ""
    if all(isinstance(item.gate, Gdina) for item in learned.bank.items):
        cutoff = cutoff_of(options.cutoff)
        chosen = predicted_cutoff(learned) if cutoff is None else cutoff
        proposals = steps.result(
            "checking the Q-matrix", lambda _: validate_qmatrix(learned, cutoff=chosen)
        )
        models = steps.result(
            "comparing models", lambda _: reduced_models(learned, alpha=options.alpha)
        )
        if not isinstance(models, str):
            ratios = steps.result(
                "testing models",
                lambda report: reduced_models_by_ratio(
                    learned, alpha=options.alpha, refit=options.refit, progress=report
                ),
            )
    functioning: tuple[ItemFunctioning, ...] | str = ""
    abilities: Mapping[str, tuple[float, float]] = {}
    if data.groups and (options.groups or options.group_column):
        functioning = steps.result(
            "testing items",
            lambda report: item_functioning(
                data,
                learned.bank,
                testing=FunctioningOptions(
                    anchors=named_items(options.anchors),
                    purify=options.purify,
                    alpha=options.alpha,
                ),
                options=learned.options,
                progress=report,
            ),
        )
        if has_curves(learned.bank) and not isinstance(functioning, str):
            together = steps.result(
                "learning groups",
                lambda report: learn_groups(
                    data, learned.bank, options=learned.options, progress=report
                ),
            )
            abilities = {} if isinstance(together, str) else together.abilities
    return _Judgment(
        learned=learned,
        fit=fit,
        pairs=pairs,
        items=_known(items),
        proposals=proposals,
        models=models,
        ratios=ratios,
        functioning=functioning,
        abilities=abilities,
        interrupted=steps.interrupted,
    )


def _show(found: _Judgment, options: JudgeOptions) -> None:

    console = terminal()
    learned = found.learned
    console.print(
        f"{counted(len(learned.responses), 'examinee')}, {counted(len(learned.bank.items), 'item')}"
        f". Log-likelihood {learned.log_likelihood:.2f},"
        f" {counted(learned.n_parameters, 'parameter')}, AIC {learned.aic:.2f}, BIC"
        f" {learned.bic:.2f}.",
        soft_wrap=True,
    )
    console.print(fit_line(found.fit), soft_wrap=True)
    if not isinstance(found.pairs, str):
        table = plain_table("worst pairs", "correlation", "expected", "z", "corrected p")
        for pair in found.pairs[:_SHOWN]:
            table.add_row(
                f"{pair.items[0]}, {pair.items[1]}",
                f"{pair.correlation:.3f}",
                f"{pair.expected_correlation:.3f}",
                f"{pair.correlation_z:.2f}",
                f"{pair.correlation_p:.3g}",
            )
        show_table(console, table)
    show_items(found.items, len(found.learned.responses))
    for results in (found.models, found.ratios):
        if not isinstance(results, str):
            show_models(results)
    if not isinstance(found.models, str) and not isinstance(found.ratios, str):
        show_trust(found.models, found.ratios)
    show_proposals(found.proposals)
    for what, reason in (("simpler models", found.models), ("groups", found.functioning)):
        if isinstance(reason, str) and reason:
            console.print(f"No tests of {what}: {reason}.", soft_wrap=True)
    if not isinstance(found.functioning, str):
        chosen = options.purify or options.anchors is not None
        show_functioning(
            found.functioning,
            found.learned.responses.groups,
            found.abilities,
            None if chosen else options.alpha,
        )


def _as_json(found: _Judgment) -> dict[str, Any]:
    learned, fit = found.learned, found.fit
    absolute = (
        {"reason": fit}
        if isinstance(fit, str)
        else {
            "m2": _finite(fit.m2),
            "degrees": fit.degrees,
            "p": _finite(fit.p_value),
            "rmsea2": _finite(fit.rmsea2),
            "rmsea2_interval": [_finite(bound) for bound in fit.rmsea2_interval],
            "srmsr": _finite(fit.srmsr),
            "incomplete": fit.n_incomplete,
        }
    )
    changes = () if isinstance(found.proposals, str) else found.proposals.changes
    return {
        "log_likelihood": learned.log_likelihood,
        "parameters": learned.n_parameters,
        "aic": learned.aic,
        "bic": learned.bic,
        "fit": absolute,
        "pairs": []
        if isinstance(found.pairs, str)
        else [
            {
                "items": list(pair.items),
                "correlation": _finite(pair.correlation),
                "expected": _finite(pair.expected_correlation),
                "z": _finite(pair.correlation_z),
                "p": _finite(pair.correlation_p),
            }
            for pair in found.pairs
        ],
        "items": [
            {
                "name": item.item,
                "rmsd": _finite(item.rmsd),
                "s_x2": _finite(item.s_x2),
                "p": _finite(item.p_value),
                "complete": item.n_complete,
            }
            for item in found.items
        ],
        "cutoff": None if isinstance(found.proposals, str) else found.proposals.cutoff,
        "qmatrix": [
            {
                "item": item.item,
                "skills": list(item.now.skills),
                "proposed": list(item.proposed.skills),
            }
            for item in changes
        ],
        "models": {one.item: one.chosen for one in _known(found.models)},
        "model_tests": [
            tested_models_json(one) for one in (*_known(found.models), *_known(found.ratios))
        ],
        "groups": [functioning_json(one) for one in _known(found.functioning)],
        "abilities": {
            name: {"mean": mean, "deviation": deviation}
            for name, (mean, deviation) in found.abilities.items()
        },
    }


def _known(results: tuple[_Result, ...] | str) -> tuple[_Result, ...]:
    """Return results; none if there is a reason instead."""
    return () if isinstance(results, str) else results


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
