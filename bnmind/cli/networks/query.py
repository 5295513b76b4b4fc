"""``bnmind query``: the distributions of variables of a network, given evidence."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind._files import check_writable, write_file
from bnmind._messages import one_line
from bnmind._registry import made_by_name
from bnmind.cli.networks.beyond_memory import (
    APPROXIMATIONS,
    planned_in_slices,
    run_plan,
    show_approximation,
)
from bnmind.cli.networks.competition import answer_task, task_of
from bnmind.cli.networks.most_probable import check_options, show_most_probable
from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.members import Described, command_with_members
from bnmind.cli.shared.models import model_from
from bnmind.cli.shared.named_states import evidence_of, names_of
from bnmind.cli.shared.options import DropDecisions, Json, Normalize, Seed
from bnmind.cli.shared.printable import tell, tell_json
from bnmind.cli.shared.work import interruptible, working
from bnmind.errors import BnmindError, TooLargeError

if TYPE_CHECKING:
    from bnmind.junction import Limits, OrderFinder, Plan, Posterior, SlicedPlan
    from bnmind.pgm import FactorModel

__all__ = ["QUERY_HELP", "QueryCommand", "query"]

WIDEST = 100
"""Columns beyond which a table only becomes harder to read."""

DEFAULT_ORDER = "portfolio"

_MOST = 1e30
"""The largest limit that can be given."""

QUERY_HELP = """Compute the distributions of variables of a Bayesian network, given evidence.

The model is a file in a format from the list below. It may be compressed as .gz.

\b
Examples:
  bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes,dysp=yes --targets lung,bronc
  bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --evidence xray=yes --plan --json
  bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --svg asia.svg
  bnmind query models/diagnosis/asia.xdsl --evidence smoke=yes --mpe
  bnmind query MODEL.uai --evidence-file MODEL.uai.evid --task MAR --out MODEL.uai.MAR
"""


def _model_formats() -> Mapping[str, Described]:
    """Return the formats of model files."""
    from bnmind.pgm.files import MODEL_FORMATS

    return MODEL_FORMATS


def _order_finders() -> Mapping[str, Described]:
    from bnmind.junction import ORDER_FINDERS

    return ORDER_FINDERS


def _tasks() -> Mapping[str, Described]:
    from bnmind.junction import COMPETITION_TASKS

    return COMPETITION_TASKS


QueryCommand = command_with_members(
    Formats_of_networks=_model_formats,
    Order_finders=_order_finders,
    Tasks_of_the_UAI_competitions=_tasks,
    Approximations=lambda: APPROXIMATIONS,
)
"""A command whose help lists the formats of model files, the order finders, the tasks and
the approximations."""


@dataclass(frozen=True, kw_only=True)
class QueryOptions:
    """The options of the command."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The file that holds the model.")]
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="A=x,B=y",
            help="The evidence: variables and their states. Repeat the option for more. Names"
            " and states may contain commas and = if there is only one way to read them.",
        ),
    ] = None
    evidence_file: Annotated[
        Path | None,
        typer.Option(
            "--evidence-file",
            metavar="FILE",
            help="A file of evidence of the UAI competitions: the number of findings, then for"
            " each the numbers of a variable and a state, from 0, in the order of the model file."
            " For --task, it may hold several samples.",
            show_default=False,
        ),
    ] = None
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--targets",
            metavar="A,B",
            help="The variables of interest. [default: all without evidence] Repeat the option"
            " for more. Put a name that contains a comma in double quotes.",
            show_default=False,
        ),
    ] = None
    task: Annotated[
        str | None,
        typer.Option(
            "--task",
            metavar="NAME",
            help="Answer a task of the UAI competitions in their format, from the list below.",
            show_default=False,
        ),
    ] = None
    query_file: Annotated[
        Path | None,
        typer.Option(
            "--query-file",
            metavar="FILE",
            help="The variables of --task MMAP: their number, then their numbers, from 0."
            " [default: MODEL.query; --targets names them instead]",
            show_default=False,
        ),
    ] = None
    best: Annotated[
        int | None,
        typer.Option(
            "--best",
            min=1,
            metavar="K",
            help="The K most probable answers to --task MPE or MMAP, each in a line, the most"
            " probable first. [default: 1]",
            show_default=False,
        ),
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The file for the answer to --task. [default: the standard output]",
            show_default=False,
        ),
    ] = None
    mpe: Annotated[
        bool,
        typer.Option(
            "--mpe",
            help="Print the most probable states by name: of all variables (MPE), or jointly of"
            " --targets (MAP).",
        ),
    ] = False
    order: Annotated[
        str | None,
        typer.Option(
            "--order",
            metavar="NAME",
            help="How to find the elimination order, from the list below."
            f" [default: {DEFAULT_ORDER}]",
            show_default=False,
        ),
    ] = None
    show_plan: Annotated[
        bool, typer.Option("--plan", help="Show the junction tree and its cost too.")
    ] = False
    picture: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", help="Draw the network with its distributions to this file."
        ),
    ] = None
    approximate: Annotated[
        str | None,
        typer.Option(
            "--approximate",
            metavar="NAME",
            help="Give an approximate answer, from the list below.",
            show_default=False,
        ),
    ] = None
    seed: Seed = None
    sums: Annotated[
        Path | None,
        typer.Option(
            "--sums",
            metavar="FILE",
            help="Keep the sums of slices in this file. An interrupted command goes on from there.",
            show_default=False,
        ),
    ] = None
    normalize: Normalize = False
    drop_decisions: DropDecisions = False
    max_bytes: Annotated[
        float | None,
        typer.Option(
            "--max-bytes",
            min=1,
            metavar="N",
            help="The limit for the memory of a run, such as 8e9; a larger run is cut into slices."
            " [default: 2 GiB]",
            show_default=False,
        ),
    ] = None
    max_multiplications: Annotated[
        float | None,
        typer.Option(
            "--max-multiplications",
            min=1,
            metavar="N",
            help="The limit for the multiplications of a run, such as 1e12. [default: 1.7e10]",
            show_default=False,
        ),
    ] = None
    max_seconds: Annotated[
        float | None,
        typer.Option(
            "--max-seconds",
            metavar="S",
            help="The limit for the predicted time of a run, such as 3600. [default: 60]",
            show_default=False,
        ),
    ] = None
    as_json: Json = False


@with_options(QueryOptions)
def query(options: QueryOptions) -> None:
    """Print the marginals of the targets and the probability of the evidence."""
    from bnmind.junction import ORDER_FINDERS, compile_model
    from bnmind.pgm.files import read_model

    # Unless one is named, each question has its own default.
    finder: OrderFinder | None = None
    if options.order is not None:
        finder = made_by_name("order finder", ORDER_FINDERS, options.order)
    if options.mpe:
        check_options(options)
    task = task_of(options)
    if options.picture is not None:
        if options.picture.suffix.lower() != ".svg":
            raise BnmindError(f"--svg needs a file named .svg, got {options.picture.name}")
        check_writable(options.picture)
    if options.sums is not None:
        check_writable(options.sums)
    if options.seed is not None and options.approximate is None:
        raise BnmindError("--seed goes with --approximate likelihood-weighting")
    network = model_from(
        options.model,
        read_model,
        normalize=options.normalize,
        drop_decisions=options.drop_decisions,
    )
    limits = _limits(options)
    if task is not None and options.approximate is None:
        if options.sums is not None:
            raise BnmindError("--sums does not go with --task")
        engine = compile_model(network, order=finder, limits=limits)
        answer_task(task, options, engine, _samples(options, network))
        return
    known = _samples(options, network, one=True)[0]
    if options.mpe:
        targets = names_of(options.targets or [], {v.name for v in network.variables})
        show_most_probable(
            network, known, targets, order=finder, limits=limits, as_json=options.as_json
        )
        return
    if options.approximate is not None:
        _approximate(options, known, finder, limits)
        return
    _show(options, (network, known), finder, limits)


def _limits(options: QueryOptions) -> Limits:
    """Return the limits of the cost of a run."""
    from bnmind.junction import Limits

    usual = Limits()
    for name, number in (
        ("--max-bytes", options.max_bytes),
        ("--max-multiplications", options.max_multiplications),
        ("--max-seconds", options.max_seconds),
    ):
        if number is not None and not number <= _MOST:
            raise BnmindError(f"expected {name} of at most {_MOST:.0e}, got {number:g}")
    return Limits(
        int(options.max_bytes or usual.max_bytes),
        int(options.max_multiplications or usual.max_multiplications),
        max_seconds=usual.max_seconds if options.max_seconds is None else options.max_seconds,
    )


def _approximate(
    options: QueryOptions, known: dict[str, str], finder: OrderFinder | None, limits: Limits
) -> None:
    """Print an approximate answer; raise an error if an option does not go with it."""
    from bnmind.pgm.files import read

    for option, given in (
        ("--task", options.task is not None),
        ("--svg", options.picture is not None),
        ("--plan", options.show_plan),
        ("--sums", options.sums is not None),
    ):
        if given:
            raise BnmindError(f"{option} does not go with --approximate")
    network = model_from(
        options.model, read, normalize=options.normalize, drop_decisions=options.drop_decisions
    )
    chosen = names_of(options.targets or [], {v.name for v in network.variables})
    names = chosen or [v.name for v in network.variables if v.name not in known]
    show_approximation(
        options.approximate or "",
        network,
        (known, names, finder, limits),
        seed=options.seed,
        as_json=options.as_json,
    )


def _samples(
    options: QueryOptions, network: FactorModel, *, one: bool = False
) -> list[dict[str, str]]:
    """Return the evidence of both options, for each sample of the file; ``one`` allows no more."""
    from bnmind.pgm.competition import read_evidence, read_evidence_samples

    known = evidence_of(options.evidence or [], {v.name: v.states for v in network.variables})
    if options.evidence_file is None:
        return [known]
    if one:
        samples = [read_evidence(options.evidence_file, network)]
    else:
        samples = list(read_evidence_samples(options.evidence_file, network))
    twice = [name for found in samples for name in found if name in known]
    if twice:
        raise BnmindError(
            f"the evidence on {one_line(twice[0])} is given twice, by --evidence and in"
            f" {options.evidence_file}"
        )
    return [{**found, **known} for found in samples]


def _show(
    options: QueryOptions,
    question: tuple[FactorModel, dict[str, str]],
    finder: OrderFinder | None,
    limits: Limits,
) -> None:
    """Print the distributions given the evidence, as a table or as JSON."""
    from bnmind.junction import Plan, compile_plan
    from bnmind.views import belief_view

    network, known = question
    chosen = names_of(options.targets or [], {v.name for v in network.variables})
    names = chosen or [v.name for v in network.variables if v.name not in known]

    def planned() -> tuple[Plan, dict[str, str]]:
        targets = [[name] for name in names]
        plan = compile_plan(network, evidence=known, targets=targets, order=finder, limits=limits)
        # If each case has a plan of its own, show the plan for this evidence.
        return (plan, known) if plan.by_case is None else (plan.for_case(known), {})

    plan: Plan | SlicedPlan
    try:
        plan, findings = working("planning", lambda _: planned())
    except TooLargeError as refusal:
        plan = planned_in_slices(
            network, known, names, order=finder, limits=limits, refusal=refusal
        )
        findings = {}
    posterior = run_plan(plan, findings, options.sums)
    if options.sums is not None and isinstance(plan, Plan):
        unused = f"The whole fits in memory, so no slices were needed: {options.sums} is not used."
        tell(unused, err=options.as_json)
    view = interruptible(lambda: belief_view(network, posterior, evidence=known))
    picture, show_plan = options.picture, options.show_plan
    if picture is not None:
        write_file(picture, working("drawing", lambda _: view.svg()))
    if options.as_json:
        tell_json(_as_json(plan, posterior, show_plan=show_plan))
        return
    shown = list(dict.fromkeys([*known, *names]))
    if shown:
        width = shutil.get_terminal_size().columns
        tell(working("printing", lambda _: view.text(width=min(width, WIDEST), names=shown)))
    tell(f"log-probability of the evidence {posterior.log_evidence:.6g}")
    if show_plan:
        tell(f"\n{plan}")
    if picture is not None:
        tell(f"\nWritten: {picture}")


def _as_json(
    plan: Plan | SlicedPlan, posterior: Posterior, *, show_plan: bool
) -> dict[str, object]:
    from bnmind.junction import SlicedPlan

    result: dict[str, object] = {
        "marginals": {
            variable.name: dict(zip(variable.states, target.values.tolist(), strict=True))
            for target in posterior.targets
            for variable in target.scope
        },
        "log_evidence": posterior.log_evidence,
    }
    if not show_plan:
        return result
    if isinstance(plan, SlicedPlan):
        result["plan"] = {
            "slices": plan.n_slices,
            "sliced": [v.name for v in plan.sliced],
            "multiplications": plan.multiplications,
            "memory": plan.memory,
        }
    else:
        saved, trees = plan.savings, plan.trees
        result["plan"] = {
            "total_size": plan.total_size,
            "largest": max(one.size for tree in trees for one in tree.cliques),
            "multiplications": plan.multiplications,
            "seconds": plan.seconds,
            "memory": plan.memory,
            "proven": all(tree.order.proven for tree in trees),
            "left_out": {
                "barren_variables": saved.barren,
                "certain_variables": saved.observed,
                "impossible_states": saved.states,
            },
            "trees": len(trees),
            "order": [name for tree in trees for name in tree.order.variables],
            "cliques": [
                {"variables": list(clique.variables), "size": clique.size}
                for tree in trees
                for clique in tree.cliques
            ],
            "separators": [list(edge.separator) for tree in trees for edge in tree.edges],
        }
    return result
