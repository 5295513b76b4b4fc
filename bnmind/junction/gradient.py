r"""Derivatives of probabilities by the entries of a model's tables.

The derivatives of P(target, evidence) by all entries at once are the adjoints of the tables in a
circuit (see `bnmind.junction.circuit`), of which the evidence leaves only a part. P is linear in
each entry, and nothing is divided by one, so entries of zero have derivatives too. The derivatives
of the probability of the evidence, of a posterior, and of an expectation are sums of these.

In a network, an entry cannot change alone, because its row must sum to one. Two derivatives are
useful. The *partial* derivative g changes one entry and nothing else, as if the table were any
factor. The *effect* changes an entry θ_i of a row and scales the others in proportion
(proportional covariation), so that the row still sums to one:

.. math:: \mathrm{effect}_i = g_i - \sum_{j \ne i} \frac{θ_j}{1 - θ_i} g_j

If θ_i is one, the others are zero and have no proportions; they then share equally.

References
----------
K. B. Laskey, "Sensitivity analysis for probability assessments in Bayesian networks", IEEE Trans.
SMC 25, 1995; H. Chan and A. Darwiche, "When do numbers really matter?", JAIR 17, 2002
(proportional covariation); A. Darwiche, "A differential approach to inference in Bayesian
networks", J. ACM 50, 2003 (partial derivatives).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import format_bytes, many
from bnmind._values import Sealed, made, sealed
from bnmind.errors import (
    BnmindError,
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.circuit import Circuit
from bnmind.junction.circuit_kernel import Flags
from bnmind.junction.evidence import Evidence, Reader, Seen
from bnmind.junction.forms import choose_forms, non_negative_table
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.reduction import without_barren
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

if TYPE_CHECKING:
    import pandas

# --- Gradients: a number and its derivatives by the entries of a model's tables -------------------


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Gradient(Sealed):
    """A number and its derivatives by all entries of a model's tables.

    Examples
    --------
    >>> from bnmind.junction import differentiate
    >>> from bnmind.pgm import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> gradient = differentiate(network, evidence={"wet": "yes"}).log_evidence
    >>> gradient
    Gradient(value=-1.34707, 6 entries)
    >>> gradient["rain"].round(3).tolist()  # P(wet=yes | rain) / P(wet=yes)
    [0.385, 3.462]
    >>> gradient.effect("rain").round(3).tolist()
    [-3.077, 3.077]
    """

    model: Network | FactorModel
    """The model."""
    value: float
    """The number that is differentiated."""
    log_evidence: float
    """The natural logarithm of the probability of the evidence."""
    partials: tuple[Floats | None, ...]
    """The partial derivatives by the entries of each potential of the model, over its ``scope``. In
    a network the child comes first. None for a functional distribution, which has no parameters,
    for a distribution that was left out or written as a product of smaller tables."""

    def __repr__(self) -> str:
        entries = sum(one.size for one in self.partials if one is not None)
        return f"Gradient(value={self.value:.6g}, {entries:,} entries)"

    @checked
    def __getitem__(self, name: str) -> Floats:
        """Return the partial derivatives by the entries of a variable's table in a network.

        Raises
        ------
        UnknownNameError
            If the network has no such variable.
        InvalidArgumentError
            If the model is not a network, or the table has no derivatives; see `partials`.
        """
        found = self.partials[self._place(name)]
        if found is None:
            raise InvalidArgumentError(
                f"the table of {name} has no partial derivatives: it is a function, it was"
                " written as smaller tables, or it was left out as irrelevant",
                name,
            )
        return found

    @checked
    def effect(self, name: str) -> Floats:
        """Return the derivatives if the other entries of a row change in proportion.

        The arguments and errors are those of ``gradient[name]``. A table that was left out as
        irrelevant has the effect zero.

        Parameters
        ----------
        name
            The name of a variable of the network.

        Raises
        ------
        InvalidArgumentError
            If the variable has no table whose entries may change.
        """
        place = self._place(name)
        cpd = self.model.potentials[place]
        partial = self.partials[place]
        if partial is None and isinstance(cpd, TabularCPD):
            return np.zeros(cpd.values.shape)
        if not isinstance(cpd, TabularCPD):
            raise InvalidArgumentError(
                f"{name} has no table whose entries may change: it is a {type(cpd).__name__}",
                name,
            )
        return covarying(cpd.values, self[name])

    def to_frame(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame` with a row for each entry that has a derivative.

        Its columns are ``table`` (the child in a network), ``entry`` (as text), ``probability``,
        ``partial``, and in a network ``effect``. The entries with the largest effects come first.
        """
        import pandas

        is_network = isinstance(self.model, Network)
        parts = []
        for potential, partial in zip(self.model.potentials, self.partials, strict=True):
            if partial is None or not isinstance(potential, TabularCPD | Factor):
                continue
            columns = {
                "table": potential.scope[0].name if potential.scope else "",
                "entry": format_entries(potential),
                "probability": np.real(potential.values).ravel(),
                "partial": partial.ravel(),
            }
            if is_network:
                columns["effect"] = covarying(np.real(potential.values), partial).ravel()
            parts.append(pandas.DataFrame(columns))
        if not parts:
            names = ["table", "entry", "probability", "partial", *(["effect"] * is_network)]
            return pandas.DataFrame({name: [] for name in names})
        frame = pandas.concat(parts, ignore_index=True)
        by = frame["effect" if is_network else "partial"].abs()
        order = np.argsort(-by.to_numpy(), kind="stable")
        return frame.iloc[order].reset_index(drop=True)

    def _place(self, name: str) -> int:
        if not isinstance(self.model, Network):
            raise InvalidArgumentError(
                "a product of factors has no table of a variable; see `partials`", name
            )
        variable = self.model.variable(name)
        return next(i for i, cpd in enumerate(self.model.cpds) if cpd.variable is variable)


def covarying(entries: Floats, partials: Floats) -> Floats:
    """Return the derivatives by entries whose rows keep their sum, by proportional covariation.

    Parameters
    ----------
    entries, partials
        ``(states, …)`` the conditional probabilities and their partial derivatives.
    """
    n_states = len(entries)
    if n_states == 1:
        return np.zeros(entries.shape)
    weighted = np.multiply(entries, partials, out=np.zeros(entries.shape), where=entries > 0)
    others = without_each(entries)
    with np.errstate(divide="ignore", invalid="ignore"):
        effects = partials - without_each(weighted) / others
    alone = partials - without_each(partials) / (n_states - 1)
    return np.where(others > 0, effects, alone)


def without_each(values: Floats) -> Floats:
    """Return the sum over the first axis without each element, which subtracts nothing."""
    zero = np.zeros((1, *values.shape[1:]))
    before = np.concatenate([zero, np.cumsum(values[:-1], axis=0)])
    after = np.concatenate([np.cumsum(values[:0:-1], axis=0)[::-1], zero])
    sums: Floats = before + after
    return sums


def format_entries(potential: TabularCPD | Factor) -> list[str]:
    """Return each entry of a table as text, such as ``wet=yes | rain=no``, in the table's order."""
    between = " | " if isinstance(potential, TabularCPD) else ", "
    entries = []
    for found in product(*[[f"{v.name}={state}" for state in v.states] for v in potential.scope]):
        head, tail = ", ".join(found[:1]), ", ".join(found[1:])
        entries.append(f"{head}{between}{tail}" if tail else head)
    return entries


# --- The derivatives of a posterior, and of all that is a sum of them -----------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Derivatives(Sealed):
    """The derivatives of P(target, evidence) by all table entries. Created by `differentiate`."""

    target: Variable | None
    """The target, if there is one."""
    joints: tuple[Gradient, ...]
    """For each state of the target P(state, evidence) / P(evidence), with P(evidence) held fixed.

    The values are the posterior. The derivatives are those of P(state, evidence) alone, divided by
    P(evidence); sensitivity functions are made of them. Without a target, there is one gradient,
    that of P(evidence) / P(evidence)."""

    @property
    def log_evidence(self) -> Gradient:
        """The gradient of ln P(evidence)."""
        return self._sum([1.0] * len(self.joints), self.joints[0].log_evidence)

    @checked
    def posterior(self, state: Any) -> Gradient:
        """Return P(target = state | evidence) and its derivative by each entry.

        Parameters
        ----------
        state
            A state of the target.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the target has no such state, or there is no target.
        """
        place = self._target.index(state)
        value = self.joints[place].value
        return self._sum(np.eye(len(self.joints))[place] - value, value)

    @property
    def _target(self) -> Variable:
        if self.target is None:
            raise InvalidArgumentError("there is no target; pass target=... to differentiate")
        return self.target

    def _sum(self, weights: Sequence[float] | Floats, value: float) -> Gradient:
        """Return the gradient of a weighted sum of the joints."""
        partials = [
            None if parts[0] is None else np.tensordot(weights, np.stack(parts), axes=1)
            for parts in zip(*[joint.partials for joint in self.joints], strict=True)
        ]
        return replace(self.joints[0], value=value, partials=tuple(partials))


_NO_TARGET = made(Variable, name="", states=("",))
"""The target where there is none. No other variable has an empty name."""

_MOST_TABLE = 2**22
"""The most cells of the table of a functional or noisy distribution."""


@checked
def differentiate(
    model: Network | FactorModel,
    target: str | None = None,
    evidence: Evidence | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    relevant_only: bool = False,
) -> Derivatives:
    """Return the derivatives of a posterior and of ln P(evidence) by all entries of the tables.

    Parameters
    ----------
    model
        A network, or a product of factors that are not negative.
    target
        The variable whose posterior is differentiated; not needed for the derivatives of the
        probability of the evidence.
    evidence
        A state, a likelihood ``{state: weight}`` or a missing value for each observed variable.
    limits
        The limits of the computation.
    relevant_only
        Whether to leave out the tables of a network on which neither the target nor the evidence
        depends as long as their rows sum to one. This is faster. They then have no partial
        derivatives, and their entries have the effect zero; see `Gradient`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or the variable no such state.
    InvalidArgumentError
        If the target is evidence, or the evidence is not valid.
    InvalidModelError
        If a factor is negative or complex.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    CancellationError
        If numbers of the computation, or the derivatives, exceed the range of floating point.
    TooLargeError
        If the computation would exceed the limits; raised before anything large is allocated.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> gradient = differentiate(network, "rain", {"wet": "yes"}).posterior("yes")
    >>> round(gradient.value, 3), gradient["rain"].round(3).tolist()
    (0.692, [-0.266, 1.065])
    """
    wanted = _NO_TARGET if target is None else model.variable(target)
    seen = Reader(model).evidence(evidence)
    if wanted.name in seen.positions or wanted.name in seen.soft:
        raise InvalidArgumentError(f"the target {target} must not be evidence", target)
    potentials = model.potentials
    if relevant_only:
        potentials = without_barren(potentials, [*seen.positions, *seen.soft, wanted.name])
    formed = choose_forms(
        potentials,
        {v.name: tuple(range(v.n_states)) for v in model.variables},
        observed=seen.positions,
        joints=[] if target is None else [[target]],
        signed=False,
        max_cells=min(limits.table_cells, _MOST_TABLE),
    )
    # The evidence chooses a part of each table.
    parts = [tuple([seen.positions.get(v.name, slice(None)) for v in p.scope]) for p in formed]
    factors = [
        made(
            Factor,
            scope=tuple([v for v in p.scope if v.name not in seen.positions]),
            values=np.asarray(non_negative_table(p, limits.table_cells)[part]),
        )
        for p, part in zip(formed, parts, strict=True)
    ]
    if target is None:
        factors.append(made(Factor, scope=(wanted,), values=np.ones(1)))
    circuit = _circuit(FactorModel(tuple(factors)), wanted.n_states, limits)
    states = np.full((wanted.n_states, len(circuit.columns)), -1)
    states[:, circuit.columns[wanted.name]] = range(wanted.n_states)
    soft = {name: np.tile(weights, (len(states), 1)) for name, weights in seen.soft.items()}
    answers, found = circuit.joint_gradients(states, soft)
    if not found:
        raise _no_derivatives(seen, answers.doubtful)
    log_evidence = float(np.logaddexp.reduce(answers.log_evidence))
    places = {id(p): i for i, p in enumerate(model.potentials) if not isinstance(p, FunctionalCPD)}
    joints = []
    for log, derivatives in zip(answers.log_evidence.tolist(), found, strict=True):
        partials: list[Floats | None] = [None] * len(model.potentials)
        for potential, part, own in zip(formed, parts, derivatives, strict=False):
            if id(potential) in places:
                whole = np.zeros([v.n_states for v in potential.scope])
                whole[part] = own
                partials[places[id(potential)]] = sealed(whole)
        gradient = made(
            Gradient,
            model=model,
            value=math.exp(log - log_evidence),
            log_evidence=log_evidence,
            partials=tuple(partials),
        )
        _check_finite(gradient)
        joints.append(gradient)
    return made(Derivatives, target=None if target is None else wanted, joints=tuple(joints))


def _circuit(model: FactorModel, n_runs: int, limits: Limits) -> Circuit:
    """Return the circuit of a model, with which so many runs are within the limits."""
    try:
        circuit = Circuit.of(model, limits=limits)
    except TooLargeError as fault:
        raise TooLargeError(
            f"the derivatives would take about {format_bytes(fault.needed)}; allowed are"
            f" max_bytes={limits.max_bytes:,}. Observe more variables, or raise the limit.",
            needed=fault.needed,
            budget=limits.max_bytes,
        ) from fault
    work = 4 * n_runs * circuit.multiplications
    if work > limits.max_multiplications:
        raise TooLargeError(
            f"the derivatives would take {many(work)} multiplications; allowed are"
            f" max_multiplications={limits.max_multiplications:,}. Observe more variables, or raise"
            " the limit.",
            needed=work,
            budget=limits.max_multiplications,
        )
    return circuit


def _no_derivatives(seen: Seen, doubtful: Flags) -> BnmindError:
    """Return the error of evidence without a probability, which is zero unless it is doubtful."""
    states, soft = seen.in_order()
    findings = {**states, **soft}
    shown = ", ".join(f"{name}={finding}" for name, finding in findings.items())
    if doubtful.any():
        return CancellationError(
            "the probabilities in a run are too far apart for floating point, so that their"
            f" derivatives have no correct digits; the evidence is {shown}"
        )
    return ImpossibleEvidenceError(
        f"expected evidence of positive probability, got zero for {shown or 'the model'}", findings
    )


def _check_finite(gradient: Gradient) -> None:
    """Refuse derivatives that are too large."""
    for potential, partial in zip(gradient.model.potentials, gradient.partials, strict=True):
        if partial is not None and not np.isfinite(partial).all():
            names = [v.name for v in potential.scope]
            over = names[:1] if isinstance(gradient.model, Network) else names
            raise CancellationError(
                f"the derivatives by the table of {', '.join(over)} are too large for floating"
                " point: another entry makes the evidence far more probable"
            )
