"""``bnmind explain``: the findings and the numbers that a conclusion depends on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bnmind._files import write_files
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.members import Described, command_with_members
from bnmind.cli.shared.models import model_from
from bnmind.cli.shared.named_states import evidence_of
from bnmind.cli.shared.options import DropDecisions, Json, Normalize
from bnmind.cli.shared.places import check_place
from bnmind.cli.shared.printable import tell, tell_json
from bnmind.cli.shared.work import working

if TYPE_CHECKING:
    import pandas

    from bnmind.sensitivity import SensitivityAnalysis, WeightOfEvidence

__all__ = ["EXPLAIN_HELP", "ExplainCommand", "explain"]

DEFAULT_PARAMETERS = 10
DEFAULT_VARIATION = 10.0

EXPLAIN_HELP = """Explain a conclusion: the findings that support it, and the numbers behind it.

The first table shows the weight of each finding in bits, positive if it supports the conclusion:
alone, and given all other findings. The second one shows the entries of the tables of the network
with the largest influence. If the conclusion is the most probable state, a third one shows how far
an entry may change before another state is. The other entries of a row change in proportion.

\b
Examples:
  bnmind explain models/diagnosis/asia.xdsl --target lung --evidence xray=yes,smoke=yes
  bnmind explain models/diagnosis/asia.xdsl --target lung=no --evidence xray=yes --svg why.svg
  bnmind explain models/diagnosis/asia.xdsl --target lung --evidence xray=yes --json
"""


def _model_formats() -> Mapping[str, Described]:
    """Return the formats of model files."""
    from bnmind.pgm.files import MODEL_FORMATS

    return MODEL_FORMATS


ExplainCommand = command_with_members(Formats_of_networks=_model_formats)
"""A command whose help lists the formats of model files."""


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """The options of the command."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The file that holds the network.")]
    target: Annotated[
        str,
        typer.Option(
            "--target",
            metavar="X",
            help="The variable of the conclusion; X=STATE names its state, too.",
        ),
    ]
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="A=x,B=y",
            help="The evidence: variables and their states. Repeat the option for more.",
        ),
    ] = None
    state: Annotated[
        str | None,
        typer.Option(
            "--state",
            metavar="STATE",
            help="The conclusion. [default: the most probable state]",
            show_default=False,
        ),
    ] = None
    parameters: Annotated[
        int, typer.Option("--parameters", min=1, metavar="N", help="The most parameters to show.")
    ] = DEFAULT_PARAMETERS
    vary: Annotated[
        float,
        typer.Option("--vary", min=0, metavar="PERCENT", help="How far each parameter varies."),
    ] = DEFAULT_VARIATION
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="FILE", help="Draw the first two tables to this file."),
    ] = None
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="FILE", help="Draw the first two tables to this file."),
    ] = None
    normalize: Normalize = False
    drop_decisions: DropDecisions = False
    as_json: Json = False


@with_options(ExplainOptions)
def explain(options: ExplainOptions) -> None:
    """Print the weights of the findings and the influence of the parameters."""
    from bnmind.pgm.files import read_network
    from bnmind.sensitivity import Relative, analyze, weight_of_evidence

    for place, suffix in ((options.svg, ".svg"), (options.png, ".png")):
        if place is not None:
            check_place(place, [suffix], f"picture of --{suffix[1:]}")
    spread = Relative(options.vary / 100)
    network = model_from(
        options.model,
        read_network,
        normalize=options.normalize,
        drop_decisions=options.drop_decisions,
    )
    name, state = conclusion_of(options, {v.name: v.states for v in network.variables})
    known = evidence_of(options.evidence or [], {v.name: v.states for v in network.variables})
    weights = working(
        "weighing",
        lambda _: weight_of_evidence(network, name, known, state=state),
    )
    analysis = working("differentiating", lambda _: analyze(network, name, known))
    tornado = analysis.tornado(weights.state, spread=spread, n=options.parameters)
    kept = (
        analysis.deviations(n=options.parameters) if weights.state == analysis.conclusion else None
    )
    _draw(weights, tornado, options.svg, options.png)
    if options.as_json:
        tell_json(_as_json(weights, analysis, tornado, kept))
        return
    _show_weights(weights, known)
    _show_parameters(weights, tornado, kept, options.vary)
    for place in (options.svg, options.png):
        if place is not None:
            tell(f"\nWritten: {place}")


def conclusion_of(
    options: ExplainOptions, states: Mapping[str, tuple[str, ...]]
) -> tuple[str, str | None]:
    """Return the variable and the state of the conclusion; ``--target X=state`` names both."""
    if options.state is not None or options.target in states or "=" not in options.target:
        return options.target, options.state
    [(name, state)] = evidence_of([options.target], states).items()
    return name, state


def _draw(
    weights: WeightOfEvidence, tornado: pandas.DataFrame, svg: Path | None, png: Path | None
) -> None:
    """Write the pictures, either all or none of them."""
    if svg is None and png is None:
        return
    from bnmind.cli.shared.show import percent
    from bnmind.lab import result_files
    from bnmind.sensitivity import plot_explanation

    title = f"{weights.target.name}={weights.state}: {percent(weights.posterior)}"
    figure = working(
        "drawing",
        lambda _: plot_explanation(weights, tornado, title=title, n=max(1, len(tornado))),
    )
    pictures: dict[Path, str | bytes] = {}
    if svg is not None:
        pictures[svg] = result_files.svg(figure)
    if png is not None:
        pictures[png] = result_files.png(figure)
    write_files(pictures)


def _show_weights(weights: WeightOfEvidence, known: Mapping[str, str]) -> None:
    """Print the conclusion and the weights of the findings."""
    from bnmind.cli.shared.show import percent, plain_table, show_table, terminal

    conclusion = f"{weights.target.name}={weights.state}"
    if not known:
        tell(f"{conclusion} has the probability {percent(weights.posterior)} without findings.")
        return
    tell(
        f"{conclusion} has the probability {percent(weights.posterior)} given the findings, and"
        f" {percent(weights.prior)} without them."
    )
    if math.isfinite(weights.total):
        side = "for" if weights.total >= 0 else "against"
        tell(f"Together, the findings weigh {abs(weights.total):.2f} bits {side} it.")
    elif weights.total > 0:
        tell("The findings prove it.")
    else:
        tell("The findings rule it out.")
    console = terminal()
    console.print("\nWeight of each finding, in bits:")
    table = plain_table("finding", "given the others", "alone", "probability without it")
    for one in weights.findings:
        table.add_row(one.finding, _bits(one.given_others), _bits(one.alone), percent(one.without))
    show_table(console, table)


def _show_parameters(
    weights: WeightOfEvidence,
    tornado: pandas.DataFrame,
    kept: pandas.DataFrame | None,
    vary: float,
) -> None:
    """Print the tornado, and the intervals that keep the conclusion."""
    from bnmind.cli.shared.show import plain_table, show_table, terminal

    conclusion = f"{weights.target.name}={weights.state}"
    console = terminal()
    if not len(tornado):
        tell(f"\nNo entry of a table changes the probability of {conclusion}.")
        return
    console.print(f"\nProbability of {conclusion} if a parameter changes by ±{vary:g} %:")
    table = plain_table("parameter", "value", "changes to", "if lower", "if higher")
    rows: Any = tornado.itertuples(index=False)
    for row in rows:
        table.add_row(
            str(row.parameter),
            f"{row.value:.4g}",
            f"{row.low:.4g} or {row.high:.4g}",
            _percent(row.at_low),
            _percent(row.at_high),
        )
    show_table(console, table)
    if kept is None:
        return
    if not len(kept):
        console.print(f"\nNo single parameter can make another state than {conclusion} likelier.")
        return
    console.print(f"\n{conclusion} stays the most probable state while a parameter is within:")
    table = plain_table("parameter", "value", "from", "to")
    rows = kept.itertuples(index=False)
    for row in rows:
        table.add_row(str(row.parameter), f"{row.value:.4g}", f"{row.low:.4g}", f"{row.high:.4g}")
    show_table(console, table)


def _bits(weight: float) -> str:
    if math.isinf(weight):
        return "proves it" if weight > 0 else "rules it out"
    return f"{round(weight, 2) + 0.0:+.2f}"  # no negative zero


def _percent(probability: float) -> str:
    from bnmind.cli.shared.show import percent

    return "impossible" if math.isnan(probability) else percent(float(probability))


def _as_json(
    weights: WeightOfEvidence,
    analysis: SensitivityAnalysis,
    tornado: pandas.DataFrame,
    kept: pandas.DataFrame | None,
) -> dict[str, object]:
    """Return the record of ``--json``; infinite weights are null."""
    return {
        "target": weights.target.name,
        "state": weights.state,
        "prior": weights.prior,
        "posterior": weights.posterior,
        "log_evidence": analysis.log_evidence,
        "weight": _finite(weights.total),
        "findings": [
            {
                "finding": one.finding,
                "given_others": _finite(one.given_others),
                "alone": _finite(one.alone),
                "without": one.without,
            }
            for one in weights.findings
        ],
        "parameters": _records(tornado),
        "intervals": None if kept is None else _records(kept),
    }


def _records(frame: pandas.DataFrame) -> list[dict[str, object]]:
    return [
        {
            str(key): _finite(value) if isinstance(value, float) else value
            for key, value in row.items()
        }
        for row in frame.to_dict("records")
    ]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
