"""Compilation of plans for derivatives from a model, evidence variables and a target."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bnmind._arguments import checked
from bnmind._messages import format_bytes, listed
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction.derivatives.gradient import input_tables
from bnmind.junction.derivatives.plan import DerivativePlan
from bnmind.junction.forms import choose_forms
from bnmind.junction.graphs import JunctionTree, OrderFinder, graph_of_scopes
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.program.contraction import ProgramBuilder
from bnmind.junction.program.message_passing import (
    Passing,
    ReverseProgram,
    TreeShape,
    reverse_of,
)
from bnmind.junction.program.program import Product, Program, Step
from bnmind.junction.reduction import without_barren
from bnmind.junction.triangulation.portfolio import Portfolio
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

# --- The contractions of a junction tree toward a target, and the order of their inputs' axes -----


def program_of(
    tree: JunctionTree,
    sizes: Mapping[str, int],
    scopes: Sequence[Sequence[str]],
    target: str | None,
    wanted: Sequence[int],
) -> tuple[Program, ReverseProgram | None, int | None]:
    """Return the contractions toward the target, those of derivatives, and the target's register.

    ``wanted`` are the inputs whose derivatives are asked for.
    """
    number = {name: i for i, name in enumerate(sizes)}
    registers = [tuple([number[name] for name in scope]) for scope in scopes]
    builder = ProgramBuilder(tuple(sizes.values()), registers)

    def numbered(names: Iterable[str]) -> frozenset[int]:
        return frozenset([number[name] for name in names])

    shape = TreeShape(
        tuple([numbered(clique.variables) for clique in tree.cliques]),
        tuple([(i, j, numbered(scope)) for i, j, scope in tree.edges]),
    )
    passing = Passing(shape, builder, [i for i, scope in enumerate(registers) if scope])
    end = passing.answer(numbered([target] if target else []))
    if end is None:
        return builder.build([]), None, None
    reverse = reverse_of(with_inputs_in_order(builder.build([end])), end, wanted)
    return with_inputs_in_order(builder.build({*reverse.taken, end})), reverse, end


def with_inputs_in_order(program: Program) -> Program:
    """Return a program whose products take the axes of its inputs in the order in which they come.

    Runs then need not bring large tables into another order again and again. The scopes of the
    inputs have the order that the inputs must have.
    """
    uses = Counter([register for step in program.steps for register in {step.left, step.right}])
    scopes, steps = list(program.scopes), []
    for operation, left, right in program.steps:
        if isinstance(operation, Product):
            for register, axes in ((left, operation.left_axes), (right, operation.right_axes)):
                if register < program.n_inputs and uses[register] == 1 and axes is not None:
                    scopes[register] = tuple([program.scopes[register][axis] for axis in axes])
                    if register == left:
                        operation = replace(operation, left_axes=None)
                    else:
                        operation = replace(operation, right_axes=None)
        steps.append(Step(operation, left, right))
    return replace(program, steps=tuple(steps), scopes=tuple(scopes))


# --- Compilation of plans for derivatives from a model, evidence variables and a target -----------


@checked
def compile_derivatives(
    model: Network | FactorModel,
    *,
    target: str | None = None,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    relevant_only: bool = False,
) -> DerivativePlan:
    """Compile a plan for the derivatives of a probability by all entries of a model's tables.

    Parameters
    ----------
    model
        A network, or a product of factors that are not negative.
    target
        The variable whose posterior is differentiated; not needed for the derivatives of the
        probability of the evidence.
    evidence
        The evidence variables. Each run takes a state of each of them.
    soft
        Variables with uncertain or missing evidence. For each of them, a run takes a state, a
        likelihood, or nothing.
    order
        The search for an elimination order; by default `Portfolio`.
    limits
        The limits of the memory and the multiplications of a run with its backward pass.
    relevant_only
        Whether to leave out the tables of a network on which neither the target nor the evidence
        depends as long as their rows sum to one. This is faster. They then have no partial
        derivatives, and their entries have the effect zero; see `Gradient`.

    Raises
    ------
    UnknownNameError
        If a variable is not in the model.
    InvalidArgumentError
        If a variable is named twice, or the target is evidence.
    InvalidModelError
        If a factor is negative or complex.
    TooLargeError
        If a run would exceed the limits; raised before anything large is allocated.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> plan = compile_derivatives(network, target="rain", evidence=["wet"])
    >>> plan
    DerivativePlan(P(rain | evidence) by 6 entries, 2 cells)
    >>> gradient = plan.posterior("yes", {"wet": "yes"})
    >>> round(gradient.value, 3), gradient["rain"].round(3).tolist()
    (0.692, [-0.266, 1.065])
    """
    observed, uncertain, wanted = _named(model, evidence, soft, target)
    potentials = model.potentials
    names = [v.name for v in observed]
    if relevant_only:
        needed = [*names, *[v.name for v in uncertain], *([target] if target else [])]
        potentials = without_barren(potentials, needed)
    domains = {v.name: tuple(range(v.n_states)) for v in model.variables}
    formed = choose_forms(
        potentials,
        domains,
        observed=names,
        joints=[[target]] if target else [],
        signed=False,
        max_cells=min(limits.table_cells, 2**22),
    )
    cells = sum(math.prod([v.n_states for v in p.scope]) for p in formed)
    if cells > limits.table_cells:
        raise TooLargeError(
            f"the tables of the model would take {format_bytes(8 * cells)}; allowed are"
            f" max_bytes={limits.max_bytes:,}",
            needed=8 * cells,
            budget=limits.max_bytes,
        )
    sizes = {v.name: v.n_states for v in model.variables}
    sizes |= {v.name: v.n_states for p in formed for v in p.scope}
    present = {v.name for p in formed for v in p.scope} | {v.name for v in uncertain}
    present |= {target} if target else set()
    hidden = {n: s for n, s in sizes.items() if n in present and n not in set(names)}
    scopes = [[v.name for v in p.scope if v.name in hidden] for p in formed]
    graph = graph_of_scopes(hidden, [*scopes, *[[v.name] for v in uncertain]])
    tree = JunctionTree.from_order(graph, (order or Portfolio())(graph))
    if refusal := limits.refusal_of_trees([tree], hidden):
        raise refusal
    scopes += [[v.name] for v in uncertain]
    originals = {id(p): i for i, p in enumerate(model.potentials)}
    places = [None if isinstance(p, FunctionalCPD) else originals.get(id(p)) for p in formed]
    wanted_tables = [i for i, place in enumerate(places) if place is not None]
    program, reverse, end = program_of(tree, hidden, scopes, target, wanted_tables)
    orders = [[list(hidden)[v] for v in scope] for scope in program.scopes[: len(formed)]]
    tables = input_tables(formed, places, orders, limits)
    plan = DerivativePlan(
        model=model,
        evidence=observed,
        soft=uncertain,
        target=wanted,
        relevant_only=relevant_only,
        tree=tree,
        tables=tables,
        program=program,
        end=end,
        reverse=reverse,
    )
    largest = max(tree.cliques, key=lambda clique: clique.size, default=None)
    if refusal := limits.refusal(plan.multiplications, plan.memory, largest):
        raise refusal
    return plan


def _named(
    model: Network | FactorModel, evidence: Iterable[str], soft: Iterable[str], target: str | None
) -> tuple[tuple[Variable, ...], tuple[Variable, ...], Variable | None]:
    """Return the variables of the evidence, of the soft evidence, and the target."""
    observed = tuple([model.variable(name) for name in evidence])
    uncertain = tuple([model.variable(name) for name in soft])
    wanted = None if target is None else model.variable(target)
    names = [v.name for v in (*observed, *uncertain)]
    problems = [
        f"{name} is named twice" for name in sorted({n for n in names if names.count(n) > 1})
    ]
    if wanted is not None and wanted in observed:
        problems.append(f"the target {wanted.name} must not be evidence")
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    return observed, uncertain, wanted
