"""The entropy of all variables of a model given evidence, from the posteriors of its tables.

Notation
--------
f       a table of the model, over the variables x_f
λ       the likelihoods of the soft evidence
Z       the probability of the evidence, Σ_x Π f(x_f) Π λ(x)

The posterior is P(x) = Π f(x_f) Π λ(x) / Z, so that its entropy is

    H = log Z − Σ_f Σ P(x_f) log f(x_f) − Σ_λ Σ P(x) log λ(x).

Functions add nothing to the sum, since their tables hold only zeros and ones. The joint
distribution of all variables is never needed.

References
----------
T. M. Cover and J. A. Thomas, *Elements of Information Theory*, 2006, chapter 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.junction.engine.reading import Scopes, Seen
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import FactorModel, Network, Potential

__all__ = ["model_entropy"]


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
    potentials = [p for p in model.potentials if p.scope and not isinstance(p, FunctionalCPD)]
    problems = [
        "the entropy needs factors without negative or complex numbers; that of"
        f" {', '.join(v.name for v in p.scope)} has some"
        for p in potentials
        if isinstance(p, Factor) and (np.iscomplexobj(p.values) or np.any(p.values < 0))
    ]
    if problems:
        raise InvalidModelError(problems)
    scopes = tuple([tuple([v.name for v in p.scope]) for p in potentials])
    answer = posterior(scopes + tuple([(name,) for name in seen.soft]) or ((),), seen)
    nats = [answer.log_evidence]
    for potential, joint in zip(potentials, answer.joints, strict=False):
        nats.append(-_expected_logarithm(joint, _numbers(potential)))
    for weights, joint in zip(seen.soft.values(), answer.joints[len(potentials) :], strict=False):
        nats.append(-_expected_logarithm(joint, weights))
    constants = [p for p in model.potentials if not p.scope]
    nats += [-math.log(float(_numbers(p))) for p in constants]
    return max(0.0, math.fsum(nats) / math.log(2.0))


def _numbers(potential: Potential) -> Floats:
    factor = potential if isinstance(potential, Factor) else potential.to_factor()
    numbers: Floats = factor.values.real
    return numbers


def _expected_logarithm(probabilities: Values, numbers: Values) -> float:
    """Return Σ p log x, where p = 0 adds nothing."""
    p = np.real(probabilities)
    positive = p > 0
    return float(np.dot(p[positive], np.log(numbers[positive])))
