"""Options that several commands share."""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from bnmind.cli.shared.command import until_end
from bnmind.cli.shared.completion import NOISES, completing, completing_members
from bnmind.cli.shared.places import DEFAULT_RESULTS
from bnmind.errors import BnmindError, InvalidArgumentError

__all__ = [
    "DEFAULT_COLORS",
    "DEFAULT_PEGS",
    "ClusterOption",
    "CodePrior",
    "Colors",
    "Explained",
    "History",
    "Json",
    "Limit",
    "NoRepeats",
    "Noise",
    "Normalize",
    "Pegs",
    "Player",
    "ResultsDirectory",
    "SavedColors",
    "SavedNoRepeats",
    "SavedPegs",
    "SavedPrior",
    "Seed",
    "Workers",
    "workers_of",
]

DEFAULT_PEGS = 4
DEFAULT_COLORS = 6

_NOISE = "exact, false:P, independent:P or file:PATH."

Pegs: TypeAlias = Annotated[int, typer.Option("--pegs", metavar="N", help="Positions of a code.")]
Colors: TypeAlias = Annotated[
    int, typer.Option("--colors", metavar="N", help="Colors that a peg can have.")
]
NoRepeats: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-repeats/--repeats",
        help="Whether a color may occur twice, in codes and in guesses. [default: it may]",
        show_default=False,
    ),
]
SavedPrior: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help="How the code-maker chooses codes; see below. [default: uniform, or as saved]",
        autocompletion=completing_members("bnmind.mastermind.priors", "PRIORS"),
    ),
]
SavedPegs: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--pegs", metavar="N", help=f"Positions of a code. [default: {DEFAULT_PEGS}, or as saved]"
    ),
]
SavedColors: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--colors",
        metavar="N",
        help=f"Colors that a peg can have. [default: {DEFAULT_COLORS}, or as saved]",
    ),
]
SavedNoRepeats: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--no-repeats/--repeats",
        help="Whether a color may occur twice. [default: it may, or as saved]",
        show_default=False,
    ),
]
Noise: TypeAlias = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="NOISE",
        help=f"How replies are falsified: {_NOISE}",
        autocompletion=completing(lambda: NOISES),
    ),
]
History: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--history",
        metavar="TEXT",
        help='Guesses and the replies to them, like "1123 1b1w, 2345 0b2w". A repeated option goes'
        " on.",
        show_default=False,
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="N", help="Make random choices repeatable."),
]
Explained: TypeAlias = Annotated[
    bool, typer.Option("--explain", help="Say in plain words what the numbers mean.")
]
Player: TypeAlias = Annotated[
    str,
    typer.Option(
        "--strategy",
        metavar="NAME",
        help="The strategy that proposes guesses; bnmind strategy --help lists them.",
        autocompletion=completing_members("bnmind.strategies", "STRATEGIES"),
    ),
]
CodePrior: TypeAlias = Annotated[
    str,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help="How the code-maker chooses codes; see below.",
        autocompletion=completing_members("bnmind.mastermind.priors", "PRIORS"),
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-guesses", min=1, metavar="N", help="The limit of guesses in the game, if any."
    ),
]
Json: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON, with numbers in full precision and entropies in bits."
    ),
]
ResultsDirectory: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        help=f"The directory for the results. [default: {DEFAULT_RESULTS}]",
        show_default=False,
    ),
]
Normalize: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--normalize",
        help="Normalize probabilities whose sum differs from 1 by rounding only.",
    ),
]
DropDecisions: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--drop-decisions",
        help="Read an influence diagram without its decision and utility nodes. A decision on"
        " which chance nodes depend becomes a variable with a uniform distribution.",
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Number of processes; -1: one for each core. [default: 1]",
        show_default=False,
    ),
]
ClusterOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="A Dask cluster instead of --workers: tcp://HOST:PORT, or local:N to start one.",
        show_default=False,
    ),
]


def workers_of(workers: int | None, cluster: str | None) -> int | Executor:
    """Return what ``--workers`` and ``--cluster`` say; a cluster is left when the command ends.

    Raises
    ------
    BnmindError
        If both are given, a number or an address is invalid, or Dask is not installed.
    """
    from bnmind._workers import Cluster, faults_of_workers

    if cluster is None:
        if faults := faults_of_workers(1 if workers is None else workers):
            raise InvalidArgumentError(faults[0], workers)
        return 1 if workers is None else workers
    if workers is not None:
        raise BnmindError("expected either --workers or --cluster, got both")
    return until_end(Cluster(cluster))
