"""Commands that answer all cases of a file, or all slices of sequences."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from bnmind import dynamic, junction
from bnmind._display import Result
from bnmind._files import check_writable, writing
from bnmind._messages import counted, one_line
from bnmind.cli.networks import Targets, names_of
from bnmind.cli.shared import command
from bnmind.cli.shared.terminal import working
from bnmind.errors import BnmindError, UnknownNameError

if TYPE_CHECKING:
    import pandas

    from bnmind.dynamic.passes import Sequences
    from bnmind.pgm import FactorModel


class _Kind(NamedTuple):
    about: str
    """The answers, in a few words."""
    function: str
    """The name of the function of `bnmind.junction`."""
    has_targets: bool = False
    has_draws: bool = False


PREDICTIONS: Mapping[str, _Kind] = {
    "states": _Kind("the most probable state of each target", "predict", True),
    "probabilities": _Kind("the probability of each state", "predict_proba", True),
    "log-likelihood": _Kind("the log-probability of the observed cells", "log_likelihood"),
    "impute": _Kind("each missing cell filled by its own most probable state", "impute"),
    "complete": _Kind("all missing states by the most probable completion", "complete"),
    "sample": _Kind("all missing states drawn at random", "sample_missing", False, True),
}


def predict(
    model: command.ModelFile,
    cases: command.CasesFile,
    *,
    targets: Targets = (),
    out: Path | None = None,
    answer: Annotated[str, command.OneOf(f"{__name__}:PREDICTIONS", "Answers")] = "states",
    draws: command.Count | None = None,
    seed: command.Seed = None,
    as_json: command.Json = False,
) -> Result:
    """Predict variables of a Bayesian network for each case of a file.

    CASES is a CSV, TSV, Excel or Parquet file with a row for each case. Its columns are matched
    with the variables of the model by name. An empty cell is missing. Other columns, such as names
    of the cases, are copied to the answers. Rows of probability zero have no answer, and are
    reported.

    Parameters
    ----------
    targets
        The variables to predict. Their own columns are not used. [default: those without a column]
        Repeat the option for more. Put a name that contains a comma in double quotes.
    out
        The .csv file for the answers. [default: CSV on the standard output]
    answer
        The answers, from the list below.
    draws
        Draws of each row, with --answer sample. [default: 1]

    Examples
    --------
    bnmind predict models/mastermind-3x4.bif models/replies.csv --targets H1,C
    bnmind predict MODEL.bif CASES.csv --targets A,B --answer probabilities --out answers.csv
    bnmind predict MODEL.bif CASES.parquet --answer impute --out whole.csv
    """
    import numpy as np

    from bnmind.junction.case_answers import write_answers
    from bnmind.pgm.files import read_model

    if answer not in PREDICTIONS:
        raise UnknownNameError("answer", answer, PREDICTIONS)
    kind = PREDICTIONS[answer]
    for option, given, field in (
        ("--targets", targets or None, "has_targets"),
        ("--draws", draws, "has_draws"),
        ("--seed", seed, "has_draws"),
    ):
        if given is not None and not getattr(kind, field):
            names = [name for name, other in PREDICTIONS.items() if getattr(other, field)]
            raise BnmindError(f"{option} goes with --answer {' or '.join(names)}, got {answer}")
    _check_files(cases, out, as_json=as_json)
    network = model.read(read_model)
    function: Callable[..., Any] = getattr(junction, kind.function)
    if targets:
        function = partial(function, targets=_chosen(targets, network))
    if kind.has_draws:
        function = partial(function, rng=np.random.default_rng(seed), draws=draws or 1)

    with _answers_to(out) as file:
        report = working(
            "predicting",
            lambda done: write_answers(file, (network, cases, function), progress=done),
        )
    rows, columns = counted(report.n_rows, "row"), counted(len(report.columns), "column")
    return _answered(file, out, report.to_dict(), report.notes, [f"{rows} of {columns}"])


PATHS = {
    "filter": "the probability of each state, given the rows so far",
    "smooth": "the probability of each state, given all rows of the sequence",
    "path": "the states of the most probable path",
}
"""The answers to the slices of sequences."""


def track(
    model: command.DynamicFile,
    cases: command.CasesFile,
    *,
    sequence: Annotated[str | None, "COLUMN"] = None,
    targets: Targets = (),
    answer: Annotated[str, command.OneOf(f"{__name__}:PATHS", "Answers")] = "filter",
    out: Path | None = None,
    as_json: command.Json = False,
) -> Result:
    """Track the variables of a dynamic Bayesian network through time.

    MODEL is a dynamic network in bnmind's JSON, or in a .xdsl file of GeNIe. CASES is a CSV, TSV,
    Excel or Parquet file with a row for each slice of time, in order. Its columns are matched with
    the variables by name. An empty cell is missing. A target's own column is evidence, too. Other
    columns are copied to the answers.

    Parameters
    ----------
    model
        The .json or .xdsl file of the network.
    sequence
        The column that tells to which sequence a row belongs. [default: all rows are one sequence]
    targets
        The variables to answer. [default: those without a column] Repeat the option for more.
    answer
        The answers, from the list below.
    out
        The .csv file for the answers. [default: CSV on the standard output]

    Examples
    --------
    bnmind track models/time/weather.json models/time/days.csv --sequence town
    bnmind track models/time/weather.json models/time/days.csv --sequence town --answer path
    bnmind track MODEL.json CASES.csv --sequence student --targets known --out known.csv
    """
    from bnmind.dynamic.passes import read_sequences_for
    from bnmind.junction.case_answers import carrying, case_notes
    from bnmind.junction.case_tables import similar_variables

    if answer not in PATHS:
        raise UnknownNameError("answer", answer, PATHS)
    _check_files(cases, out, as_json=as_json)
    network = model.read(dynamic.read_dynamic)
    found, frame = working(
        "reading", lambda _: read_sequences_for(network, cases, sequence=sequence)
    )
    seen = {v.name for v in found.variables}
    free = [v.name for v in network.variables if v.name not in seen]
    chosen = list(dict.fromkeys(_chosen(targets, network))) or free
    if not chosen:
        raise BnmindError("every variable has a column: name the targets with --targets")
    plan = dynamic.compile_dynamic(network, observed=sorted(seen), targets=chosen)
    answers, log = working("tracking", lambda _: _tracked(plan, found, chosen, answer))
    others = [name for name in frame.columns if name not in seen]
    unused = [name for name in others if name != sequence]
    close = similar_variables(unused, free)
    table = carrying(frame, others, answers)
    with _answers_to(out) as file:
        file.write(table.to_csv(index=False, lineterminator="\n").encode())
    record = {
        "rows": len(table),
        "sequences": len(found.lengths),
        "columns": list(table.columns),
        "log_likelihood" if answer != "path" else "log_probability": log,
        "unused": unused,
        "similar": {name: list(similar) for name, similar in close.items()},
    }
    what = "the paths" if answer == "path" else "the findings"
    return _answered(
        file,
        out,
        record,
        case_notes((len(table), 0), (), unused, close),
        [
            f"ln of the probability of {what}: {log:.6g}",
            f"{counted(len(table), 'row')} of {counted(len(found.lengths), 'sequence')}",
        ],
    )


def _tracked(
    plan: dynamic.DynamicPlan, found: Sequences, targets: Sequence[str], answer: str
) -> tuple[pandas.DataFrame, float]:
    """Return the answers to all rows, and a logarithm of the probability of all sequences."""
    import pandas

    if answer == "path":
        path = plan.most_probable(found)
        states = path.to_frame()[list(targets)].reset_index(drop=True)
        return states, sum(path.log_probabilities.values())
    posterior = plan.filter(found) if answer == "filter" else plan.smooth(found)
    columns = {
        f"{v.name}={state}": posterior.marginals[v.name][:, position]
        for v in plan.targets
        for position, state in enumerate(v.states)
    }
    return pandas.DataFrame(columns), posterior.log_likelihood


def _check_files(cases: Path, out: Path | None, *, as_json: bool) -> None:
    """Raise before long work if cases cannot be read, or answers not be written."""
    from bnmind.junction.case_files import check_suffix

    check_suffix(cases, read=True)
    if out is not None:
        check_suffix(out, read=False)
        check_writable(out)
    elif as_json:
        raise BnmindError("--json prints a report on the answers: it needs --out for them")


def _chosen(targets: Sequence[str], model: FactorModel | dynamic.DynamicNetwork) -> list[str]:
    """Return the names of targets; raise an error if the model lacks one."""
    known = [v.name for v in model.variables]
    chosen = names_of(targets, set(known))
    for name in chosen:
        if name not in known:
            raise UnknownNameError("variable", name, known)
    return chosen


def _answers_to(out: Path | None) -> AbstractContextManager[Any]:
    """Return a file for answers; without a name, one in memory."""
    return nullcontext(io.BytesIO()) if out is None else writing(out)


def _answered(
    file: Any, out: Path | None, record: Mapping[str, Any], notes: Sequence[str], lines: list[str]
) -> command.Outcome:
    """Return the answers, or a report on those in a file; its last line is their size."""
    if out is None:
        return command.Outcome(record, [file.getvalue().decode("utf-8").removesuffix("\n")], notes)
    *before, size = lines
    written = f"Written: {out}, {size}"
    return command.Outcome({**record, "out": str(out)}, [*map(one_line, notes), *before, written])
