"""``bnmind fit``: the tables of a network from cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bnmind._messages import one_line
from bnmind._registry import listed_names, made_by_name
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.errors import say
from bnmind.cli.shared.members import Described, command_with_members
from bnmind.cli.shared.models import model_from
from bnmind.cli.shared.options import (
    ClusterOption,
    DropDecisions,
    Json,
    Normalize,
    Seed,
    Workers,
    workers_of,
)
from bnmind.cli.shared.places import check_place
from bnmind.cli.shared.printable import printable, tell, tell_json
from bnmind.cli.shared.work import working

if TYPE_CHECKING:
    from bnmind.fitting import Fit
    from bnmind.pgm import Network

__all__ = ["FIT_HELP", "FitCommand", "fit"]

FIT_HELP = """Learn the tables of a Bayesian network from cases, by counts or by EM.

MODEL is a network in a format from the list below. CASES is a CSV, TSV, Excel or Parquet
file with a row for each case and a column for each variable. Empty cells are missing: EM
completes them.

\b
Examples:
  bnmind fit models/fractions-class/skills.bif models/fractions-class/profiles.csv --out fitted.bif
  bnmind fit MODEL.bif CASES.parquet --out fitted.bif --prior bdeu:10 --fixed A,B
  bnmind fit MODEL.bif CASES.csv --out fitted.xdsl --hidden H --starts 5 --seed 1
"""

_WARNINGS_SHOWN = 10


def _priors() -> Mapping[str, Described]:
    from bnmind.fitting import PRIORS

    return PRIORS


def _model_formats() -> Mapping[str, Described]:
    from bnmind.pgm.files import MODEL_FORMATS

    return MODEL_FORMATS


FitCommand = command_with_members(Formats_of_networks=_model_formats, Priors=_priors)
"""A command whose help lists the formats of networks and the priors."""


@dataclass(frozen=True, kw_only=True)
class FitCommandOptions:
    """The options of the command."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The file that holds the network.")]
    cases: Annotated[
        Path, typer.Argument(metavar="CASES", help="A .csv, .csv.gz, .tsv, .xlsx or .parquet file.")
    ]
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="The file for the network with new tables."),
    ] = None
    prior: Annotated[
        str, typer.Option("--prior", metavar="NAME", help="The prior, from the list below.")
    ] = "none"
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            "--fixed", metavar="A,B", help="Variables that keep their tables.", show_default=False
        ),
    ] = None
    tied: Annotated[
        list[str] | None,
        typer.Option(
            "--tied",
            metavar="A,B",
            help="Variables that share one table, position by position: their states and those of"
            " their parents are the same in the same order. Repeat the option for other tables.",
            show_default=False,
        ),
    ] = None
    hidden: Annotated[
        list[str] | None,
        typer.Option(
            "--hidden", metavar="A,B", help="Variables without a column.", show_default=False
        ),
    ] = None
    starts: Annotated[
        int,
        typer.Option(
            "--starts", min=1, metavar="N", help="Number of starts; the best result counts."
        ),
    ] = 1
    iterations: Annotated[
        int,
        typer.Option("--iterations", min=1, metavar="N", help="The most EM iterations of a start."),
    ] = 1000
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance", metavar="X", help="Stop if a step raises the log-likelihood by no more."
        ),
    ] = 1e-4
    workers: Workers = None
    cluster: ClusterOption = None
    seed: Seed = None
    normalize: Normalize = False
    drop_decisions: DropDecisions = False
    json_output: Json = False


@with_options(FitCommandOptions)
def fit(options: FitCommandOptions) -> None:
    """Learn, write the network, and say how well it fits."""
    from bnmind.fitting import PRIORS, FitOptions
    from bnmind.fitting import fit as fitted_to
    from bnmind.fitting.case_files import read_cases_for
    from bnmind.pgm.files import NETWORK_SUFFIXES, read_network

    prior = made_by_name("prior", PRIORS, options.prior)
    settings = FitOptions(
        starts=options.starts,
        seed=options.seed or 0,
        max_iterations=options.iterations,
        tolerance=options.tolerance,
        workers=workers_of(options.workers, options.cluster),
    )
    if options.out is not None:
        check_place(options.out, NETWORK_SUFFIXES, "network")
    network = model_from(
        options.model,
        read_network,
        normalize=options.normalize,
        drop_decisions=options.drop_decisions,
    )
    if options.out is not None:
        _check_content(network, options.out)
    fixed, hidden = _names(options.fixed), _names(options.hidden)
    tied = [listed_names(text, ",") for text in options.tied or ()]
    cases = working(
        f"reading {printable(options.cases.name)}",
        lambda _: read_cases_for(network, options.cases, hidden),
    )
    fitted = working(
        "learning",
        lambda report: fitted_to(
            network,
            cases,
            prior=prior,
            fixed=fixed,
            tied=tied,
            hidden=hidden,
            options=settings,
            progress=report,
        ),
    )
    if options.out is not None:
        from bnmind.pgm.files import write_model

        write_model(fitted.network, options.out)
    if options.json_output:
        tell_json(_as_json(fitted, options.out))
    else:
        _show(fitted, options.out)


def _names(texts: list[str] | None) -> list[str]:
    return [name for text in texts or () for name in listed_names(text, ",") if name]


def _check_content(network: Network, out: Path) -> None:
    """Raise before the work is done if the format of the file cannot hold the network."""
    from bnmind._files import check_writable
    from bnmind.pgm.files import model_contents

    # All but the numbers is known now: the names, the sizes of the tables and the places.
    check_writable(*model_contents(network, out))


def _as_json(fitted: Fit, out: Path | None) -> dict[str, Any]:
    record = fitted.record
    return {
        "cases": fitted.n_cases,
        "missing": fitted.n_missing,
        "log_likelihood": fitted.log_likelihood,
        "bits_per_case": fitted.bits_per_case,
        "parameters": fitted.n_parameters,
        "aic": fitted.aic,
        "bic": fitted.bic,
        "converged": record.converged,
        "steps": record.steps,
        "starts": list(record.starts),
        "best_start": record.best_start,
        "seed": record.seed,
        "warnings": list(fitted.warnings),
        "out": None if out is None else str(out),
    }


def _show(fitted: Fit, out: Path | None) -> None:
    from bnmind.cli.shared.show import counted

    record = fitted.record
    tell(
        f"{counted(fitted.n_cases, 'case')}, {counted(len(fitted.network.variables), 'variable')};"
        f" {counted(fitted.n_missing, 'cell')} missing."
    )
    tell(
        f"Log-likelihood {fitted.log_likelihood:.2f} ({fitted.bits_per_case:.4g} bits a case),"
        f" {counted(fitted.n_parameters, 'parameter')}, AIC {fitted.aic:.2f}, BIC {fitted.bic:.2f}."
    )
    state = "Converged" if record.converged else "Not converged"
    starts = len(record.starts)
    of = f", the best of {starts} starts (number {record.best_start + 1})" if starts > 1 else ""
    if fitted.em.is_exact:
        tell("Counted, as no cell that matters is missing.")
    else:
        tell(f"{state} after {counted(record.steps, 'step')}{of}.")
    for warning in fitted.warnings[:_WARNINGS_SHOWN]:
        say(f"note: {one_line(warning)}")
    if (more := len(fitted.warnings) - _WARNINGS_SHOWN) > 0:
        say(f"note: and {more} more; --json lists all")
    if out is not None:
        tell(f"Written to {printable(str(out))}.")
