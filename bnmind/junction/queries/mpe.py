"""The most probable explanation: the most probable configuration given the evidence.

The program of a junction tree runs with maxima instead of sums, on logarithms. A backward walk from
the overall maximum then finds the states. Barren variables cannot be omitted, because the maximum
of a conditional distribution is not one.

References
----------
J. Pearl, *Probabilistic Reasoning in Intelligent Systems*, 1988, chapter 5 (belief
revision); A. P. Dawid, "Applications of a general propagation algorithm for
probabilistic expert systems", Statistics and Computing 2 (1992).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table
from bnmind._messages import counted, many
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.answering import Answering
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Evidence, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.minimal_conflict import impossible
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.registers import starting_registers
from bnmind.junction.program.log_space import logarithms, run_logarithms
from bnmind.junction.queries.backward_walk import told, walk_back
from bnmind.junction.queries.best_walk import in_order, walk_back_to_best
from bnmind.junction.queries.elimination_by_case import Elimination
from bnmind.pgm.factor import Values
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["Explanation", "ExplanationPlan", "check_count", "compile_explanation"]

MOST_STATES = 2**24
"""The most states that explanations may have in all; as dictionaries they take about 1 GiB."""


@dataclass(frozen=True)
class Explanation(Result, Value):
    """A configuration that explains the evidence, and its probability."""

    states: Mapping[str, str]
    """The state of every explained variable, {variable: state}."""
    log_probability: float
    """Natural logarithm of the joint probability of these states and the evidence; for a product
    of factors, of their product."""

    def to_dict(self) -> dict[str, Any]:
        """Return the states and their probability as a record for JSON."""
        return {"states": dict(self.states), "log_probability": self.log_probability}

    def _shown(self) -> Iterator[str | Table]:
        yield Table(("variable", "most probable state"), list(self.states.items()))
        yield f"log-probability of these states and the evidence {self.log_probability:.6g}"


@dataclass(frozen=True, eq=False, repr=False)
class ExplanationPlan(Value):
    """A compiled search for the most probable states of all variables that are not evidence.

    `compile_explanation` makes such plans. Printing a plan shows its cliques, their sizes and the
    cost.
    """

    variables: tuple[Variable, ...]
    """The explained variables: all variables without evidence, in the order of the model."""
    plan: Plan
    """The plan that eliminates all variables. It has no program if each case has its own plan; see
    `Plan.by_case`."""
    elimination: Elimination
    """The model and the evidence variables, from which plans for cases are made."""

    def __repr__(self) -> str:
        return f"ExplanationPlan({counted(len(self.variables), 'variable')}{told(self.plan)})"

    def __str__(self) -> str:
        return f"{self.plan}\nexplains  {', '.join(v.name for v in self.variables)}"

    def run(self, evidence: Evidence | None = None) -> Explanation:
        """Return the most probable configuration given the evidence.

        If several configurations are equally probable, the same plan and evidence always give the
        same one.

        Parameters
        ----------
        evidence
            As for `Plan.run`.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        UnknownNameError, InvalidArgumentError
            If the evidence is not that of the plan.
        TooLargeError
            If each case has its own plan, and the plan for this evidence exceeds its limits.
        """
        compiled, filled, log_probability = self._maximized(evidence)
        states = walk_back(compiled.program, filled, 1, np.add, _most_likely)
        return self._explanation(compiled, states[:, 0], log_probability)

    @checked
    def best(self, count: int, evidence: Evidence | None = None) -> tuple[Explanation, ...]:
        """Return the most probable configurations given the evidence, in descending order.

        Equally probable configurations (up to a relative difference of 1e-10 of the logarithms)
        stand in the order of the states of the variables. If some of them are beyond ``count``, the
        same plan and evidence always give the same ones.

        Parameters
        ----------
        count
            The number of configurations. The result has fewer if fewer are possible.
        evidence
            As for `Plan.run`.

        Raises
        ------
        InvalidArgumentError
            If ``count`` is less than 1, or the evidence is not that of the plan.
        TooLargeError
            If there are too many states to return, or as for `run`.
        ImpossibleEvidenceError, UnknownNameError
            As for `run`.
        """
        possible = check_count(count, self.variables)
        compiled, filled, log_probability = self._maximized(evidence)
        states, differences = walk_back_to_best(compiled.program, filled, min(count, possible))
        rows = dict(zip(compiled.numbered, states, strict=True))
        own = [rows[v.name] for v in self.variables if v.name in rows]
        logs = log_probability + differences
        order = in_order(np.array(own, dtype=np.intp).reshape(-1, len(logs)), logs)
        return tuple(self._explanation(compiled, states[:, i], float(logs[i])) for i in order)

    def _maximized(self, evidence: Evidence | None) -> tuple[CompiledQuery, list[Values], float]:
        """Return the plan of a case, its registers after the run, and the largest logarithm."""
        evidence = read_findings(evidence, self.plan.evidence, self.plan.soft)
        compiled = self.elimination.for_case(self.plan, evidence).compiled
        logs = logarithms(starting_registers(compiled, evidence), len(compiled.sources))
        log_probability = float(sum(logs[register] for register in compiled.scalars))
        filled = run_logarithms(compiled.program, logs, np.maximum)
        end = compiled.answers[0].register
        log_probability += 0.0 if end is None else float(filled[end])
        if not log_probability > -np.inf:
            raise impossible(Answering(compiled).conflict(evidence))
        return compiled, filled, log_probability

    def _explanation(
        self, compiled: CompiledQuery, positions: NDArray[np.intp], log_probability: float
    ) -> Explanation:
        at = dict(zip(compiled.numbered, positions.tolist(), strict=True))
        return Explanation(
            {v.name: v.states[at.get(v.name, 0)] for v in self.variables}, log_probability
        )


def check_count(count: int, variables: Sequence[Variable]) -> int:
    """Return the number of configurations; raise an error if ``count`` of them are too many."""
    if count < 1:
        raise InvalidArgumentError(f"count must be at least 1, got {count}", count)
    possible = math.prod([v.n_states for v in variables])
    needed = min(count, possible) * max(1, len(variables))
    if needed > MOST_STATES:
        raise TooLargeError(
            f"expected explanations of at most {MOST_STATES:,} states in all, got"
            f" {many(needed)}; ask for fewer",
            needed=needed,
            budget=MOST_STATES,
        )
    return possible


def _most_likely(weights: Floats, rows: slice) -> NDArray[np.intp]:
    return np.asarray(np.argmax(weights, axis=1), dtype=np.intp)


@checked
def compile_explanation(
    model: Network | FactorModel,
    *,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ExplanationPlan:
    """Return a plan for the most probable explanation of any states of the evidence variables.

    Parameters
    ----------
    model
        A network, or a product of non-negative factors. Functions of many parents are split into
        chains.
    evidence, soft
        The evidence variables, and those with soft evidence, as in `compile_plan`. Variables with
        soft evidence are explained too.
    order, limits
        As in `compile_plan`.

    Raises
    ------
    TooLargeError
        If a run would exceed the limits, unless separate plans for
        cases are possible. The error names the largest clique, or a variable whose table is too
        large.
    UnknownNameError, InvalidArgumentError
        As in `compile_plan`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, sprinkler = Variable("rain", ("no", "yes")), Variable("sprinkler", ("off", "on"))
    >>> wet = Variable("wet", ("no", "yes"))
    >>> network = Network((
    ...     TabularCPD(rain, (), [0.8, 0.2]),
    ...     TabularCPD(sprinkler, (rain,), [[0.6, 0.9], [0.4, 0.1]]),
    ...     TabularCPD(wet, (rain, sprinkler), [[[1, 0.1], [0.2, 0]], [[0, 0.9], [0.8, 1]]]),
    ... ))
    >>> plan = compile_explanation(network, evidence=["wet"])
    >>> explanation = plan.run({"wet": "yes"})
    >>> dict(explanation.states), round(explanation.log_probability, 3)
    ({'rain': 'no', 'sprinkler': 'on'}, -1.245)
    """
    observed = tuple(evidence)
    search = Elimination(
        model.potentials,
        tuple(v.name for v in model.variables),
        sums_only=False,
        evidence=observed,
        soft=tuple(soft),
        order=order,
        limits=limits,
    )
    observed_names = frozenset(observed)
    variables = tuple(v for v in model.variables if v.name not in observed_names)
    return ExplanationPlan(variables=variables, plan=search.plan(), elimination=search)
