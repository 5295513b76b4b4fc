"""Engines: one object that answers any question about a model, under any evidence.

An engine makes plans when questions need them, and remembers them within a number of bytes. The
answer to a question does not depend on the questions before it, except for rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, format_bytes
from bnmind._values import Natural, Value, remembered
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
)
from bnmind.information import entropy
from bnmind.junction.engine_planning import (
    Planner,
    PlanStore,
)
from bnmind.junction.evidence import Evidence, Scopes, Seen, Targets
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.limits import DEFAULT_JOINT_CELLS, DEFAULT_LIMITS, Limits
from bnmind.junction.plan import Plan
from bnmind.junction.posteriors import Posterior
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.distribution import Distribution
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    from bnmind.junction.sampling import Samples
    from bnmind.junction.walk import Explanation

# --- The entropy of all variables of a model given evidence, from the posteriors of its tables ----
#
# Notation
# --------
# f       a table of the model, over the variables x_f
# λ       the likelihoods of the soft evidence
# Z       the probability of the evidence, Σ_x Π f(x_f) Π λ(x)
#
# The posterior is P(x) = Π f(x_f) Π λ(x) / Z, so that its entropy is
#
#     H = log Z − Σ_f Σ P(x_f) log f(x_f) − Σ_λ Σ P(x) log λ(x).
#
# Functions add nothing to the sum, since their tables hold only zeros and ones. The joint
# distribution of all variables is never needed.
#
# References
# ----------
# T. M. Cover and J. A. Thomas, *Elements of Information Theory*, 2006, chapter 2.


def model_entropy(
    model: Network | FactorModel, seen: Seen, posterior: Callable[[Scopes, Seen], Posterior]
) -> float:
    """Return the entropy of all variables of a model given evidence, in bits.

    Parameters
    ----------
    model
        The model.
    seen
        The evidence.
    posterior
        Returns the joint distributions of targets given evidence.

    Raises
    ------
    InvalidModelError
        If a factor has negative or complex numbers.
    """
    from scipy.special import xlogy

    potentials = [p for p in model.potentials if not isinstance(p, FunctionalCPD)]
    problems = [
        "the entropy needs factors without negative or complex numbers; that of"
        f" {', '.join(p.names)} has some"
        for p in potentials
        if isinstance(p, Factor) and (np.iscomplexobj(p.values) or np.any(p.values < 0))
    ]
    if problems:
        raise InvalidModelError(problems)
    factors = [p if isinstance(p, Factor) else p.to_factor() for p in potentials]
    tables = [(factor.names, factor.values.real) for factor in factors]
    tables += [((name,), weights) for name, weights in seen.soft.items()]
    answer = posterior(tuple([scope for scope, _ in tables]) or ((),), seen)
    nats = [answer.log_evidence]
    for (_, numbers), joint in zip(tables, answer.joints, strict=False):
        nats.append(-float(xlogy(np.real(joint), numbers).sum()))  # 0 log 0 adds nothing
    return max(0.0, math.fsum(nats) / math.log(2.0))


# --- Engines: one object that answers any question about a model, under any evidence --------------

DEFAULT_MEMORY = 2**28
"""The default limit for the bytes of all remembered plans: 256 MiB."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Engine(Value):
    """A compiled model that answers any question under any evidence.

    `compile_model` makes engines. The evidence of a question is a mapping or a `pandas.Series`: for
    each variable a state, a likelihood ``{state: weight}``, or a missing value (None, NaN, or a
    missing value of pandas). States may be numbers or truth values.

    Tables of cases are answered by functions of `bnmind.junction`, such as `predict`.

    An engine may be used by several threads at once. Copies and pickles of an engine hold the
    model and the options, and start without plans.

    Raises
    ------
    InvalidArgumentError
        If ``memory`` is negative.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> engine = compile_model(Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                                 TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]]))))
    >>> engine.posterior("rain", {"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(engine.probability({"rain": "yes"}, {"wet": "yes"}), 3)
    0.692
    """

    model: Network | FactorModel
    """The model."""
    memory: Natural = DEFAULT_MEMORY
    """The limit for the bytes of all remembered plans."""
    order: OrderFinder | None = None
    """The search for elimination orders; None for the default of each question."""
    limits: Limits = DEFAULT_LIMITS
    """The limits of the cost of each answer."""

    def __repr__(self) -> str:
        stored = self._planner.store.held().values()
        of, held = counted(len(self.model.variables), "variable"), counted(len(stored), "plan")
        used, most = sum(one.bytes for one in stored), format_bytes(self.memory)
        return f"Engine({of}, {held} in {format_bytes(used)} of at most {most})"

    def posterior(
        self, targets: Targets | None = None, evidence: Evidence | None = None
    ) -> Posterior:
        """Return the distributions of variables given evidence.

        Parameters
        ----------
        targets
            A name or a list of names; a tuple of names inside of a list asks for a joint
            distribution. By default every variable without a state in the evidence.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        UnknownNameError
            If the model has no such variable, or the variable no such state.
        ImpossibleEvidenceError
            If the evidence has probability zero. The error names findings that contradict each
            other.
        TooLargeError
            If the answer would exceed the limits. The error is raised before the computation.
        InvalidArgumentError
            If the evidence or the targets are not valid.
        CancellationError
            As in `Plan.run`.
        """
        seen = self._planner.reader.evidence(evidence)
        return self._planner.posterior(self._planner.reader.scopes(targets, seen), seen)

    @checked
    def joint(self, targets: Targets, evidence: Evidence | None = None) -> Distribution:
        """Return the joint distribution of variables given evidence, with axes in their order.

        The distribution of a single variable is indexed by its states, and that of several
        variables by tuples of states. The errors are those of `posterior`.

        Parameters
        ----------
        targets
            The name of a variable, or several names.
        evidence
            Observed states by name, or weights of states; none if None.
        """
        names = self._planner.reader.names(targets, "a joint")
        seen = self._planner.reader.evidence(evidence)
        return self._planner.posterior((names,), seen)[names]

    @checked
    def mpe(self, evidence: Evidence | None = None) -> Explanation:
        """Return the most probable explanation: the most probable states of all other variables.

        Equal questions have equal answers, even if several explanations are equally probable.
        Where the tables of an exact elimination exceed the limits, branch and bound finds the
        explanation and proves it; see `compile_search`. The errors are those of `posterior`;
        `TooLargeError` if there is no proof within the limits.

        Parameters
        ----------
        evidence
            Observed states by name, or weights of states; none if None.
        """
        return self._planner.explanations(1, self._planner.reader.evidence(evidence))[0]

    @checked
    def best_explanations(
        self,
        count: int,
        evidence: Evidence | None = None,
        *,
        targets: Targets | None = None,
    ) -> tuple[Explanation, ...]:
        """Return the ``count`` most probable explanations, the most probable one first.

        With targets, these are their most probable joint states, with all other variables summed
        out. Where the tables of an exact elimination exceed the limits, and for targets always,
        branch and bound finds the explanations and proves them; see `ExplanationSearch.best`. The
        errors are those of `mpe`, `map` and `ExplanationPlan.best`.

        Parameters
        ----------
        count
            The number of explanations, at least 1.
        evidence
            Observed states by name, or weights of states; none if None.
        targets
            The name of a variable, or several names.
        """
        seen = self._planner.reader.evidence(evidence)
        names = None if targets is None else self._planner.reader.names(targets, "a marginal MAP")
        return self._planner.explanations(count, seen, names)

    @checked
    def map(
        self,
        targets: Targets,
        evidence: Evidence | None = None,
        *,
        max_joint: int = DEFAULT_JOINT_CELLS,
    ) -> Explanation:
        """Return the most probable joint state of some variables, with all others summed out.

        This is the marginal MAP. It differs from `mpe`, which explains all variables, and from the
        most probable states of the single variables.

        Parameters
        ----------
        targets
            The name or names of the variables to explain, without evidence.
        evidence
            As for all questions; see `Engine`.
        max_joint
            The most cells of the joint distribution of the targets. If it has more, or does not fit
            otherwise, branch and bound finds its largest cell; see `compile_search`.

        Raises
        ------
        TooLargeError
            If there is no proof within the limits.
        InvalidArgumentError
            If there are no targets, or a target is evidence.
        UnknownNameError, ImpossibleEvidenceError, CancellationError
            As in `posterior`.
        """
        seen = self._planner.reader.evidence(evidence)
        names = self._planner.reader.names(targets, "a marginal MAP", seen.positions)
        return self._planner.marginal_map(names, seen, max_joint)

    @checked
    def sample(
        self, n_samples: int, rng: np.random.Generator, evidence: Evidence | None = None
    ) -> Samples:
        """Return independent samples of all variables given evidence, exactly distributed.

        Parameters
        ----------
        n_samples
            The number of samples, at least 0.
        rng
            The random generator. Equal generators give equal samples.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        TooLargeError
            If there are too many states to draw, or the answer exceeds the limits.
        InvalidArgumentError
            If ``n_samples`` is negative, or the evidence is not valid.
        UnknownNameError, ImpossibleEvidenceError
            As in `posterior`.
        """
        return self._planner.sample(n_samples, rng, self._planner.reader.evidence(evidence))

    @checked
    def probability(self, event: Evidence, evidence: Evidence | None = None) -> float:
        """Return the probability of an event given evidence; 0 if they contradict each other.

        Parameters
        ----------
        event
            The states of some variables at the same time, as ``{"rain": "yes", "wet": "no"}``. For
            a likelihood, the result is its expected value.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        UnknownNameError, TooLargeError, InvalidArgumentError, CancellationError
            As in `posterior`.
        """
        first, seen = self._planner.reader.event(event), self._planner.reader.evidence(evidence)
        if len(first.positions) == 1 and not first.soft:
            ((name, place),) = first.positions.items()
            return float(self._planner.posterior(((name,),), seen).joints[0][place])
        return math.exp(self._log_probability(first, seen))

    @checked
    def log_probability(self, event: Evidence, evidence: Evidence | None = None) -> float:
        """Return the natural logarithm of the probability of an event given evidence.

        It is −inf if they contradict each other. The arguments and errors are those of
        `probability`.
        """
        first, seen = self._planner.reader.event(event), self._planner.reader.evidence(evidence)
        return self._log_probability(first, seen)

    @checked
    def entropy(self, targets: Targets | None = None, evidence: Evidence | None = None) -> float:
        """Return the entropy of the joint distribution of variables given evidence, in bits.

        Parameters
        ----------
        targets
            A name or a list of names; by default all variables. The joint distribution of all
            variables is not computed, but that of named ones is.
        evidence
            As for all questions; see `Engine`.

        Raises
        ------
        UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
            As in `posterior`.
        CancellationError
            As in `posterior`.
        """
        seen = self._planner.reader.evidence(evidence)
        if targets is None:
            return model_entropy(self.model, seen, self._planner.posterior)
        names = self._planner.reader.names(targets, "an entropy")
        return float(entropy(self._planner.posterior((names,), seen).joints[0].ravel()))

    @checked
    def plan(
        self,
        targets: Iterable[Iterable[str]],
        *,
        evidence: Iterable[str] = (),
        soft: Iterable[str] = (),
    ) -> Plan:
        """Return a plan for targets and evidence variables, from memory if possible.

        The parameters and errors are those of `compile_plan`. A plan that exceeds the limits is
        returned too: its restrictions may be smaller.

        Raises
        ------
        InvalidArgumentError
            If a list of names is a single text.
        """
        if any(isinstance(names, str) for names in (targets, evidence, soft)):
            raise InvalidArgumentError("expected lists of names, got a single string", targets)
        # A plan refuses a single name in place of a target.
        scopes: Any = tuple(t if isinstance(t, str) else tuple(t) for t in targets)
        return self._planner.plan_for(scopes, tuple(evidence), tuple(soft))

    def _log_probability(self, event: Seen, given: Seen) -> float:
        """Return ln P(event | given)."""
        both = event.joined(given)
        total = 0.0
        if given.positions or given.soft or isinstance(self.model, FactorModel):
            total = self._planner.posterior(((),), given).log_evidence
        # Rounding must not exceed the largest likelihood of the event.
        largest = [float(weights.max()) for weights in event.soft.values()]
        if both is None or not all(largest):
            return -math.inf
        try:
            found = self._planner.posterior(((),), both).log_evidence - total
            return min(found, math.fsum(map(math.log, largest)))
        except ImpossibleEvidenceError:
            return -math.inf

    @cached_property
    def _planner(self) -> Planner:
        """What makes plans, and remembers them in a store that all threads share."""
        store = remembered(self, "_store", lambda: PlanStore(self.memory))
        return Planner(self.model, self.order, self.limits, store)


@checked
def compile_model(
    model: Network | FactorModel,
    *,
    memory: int = DEFAULT_MEMORY,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Engine:
    """Return an engine that answers any question about a model, under any evidence.

    The engine makes its plans when questions first need them.

    Parameters
    ----------
    model
        A network, or a product of factors.
    memory
        The limit for the bytes of all remembered plans. Those used least recently are dropped
        first; a plan that does not fit at all is made for each question anew.
    order
        The search for elimination orders, as in `compile_plan`.
    limits
        The limits of the cost of each answer, as in `compile_plan`.

    Raises
    ------
    InvalidArgumentError
        If ``memory`` is negative.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> coin = Variable("coin", ("heads", "tails"))
    >>> call = Variable("call", ("heads", "tails"))
    >>> engine = compile_model(Network((TabularCPD(coin, (), [0.5, 0.5]),
    ...                                 TabularCPD(call, (coin,), [[0.9, 0.1], [0.1, 0.9]]))))
    >>> engine
    Engine(2 variables, 0 plans in 0 bytes of at most 256 MiB)
    >>> engine.posterior(["coin"], {"call": "heads"})["coin"]["heads"]
    0.9
    """
    return Engine(model=model, memory=memory, order=order, limits=limits)


# --- Questions in one call: each model keeps an engine, which remembers plans for the next call ---

MODEL_MEMORY = 2**26
"""The limit for the bytes of the plans that a model keeps for questions in one call: 64 MiB."""


def engine_of(model: Network | FactorModel) -> Engine:
    """Return the engine that a model keeps. Copies and pickles of the model have none."""
    # Of several threads that make one at the same time, the first wins.
    return remembered(model, "_engine", lambda: compile_model(model, memory=MODEL_MEMORY))


@checked
def posterior(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: str | Iterable[str | Iterable[str]] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Posterior:
    """Return the distributions of variables given evidence.

    This is one question to an engine; see `compile_model` for all other questions. Without
    ``order`` and ``limits``, the model keeps the engine, with at most 64 MiB of plans, so that
    repeated questions are faster.

    Parameters
    ----------
    model
        A network, or a product of factors.
    evidence
        A state for each observed variable, or a likelihood ``{state: weight}`` where the
        observation is uncertain. None and NaN mean that nothing was observed. A mapping or a
        `pandas.Series`.
    targets
        The variables of interest: a name or a list of names; a tuple of names inside of a list
        asks for a joint distribution. By default every variable without a state in the evidence.
    order
        The search for an elimination order; by default `Portfolio`.
    limits
        The limits of the computation, as in `compile_plan`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or the variable no such state.
    ImpossibleEvidenceError
        If the evidence has probability zero. The error names findings that contradict each other.
    TooLargeError
        If the computation would exceed its limits. The error is raised before the computation.
    InvalidArgumentError
        If the evidence or the targets are not valid.
    CancellationError
        As in `Plan.run`.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> posterior(network, {"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(posterior(network, targets=[("wet", "rain")])["wet", "rain"]["yes", "no"], 3)
    0.08
    """
    if order is None and limits == DEFAULT_LIMITS:
        return engine_of(model).posterior(targets, evidence)
    return Engine(model=model, order=order, limits=limits).posterior(targets, evidence)


# --- The tasks of the UAI inference competitions, answered in their format ------------------------
#
# A new task is a function and a line of `COMPETITION_TASKS`. The formats are those of
# `bnmind.pgm.competition`.

_Texts: TypeAlias = Callable[[Engine, Mapping[str, str], Sequence[str], int], Sequence[str]]
"""Return the texts of the best answers in descending order, at most as many as asked for.

The arguments are an engine, the evidence, the variables of a query, and the number of answers.
"""


@dataclass(frozen=True, kw_only=True)
class CompetitionTask(Value):
    """A task of the competitions.

    Examples
    --------
    >>> from bnmind.junction import compile_model
    >>> from bnmind.pgm import Factor, FactorModel, Variable
    >>> x, y = Variable("x", ("0", "1")), Variable("y", ("0", "1"))
    >>> engine = compile_model(FactorModel((Factor((x, y), [[3, 1], [0, 4]]),)))
    >>> print(COMPETITION_TASKS["MAR"].answer(engine, {"y": "1"}), end="")
    MAR
    2 2 0.2 0.8 2 0.0 1.0
    """

    about: str
    """The task, in a few words."""
    texts: _Texts
    """Returns the texts of the best answers."""
    has_query: bool = False
    """Whether the task is about chosen variables."""
    has_several: bool = False
    """Whether there are second-best answers."""

    @checked
    def answer(
        self,
        engine: Engine,
        evidence: Mapping[str, str] | Sequence[Mapping[str, str]],
        query: Sequence[str] = (),
        *,
        count: int = 1,
    ) -> str:
        """Return the answer in the format of the competitions.

        Parameters
        ----------
        engine
            Of a model whose variables are in the order of its file, as `read_model` returns it.
        evidence
            The findings, {variable: state}; or those of several samples, as in the competitions of
            2008 to 2012. The answers to two or more samples stand below their number.
        query
            The variables to explain, if the task is about chosen variables.
        count
            The number of answers to MPE or MMAP, the most probable first. Each is a line of the
            text; there are fewer if fewer are possible.

        Raises
        ------
        InvalidArgumentError
            If the task needs variables and there are none, or the other way round; if ``count`` is
            less than 1, or larger and the task has a single answer.
        UnknownNameError, ImpossibleEvidenceError, TooLargeError
            As for all questions to an engine. The probability of impossible evidence is zero, and
            no error.
        """
        if bool(query) != self.has_query:
            rule = "needs variables to explain" if self.has_query else "takes no variables"
            raise InvalidArgumentError(f"this task {rule}, got {list(query)}", query)
        if count != 1 and not self.has_several:
            raise InvalidArgumentError(f"this task has a single answer, got count={count}", count)
        samples = [evidence] if isinstance(evidence, Mapping) else evidence
        texts = [self.texts(engine, sample, query, count) for sample in samples]
        head = texts[0][0].partition("\n")[0]
        number = f"{len(texts)}\n" if len(texts) > 1 else ""
        return f"{head}\n{number}" + "".join(t.partition("\n")[2] for some in texts for t in some)


def _log_evidence(
    engine: Engine, evidence: Mapping[str, str], _: Sequence[str], __: int
) -> list[str]:
    from bnmind.pgm.competition import log_evidence_to_uai

    try:
        found = engine.posterior([()], evidence).log_evidence
    except ImpossibleEvidenceError:
        found = -math.inf
    return [log_evidence_to_uai(found)]


def _marginals(engine: Engine, evidence: Mapping[str, str], _: Sequence[str], __: int) -> list[str]:
    from bnmind.pgm.competition import marginals_to_uai

    variables = engine.model.variables
    found = engine.posterior([v.name for v in variables], evidence).marginals
    tables = {name: np.real(values).astype(np.float64) for name, values in found.items()}
    return [marginals_to_uai(tables, variables)]


def _explanations(
    engine: Engine, evidence: Mapping[str, str], _: Sequence[str], count: int
) -> list[str]:
    from bnmind.pgm.competition import explanation_to_uai

    best = [engine.mpe(evidence)] if count == 1 else engine.best_explanations(count, evidence)
    variables = engine.model.variables
    return [explanation_to_uai({**each.states, **evidence}, variables) for each in best]


def _marginal_maps(
    engine: Engine, evidence: Mapping[str, str], query: Sequence[str], count: int
) -> list[str]:
    """Return answers to MMAP; the variables of the query may be evidence."""
    from bnmind.pgm.competition import marginal_map_to_uai

    hidden = [name for name in query if name not in evidence]
    best: Sequence[Explanation] = ()
    if not hidden:
        engine.posterior([()], evidence)
    elif count == 1:
        best = [engine.map(hidden, evidence)]
    else:
        best = engine.best_explanations(count, evidence, targets=hidden)
    found = [{**evidence, **each.states} for each in best] or [dict(evidence)]
    variables = engine.model.variables
    return [marginal_map_to_uai({name: each[name] for name in query}, variables) for each in found]


COMPETITION_TASKS: Mapping[str, CompetitionTask] = MappingProxyType(
    {
        "PR": CompetitionTask(
            about="the probability of the evidence, or the partition function; log10",
            texts=_log_evidence,
        ),
        "MAR": CompetitionTask(about="the distribution of every variable", texts=_marginals),
        "MPE": CompetitionTask(
            about="the most probable states of all variables",
            texts=_explanations,
            has_several=True,
        ),
        "MMAP": CompetitionTask(
            about="the most probable states of the variables of --query-file",
            texts=_marginal_maps,
            has_query=True,
            has_several=True,
        ),
    }
)
"""The tasks by name."""
