"""``bnmind predict``: answers to all cases of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
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
from bnmind.cli.shared.options import DropDecisions, Json, Normalize, Seed
from bnmind.cli.shared.printable import tell, tell_json
from bnmind.cli.shared.work import working
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    from bnmind.junction import FileAnswers
    from bnmind.pgm import FactorModel

__all__ = ["PREDICT_HELP", "PredictCommand", "predict"]

PREDICT_HELP = """Predict variables of a Bayesian network for each case of a file.

CASES is a CSV, TSV, Excel or Parquet file with a row for each case. Its columns are matched
with the variables of the model by name. An empty cell is missing. Other columns, such as names
of the cases, are copied to the answers. Rows of probability zero have no answer, and are
reported.

\b
Examples:
  bnmind predict models/mastermind-3x4.bif models/replies.csv --targets H1,C
  bnmind predict MODEL.bif CASES.csv --targets A,B --answer probabilities --out answers.csv
  bnmind predict MODEL.bif CASES.parquet --answer impute --out whole.parquet
"""


class _Kind(NamedTuple):
    about: str
    """The answers, in a few words."""
    function: str
    """The name of the function of `bnmind.junction`."""
    has_targets: bool = False
    has_draws: bool = False


DEFAULT_ANSWER = "states"

ANSWERS: Mapping[str, _Kind] = {
    "states": _Kind("the most probable state of each target", "predict", True),
    "probabilities": _Kind("the probability of each state", "predict_proba", True),
    "log-likelihood": _Kind("the log-probability of the observed cells", "log_likelihood"),
    "impute": _Kind("each missing cell filled by its own most probable state", "impute"),
    "complete": _Kind("all missing states by the most probable completion", "complete"),
    "sample": _Kind("all missing states drawn at random", "sample_missing", False, True),
}

PredictCommand = command_with_members(Answers=lambda: ANSWERS)
"""A command whose help lists the kinds of answers."""


@dataclass(frozen=True, kw_only=True)
class PredictOptions:
    """The options of the command."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The file that holds the model.")]
    cases: Annotated[
        Path, typer.Argument(metavar="CASES", help="A .csv, .csv.gz, .tsv, .xlsx or .parquet file.")
    ]
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--targets",
            metavar="A,B",
            help="The variables to predict. Their own columns are not used. [default: those"
            " without a column] Repeat the option for more. Put a name that contains a comma in"
            " double quotes.",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The .csv or .parquet file for the answers. [default: CSV on the standard output]",
            show_default=False,
        ),
    ] = None
    answer: Annotated[
        str, typer.Option("--answer", metavar="NAME", help="The answers, from the list below.")
    ] = DEFAULT_ANSWER
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=1,
            metavar="N",
            help="Draws of each row, with --answer sample. [default: 1]",
            show_default=False,
        ),
    ] = None
    seed: Seed = None
    normalize: Normalize = False
    drop_decisions: DropDecisions = False
    as_json: Json = False


@with_options(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Write or print the answers, and report rows and columns without any."""
    from bnmind.junction.cases.case_files import check_suffix
    from bnmind.junction.cases.file_answers import write_answers
    from bnmind.pgm.files import read_model

    kind = _kind(options)
    check_suffix(options.cases, read=True)
    out, as_json = options.out, options.as_json
    if out is not None:
        check_suffix(out, read=False)
        check_writable(out)
    elif as_json:
        raise BnmindError("--json prints a report on the answers: it needs --out for them")
    network = model_from(
        options.model,
        read_model,
        normalize=options.normalize,
        drop_decisions=options.drop_decisions,
    )
    function = _function(kind, network, options)
    if out is None:
        _print_answers(network, options.cases, function)
        return
    with writing(out) as file:
        report = working(
            "predicting",
            lambda progress: write_answers(
                file, out, (network, options.cases, function), progress=progress
            ),
        )
    if as_json:
        tell_json(_as_json(report, out))
        return
    for note in report.notes:
        tell(one_line(note))
    rows, columns = report.n_rows, len(report.columns)
    tell(
        f"Written: {out}, {rows:,} row{'' if rows == 1 else 's'} of {columns:,}"
        f" column{'' if columns == 1 else 's'}"
    )


def _kind(options: PredictOptions) -> _Kind:
    """Return the kind of answers; raise an error if an option does not belong to it."""
    answer = options.answer
    if answer not in ANSWERS:
        raise UnknownNameError("answer", answer, ANSWERS)
    kind = ANSWERS[answer]
    for option, given, fits in (
        ("--targets", options.targets, kind.has_targets),
        ("--draws", options.draws, kind.has_draws),
        ("--seed", options.seed, kind.has_draws),
    ):
        if given is not None and not fits:
            names = [
                name
                for name, other in ANSWERS.items()
                if (other.has_targets if option == "--targets" else other.has_draws)
            ]
            raise BnmindError(f"{option} goes with --answer {' or '.join(names)}, got {answer}")
    return kind


def _function(kind: _Kind, network: FactorModel, options: PredictOptions) -> Callable[..., Any]:
    """Return the function of a model and a frame that makes the answers."""
    import numpy as np

    import bnmind.junction as junction

    function: Callable[..., Any] = getattr(junction, kind.function)
    known = {v.name for v in network.variables}
    if kind.has_targets and options.targets:
        chosen = names_of(options.targets, known)
        for name in chosen:
            if name not in known:
                raise UnknownNameError("variable", name, [v.name for v in network.variables])
        return partial(function, targets=chosen)
    if kind.has_draws:
        return partial(function, rng=np.random.default_rng(options.seed), draws=options.draws or 1)
    return function


def _print_answers(network: FactorModel, cases: Path, function: Callable[..., Any]) -> None:
    """Print the answers as CSV, and what to know about them on the error stream."""
    from bnmind.junction.cases.case_files import file_rows
    from bnmind.junction.cases.file_answers import answered_frames

    def texts(progress: Callable[[int, int | None], None]) -> tuple[list[str], tuple[str, ...]]:
        found: list[str] = []
        notes: tuple[str, ...] = ()
        total = file_rows(cases)
        for frame, report in answered_frames(network, cases, function):
            found.append(frame.to_csv(index=False, header=not found, lineterminator="\n"))
            notes = report.notes
            progress(report.n_rows, None if total is None else max(total, report.n_rows))
        return found, notes

    found, notes = working("predicting", texts)
    for note in notes:
        say(f"note: {one_line(note)}")
    tell("".join(found).removesuffix("\n"))


def _as_json(report: FileAnswers, out: Path) -> dict[str, object]:
    return {
        "rows": report.n_rows,
        "columns": list(report.columns),
        "impossible": {"count": report.n_impossible, "first": list(report.impossible)},
        "unused": list(report.unused),
        "similar": {name: list(similar) for name, similar in report.close},
        "out": str(out),
    }
