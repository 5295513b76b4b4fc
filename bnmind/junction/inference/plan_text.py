"""How a plan's figures are put in words."""

from __future__ import annotations

from collections.abc import Sequence

from bnmind._messages import bytes_text, many
from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.inference.compiled_query import CompiledQuery

__all__ = ["listed_text", "plan_line", "plan_text", "separators_text"]


def listed_text(names: list[str], comma: str = ", ") -> str:
    """Return the first few names, and how many there are."""
    shown = comma.join(names[:6])
    return f"{shown}, … {len(names)} in all" if len(names) > 6 else shown


def separators_text(trees: Sequence[JunctionTree]) -> str:
    """Return all separators but empty ones."""
    found = {edge.separator for tree in trees for edge in tree.edges if edge.separator}
    return ", ".join("{" + " ".join(separator) + "}" for separator in sorted(found))


def plan_line(plan: CompiledQuery) -> str:
    """Return a plan in one line."""
    evidence = listed_text([v.name for v in plan.evidence])
    targets = listed_text([", ".join(v.name for v in scope) for scope in plan.targets], "; ")
    soft = [f"{v.name}?" for v in plan.soft]
    given = "; ".join([evidence or "nothing", *soft, *plan.inputs])
    size = f"{plan.total_size:,} cells" if plan.by_case is None else "planned for each case"
    return f"Plan({targets} | {given}; {size})"


def plan_text(plan: CompiledQuery) -> str:
    """Return a plan in full: its cliques, what was left out, what a run costs."""
    saved = plan.savings
    lines = [str(tree) for tree in plan.trees]
    if len(plan.trees) > 1:
        lines.append(f"total size of {len(plan.trees)} trees  {plan.total_size:,}")
    if plan.by_case is not None:
        lines.append(
            "planned for each case, since the size depends on what is observed: for any evidence"
            f" it would have about {many(plan.by_case)} cells"
        )
    else:
        lines.append("separators  " + (separators_text(plan.trees) or "none"))
    if saved.cells_before is not None:
        lines.append(
            f"cells before restriction  {saved.cells_before:,}, after  {plan.total_size:,}"
        )
    lines.append(
        f"left out  {saved.barren} barren and {saved.observed} certain variables,"
        f" {saved.states} impossible states"
    )
    if plan.by_case is None:
        lines += [
            f"multiplications in a run  {plan.multiplications:,}"
            f" of at most {plan.limits.max_multiplications:,}",
            f"memory in a run  {bytes_text(plan.memory)}"
            f" of at most {bytes_text(plan.limits.max_bytes)}",
        ]
    lines.append("evidence  " + (", ".join(v.name for v in plan.evidence) or "none"))
    if plan.soft:
        lines.append("soft      " + ", ".join(v.name for v in plan.soft))
    lines += [
        f"input     {name}({', '.join(v.name for v in scope)})"
        for name, scope in plan.inputs.items()
    ]
    lines += [f"target    {', '.join(v.name for v in scope)}" for scope in plan.targets if scope]
    return "\n".join(lines)
