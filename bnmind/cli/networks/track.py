"""``bnmind track``: the variables of a dynamic network in every slice of some sequences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bnmind._files import check_writable, writing
from bnmind._messages import one_line
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.errors import say
from bnmind.cli.shared.members import command_with_members
from bnmind.cli.shared.models import model_from
from bnmind.cli.shared.named_states import names_of
from bnmind.cli.shared.options import Json, Normalize
from bnmind.cli.shared.printable import tell, tell_json
from bnmind.cli.shared.work import working
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    import pandas

    from bnmind.dynamic import DynamicNetwork
    from bnmind.dynamic.sequences import Sequences

__all__ = ["TRACK_HELP", "TrackCommand", "track"]

TRACK_HELP = """Track the variables of a dynamic Bayesian network through time.

MODEL is a dynamic network in bnmind's JSON, or in a .xdsl file of GeNIe. CASES is a CSV, TSV, Excel
or Parquet file with a row for each slice of time, in order. Its columns are matched with the
variables by name. An empty cell is missing. A target's own column is evidence, too. Other columns
are copied to the answers.

\b
Examples:
  bnmind track models/time/weather.json models/time/days.csv --sequence town
  bnmind track models/time/weather.json models/time/days.csv --sequence town --answer path
  bnmind track MODEL.json CASES.csv --sequence student --targets known --out known.csv
"""


class _Kind(NamedTuple):
    about: str
    """The answers, in a few words."""
    has_targets: bool = True


DEFAULT_ANSWER = "filter"

ANSWERS: Mapping[str, _Kind] = {
    "filter": _Kind("the probability of each state, given the rows so far"),
    "smooth": _Kind("the probability of each state, given all rows of the sequence"),
    "path": _Kind("the states of the most probable path"),
}

TrackCommand = command_with_members(Answers=lambda: ANSWERS)
"""A command whose help lists the kinds of answers."""


@dataclass(frozen=True, kw_only=True)
class TrackOptions:
    """The options of the command."""

    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The .json or .xdsl file of the network.")
    ]
    cases: Annotated[
        Path, typer.Argument(metavar="CASES", help="A .csv, .csv.gz, .tsv, .xlsx or .parquet file.")
    ]
    sequence: Annotated[
        str | None,
        typer.Option(
            "--sequence",
            metavar="COLUMN",
            help="The column that tells to which sequence a row belongs. [default: all rows are"
            " one sequence]",
            show_default=False,
        ),
    ] = None
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--targets",
            metavar="A,B",
            help="The variables to answer. [default: those without a column] Repeat the option"
            " for more.",
            show_default=False,
        ),
    ] = None
    answer: Annotated[
        str, typer.Option("--answer", metavar="NAME", help="The answers, from the list below.")
    ] = DEFAULT_ANSWER
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The .csv or .parquet file for the answers. [default: CSV on the standard output]",
            show_default=False,
        ),
    ] = None
    normalize: Normalize = False
    as_json: Json = False


@with_options(TrackOptions)
def track(options: TrackOptions) -> None:
    """Write or print the answers to all slices."""
    from bnmind.dynamic import read_dynamic
    from bnmind.dynamic.sequence_files import read_sequences_for
    from bnmind.junction.cases.answers import case_notes
    from bnmind.junction.cases.case_files import FrameWriter, check_suffix
    from bnmind.junction.cases.file_answers import carrying

    if options.answer not in ANSWERS:
        raise UnknownNameError("answer", options.answer, ANSWERS)
    check_suffix(options.cases, read=True)
    out = options.out
    if out is not None:
        check_suffix(out, read=False)
        check_writable(out)
    elif options.as_json:
        raise BnmindError("--json prints a report on the answers: it needs --out for them")
    network = model_from(options.model, read_dynamic, normalize=options.normalize)
    found, frame = working(
        "reading",
        lambda _: read_sequences_for(network, options.cases, sequence=options.sequence),
    )
    chosen = _targets(network, found, options)
    answers, log_likelihood = working(
        "tracking", lambda _: _answers(network, found, chosen, options.answer)
    )
    others = [c for c in frame.columns if c not in {v.name for v in found.variables}]
    table = carrying(frame, others, answers)
    unused, close = _unused(network, found, others, options)
    if out is None:
        for note in case_notes((len(table), 0), (), unused, close):
            say(f"note: {one_line(note)}")
        tell(table.to_csv(index=False, lineterminator="\n").removesuffix("\n"))
        return
    with writing(out) as file:
        writer = FrameWriter(file, out)
        try:
            writer.write(table)
        finally:
            writer.close()
    rows, n = len(table), len(found.lengths)
    if options.as_json:
        tell_json(
            {
                "rows": rows,
                "sequences": n,
                "columns": list(table.columns),
                "log_likelihood" if options.answer != "path" else "log_probability": log_likelihood,
                "unused": list(unused),
                "similar": {name: list(similar) for name, similar in close.items()},
                "out": str(out),
            }
        )
        return
    for note in case_notes((len(table), 0), (), unused, close):
        tell(one_line(note))
    what = "the paths" if options.answer == "path" else "the findings"
    tell(f"ln of the probability of {what}: {log_likelihood:.6g}")
    tell(
        f"Written: {out}, {rows:,} row{'' if rows == 1 else 's'} of {n:,}"
        f" sequence{'' if n == 1 else 's'}"
    )


def _unused(
    network: DynamicNetwork, found: Sequences, others: list[str], options: TrackOptions
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the columns that nothing uses, and the free variables with similar names."""
    from bnmind.junction.cases.table import close_names

    unused = [name for name in others if name != options.sequence]
    seen = {v.name for v in found.variables}
    return unused, close_names(unused, [v.name for v in network.variables if v.name not in seen])


def _targets(network: DynamicNetwork, found: Sequences, options: TrackOptions) -> list[str]:
    """Return the names of the variables to answer."""
    known = [v.name for v in network.variables]
    if options.targets:
        chosen = list(dict.fromkeys(names_of(options.targets, set(known))))
        for name in chosen:
            if name not in known:
                raise UnknownNameError("variable", name, known)
        return chosen
    seen = {v.name for v in found.variables}
    chosen = [name for name in known if name not in seen]
    if not chosen:
        raise BnmindError("every variable has a column: name the targets with --targets")
    return chosen


def _answers(
    network: DynamicNetwork, found: Sequences, targets: list[str], answer: str
) -> tuple[pandas.DataFrame, float]:
    """Return the answers to all rows, and a logarithm of the probability of all sequences."""
    import pandas

    from bnmind.dynamic import compile_dynamic

    plan = compile_dynamic(network, observed=[v.name for v in found.variables], targets=targets)
    columns: dict[str, Any] = {}
    if answer == "path":
        path = plan.most_probable(found)
        states = path.to_frame()
        columns = {name: states[name].to_numpy() for name in targets}
        total = sum(path.log_probabilities.values())
    else:
        posterior = plan.filter(found) if answer == "filter" else plan.smooth(found)
        for v in plan.targets:
            for position, state in enumerate(v.states):
                columns[f"{v.name}={state}"] = posterior.marginals[v.name][:, position]
        total = posterior.log_likelihood
    return pandas.DataFrame(columns, index=pandas.RangeIndex(found.n_rows)), total
