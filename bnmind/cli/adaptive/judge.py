"""``bnmind judge``: how well a model fits, and whether the Q-matrix is right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bnmind.cli.adaptive.learn import gate_of, model_of, skills_of
from bnmind.cli.adaptive.response_files import (
    GroupColumn,
    IdColumn,
    IgnoredColumns,
    MissingTexts,
    read_response_file,
    say_notes,
)
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.options import Json, Seed
from bnmind.cli.shared.printable import tell_json
from bnmind.cli.shared.work import working
from bnmind.errors import BnmindError, InvalidArgumentError, InvalidResponseError, TooLargeError

if TYPE_CHECKING:
    from bnmind.adaptive import (
        ItemFit,
        ItemFunctioning,
        Learned,
        LimitedInformation,
        PairFit,
        QValidation,
        ReducedModel,
        Responses,
    )

__all__ = ["JUDGE_HELP", "judge"]

JUDGE_HELP = """Judge a model of responses: its fit, its Q-matrix, the models of its items.

The model is learned first, as bnmind learn does. Then come M2 with RMSEA2 and SRMSR, the
worst pairs of items, the fit of each item and, for a Q-matrix, the skills that the items
seem to need. With --gate gdina, Wald tests propose a simpler model for each item. If a
column names groups of examinees, --groups tests which items behave otherwise in a group.

\b
Examples:
  bnmind judge responses.csv --qmatrix q.csv
  bnmind judge responses.csv --qmatrix q.csv --gate gdina --json
  bnmind judge responses.csv --qmatrix q.csv --group-column school --groups
"""

_SHOWN = 5
_ITEMS_SHOWN = 60


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """The options of the command."""

    responses: Annotated[
        Path, typer.Argument(metavar="RESPONSES", help="A CSV file, a row for each examinee.")
    ]
    qmatrix: Annotated[
        Path | None,
        typer.Option("--qmatrix", metavar="FILE", help="The Q-matrix, as CSV."),
    ] = None
    bank: Annotated[
        Path | None,
        typer.Option("--bank", metavar="FILE", help="A bank, instead of a Q-matrix."),
    ] = None
    gate: Annotated[
        str | None,
        typer.Option(
            "--gate",
            metavar="NAME",
            help="The response model of the items; see bnmind learn --help. [default: dina]",
            show_default=False,
        ),
    ] = None
    skills: Annotated[
        str | None,
        typer.Option(
            "--skills",
            metavar="NAME",
            help="The distribution of the skills; see bnmind learn --help.",
            show_default=False,
        ),
    ] = None
    monotone: Annotated[
        bool,
        typer.Option("--monotone", help="Let more skill never lower the probability of success."),
    ] = False
    cutoff: Annotated[
        float,
        typer.Option(
            "--cutoff",
            metavar="P",
            help="The share of an item's variance that its skills must account for.",
        ),
    ] = 0.95
    alpha: Annotated[
        float,
        typer.Option("--alpha", metavar="P", help="Reject a simpler model if p is smaller."),
    ] = 0.05
    groups: Annotated[
        bool,
        typer.Option("--groups", help="Test which items behave otherwise in some group."),
    ] = False
    missing: MissingTexts = None
    id_column: IdColumn = None
    group_column: GroupColumn = None
    ignore: IgnoredColumns = None
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
    models: tuple[ReducedModel, ...] | None
    functioning: tuple[ItemFunctioning, ...] | None


@with_options(JudgeOptions)
def judge(options: JudgeOptions) -> None:
    """Learn, and say how well the model fits."""
    from bnmind.adaptive import LearningOptions, learn
    from bnmind.adaptive.learning.inputs import learning_inputs

    settings = LearningOptions(seed=options.seed or 0, monotone=options.monotone)
    model = model_of(options.qmatrix, options.bank, options.gate, options.skills)
    data = read_response_file(
        options.responses,
        expected=model.item_names,
        missing=options.missing,
        id_column=options.id_column,
        group_column=options.group_column,
        ignore=options.ignore,
    )
    start, data = learning_inputs(
        data, model, gate_of(options.gate or "dina"), skills_of(options.skills)
    )
    say_notes(data)
    if options.groups and not data.groups:
        raise BnmindError("expected a column with groups for --groups; name it by --group-column")
    learned = working(
        "learning", lambda report: learn(data, start, options=settings, progress=report)
    )
    found = _judged(learned, data, options)
    if options.json_output:
        tell_json(_as_json(found))
    else:
        _show(found)


def _judged(learned: Learned, data: Responses, options: JudgeOptions) -> _Judgment:
    from bnmind.adaptive import (
        item_fit,
        item_functioning,
        limited_information,
        pair_fit,
        reduced_models,
        validate_qmatrix,
    )

    try:
        fit: LimitedInformation | str = limited_information(learned)
    except (InvalidResponseError, TooLargeError) as fault:
        fit = str(fault)
    try:
        pairs: tuple[PairFit, ...] | str = pair_fit(learned)
    except InvalidArgumentError as fault:
        pairs = str(fault)
    proposals: QValidation | str = ""
    if options.qmatrix is not None:
        try:
            proposals = validate_qmatrix(learned, cutoff=options.cutoff)
        except TooLargeError as fault:
            proposals = str(fault)
    models = None
    if options.gate == "gdina":
        models = reduced_models(learned, alpha=options.alpha)
    functioning = None
    if options.groups:
        functioning = working(
            "testing items",
            lambda report: item_functioning(
                data, learned.bank, options=learned.options, progress=report
            ),
        )
    return _Judgment(
        learned=learned,
        fit=fit,
        pairs=pairs,
        items=item_fit(learned),
        proposals=proposals,
        models=models,
        functioning=functioning,
    )


def _proposed(found: _Judgment) -> Mapping[str, str]:
    if isinstance(found.proposals, str):
        return {}
    return {item.item: ", ".join(item.proposed.skills) for item in found.proposals.changes}


def _show(found: _Judgment) -> None:
    from bnmind.cli.shared.show import counted, plain_table, show_table, terminal

    console = terminal()
    learned = found.learned
    console.print(
        f"{counted(len(learned.responses), 'examinee')}, {counted(len(found.items), 'item')}."
        f" Log-likelihood {learned.log_likelihood:.2f},"
        f" {counted(learned.n_parameters, 'parameter')}, AIC {learned.aic:.2f}, BIC"
        f" {learned.bic:.2f}.",
        soft_wrap=True,
    )
    if isinstance(found.fit, str):
        console.print(f"No M2: {found.fit}.", soft_wrap=True)
    elif not found.fit.degrees:
        console.print("No M2: the model has as many parameters as there are moments.")
    else:
        low, high = found.fit.rmsea2_interval
        console.print(
            f"M2 {found.fit.m2:.2f} with {counted(found.fit.degrees, 'degree')} of freedom, p"
            f" {found.fit.p_value:.3g}; RMSEA2 {found.fit.rmsea2:.3f} (90 %: {low:.3f} to"
            f" {high:.3f}), SRMSR {found.fit.srmsr:.3f}.",
            soft_wrap=True,
        )
    if not isinstance(found.pairs, str):
        table = plain_table("worst pairs", "correlation", "expected", "z", "p")
        for pair in found.pairs[:_SHOWN]:
            table.add_row(
                f"{pair.items[0]}, {pair.items[1]}",
                f"{pair.correlation:.3f}",
                f"{pair.expected_correlation:.3f}",
                f"{pair.correlation_z:.2f}",
                f"{pair.correlation_p:.3g}",
            )
        show_table(console, table)
    _show_items(found)
    if isinstance(found.proposals, str) and found.proposals:
        console.print(f"No proposals for the Q-matrix: {found.proposals}.", soft_wrap=True)
    elif not isinstance(found.proposals, str):
        n = len(found.proposals.changes)
        told = "The responses propose no change of the Q-matrix."
        if n:
            told = (
                f"Other skills are proposed for {counted(n, 'item')}; ask somebody who knows them."
            )
        console.print(told, soft_wrap=True)
    if found.functioning is not None:
        table = plain_table("item", "gain", "degrees", "p", "difference of the score")
        for item in sorted(found.functioning, key=lambda one: one.p_value)[:_ITEMS_SHOWN]:
            differences = ", ".join(f"{value:+.3f}" for value in item.differences)
            table.add_row(
                item.item,
                f"{item.statistic:.2f}",
                str(item.degrees),
                f"{item.p_value:.3g}",
                differences,
            )
        show_table(console, table)


def _show_items(found: _Judgment) -> None:
    from bnmind.cli.shared.show import plain_table, show_table, terminal

    console = terminal()
    proposed = _proposed(found)
    models = {one.item: one.chosen for one in found.models or ()}
    headers = ["item", "RMSD", "p of S-X2"]
    headers += ["model"] * bool(models) + ["skills proposed"] * bool(proposed)
    table = plain_table(*headers)
    for item in found.items[:_ITEMS_SHOWN]:
        row = [item.item, f"{item.rmsd:.3f}"]
        row.append("–" if math.isnan(item.p_value) else f"{item.p_value:.3g}")
        row += [models.get(item.item, "")] * bool(models)
        row += [proposed.get(item.item, "")] * bool(proposed)
        table.add_row(*row)
    show_table(console, table)
    if len(found.items) > _ITEMS_SHOWN:
        console.print(f"  and {len(found.items) - _ITEMS_SHOWN} more")


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
            }
            for item in found.items
        ],
        "qmatrix": [
            {
                "item": item.item,
                "skills": list(item.now.skills),
                "proposed": list(item.proposed.skills),
            }
            for item in changes
        ],
        "models": {one.item: one.chosen for one in found.models or ()},
        "groups": [
            {
                "item": one.item,
                "statistic": one.statistic,
                "degrees": one.degrees,
                "p": _finite(one.p_value),
                "differences": list(one.differences),
            }
            for one in found.functioning or ()
        ],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
