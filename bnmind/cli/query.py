"""``bnmind query``: what a network says of its variables, given evidence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind.cli.options import Json

if TYPE_CHECKING:
    from bnmind.junction import Plan, Posterior

__all__ = ["QUERY_HELP", "query"]

WIDEST = 100
"""Columns beyond which a table only becomes harder to read."""

QUERY_HELP = """Ask a Bayesian network for the distribution of its variables, given evidence.

The model is a file: .bif, .xdsl, .xmlbif, .xml, .net, .uai or .json, or one of them in .gz.

\b
Examples:
  bnmind query models/mastermind-3x4.bif --evidence T1=1,T2=1,T3=2 --targets P,C
  bnmind query alarm.bif --evidence HR=HIGH --evidence BP=LOW --plan --json
  bnmind query alarm.bif --evidence HR=HIGH --svg alarm.svg
"""


def query(
    model: Annotated[Path, typer.Argument(help="The file that holds the model.")],
    evidence: Annotated[
        list[str] | None,
        typer.Option(
            "--evidence",
            metavar="A=x,B=y",
            help="What is known: variables and their states. May be given several times.",
        ),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--targets",
            metavar="A,B",
            help="The variables asked for; unless given, all that are not evidence.",
        ),
    ] = None,
    show_plan: Annotated[
        bool, typer.Option("--plan", help="Show the junction tree and its cost too.")
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--svg", metavar="FILE", help="Draw the network with what it says, into this file."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the marginals of the targets and the probability of the evidence."""
    from bnmind.junction import compile_plan
    from bnmind.pgm.files import read_model
    from bnmind.views import belief_view

    known = _evidence(evidence or [])
    network = read_model(model)
    wanted = [name.strip() for part in targets or [] for name in part.split(",") if name.strip()]
    names = wanted or [v.name for v in network.variables if v.name not in known]
    plan = compile_plan(network, evidence=known, targets=[[name] for name in names])
    posterior = plan.run(known)
    view = belief_view(network, posterior, evidence=known)
    if picture is not None:
        picture.write_text(view.svg(), encoding="utf-8")
    if as_json:
        typer.echo(json.dumps(_as_json(plan, posterior, show_plan=show_plan), indent=2))
        return
    shown = list(dict.fromkeys([*known, *names]))
    if shown:
        width = shutil.get_terminal_size().columns
        typer.echo(view.text(width=min(width, WIDEST), names=shown))
    typer.echo(f"log-probability of the evidence {posterior.log_evidence:.6g}")
    if show_plan:
        typer.echo(f"\n{plan}")
    if picture is not None:
        typer.echo(f"\nWritten: {picture}")


def _evidence(texts: Sequence[str]) -> dict[str, str]:
    """Return the findings; a state may hold ``=``, since only the first one parts."""
    from bnmind.errors import BnmindError

    found: dict[str, str] = {}
    for text in texts:
        for entry in text.split(","):
            name, equals, state = (part.strip() for part in entry.partition("="))
            if not (name and equals and state):
                raise BnmindError(f"expected evidence as VARIABLE=STATE, got {entry!r}")
            if name in found:
                raise BnmindError(f"expected evidence on {name} once, got it twice")
            found[name] = state
    return found


def _as_json(plan: Plan, posterior: Posterior, *, show_plan: bool) -> dict[str, object]:
    result: dict[str, object] = {
        "marginals": {
            variable.name: dict(zip(variable.states, target.values.tolist(), strict=True))
            for target in posterior.targets
            for variable in target.scope
        },
        "log_evidence": posterior.log_evidence,
    }
    if show_plan:
        saved, trees = plan.savings, plan.trees
        result["plan"] = {
            "total_size": plan.cells,
            "largest": plan.largest.size,
            "multiplications": plan.multiplications,
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
