"""Noisy extrema without an effect, which are products of a factor for each parent.

A noisy-or that is observed as false is a product of the probabilities that each parent has no
effect, whatever the size of its table. The same holds for a noisy maximum in its lowest state
(D. Heckerman, *A tractable inference algorithm for diagnosing multiple diseases*, UAI 1989:
negative findings cost nothing).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.information import Floats
from bnmind.junction.reduction.possible_states import Domains
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum
from bnmind.pgm.variable import Variable

__all__ = ["without_effects"]

_SMALL, _LARGE = 1e-100, 1e100
"""The bounds of products of factors over one variable."""


def without_effects(potentials: Sequence[Potential], domains: Domains) -> tuple[Potential, ...]:
    """Return the potentials with factors in place of noisy extrema without an effect.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The possible state positions of each variable.

    Returns
    -------
    tuple
        The other potentials, then the factors. The product is the same on the possible states.

    Examples
    --------
    >>> from bnmind.pgm import noisy_or
    >>> flu, cold, fever = (Variable(name, ("no", "yes")) for name in ("flu", "cold", "fever"))
    >>> known = {"flu": (0, 1), "cold": (0, 1), "fever": (0,)}
    >>> for factor in without_effects([noisy_or(fever, (flu, cold), [0.8, 0.5])], known):
    ...     print(factor.names, factor.values.round(3).tolist())
    ('fever',) [1.0, 0.0]
    ('flu',) [1.0, 0.2]
    ('cold',) [1.0, 0.5]
    """
    rest: list[Potential] = []
    factors: list[Factor] = []
    products: dict[Variable, Floats] = {}
    for potential in potentials:
        if not isinstance(potential, NoisyMaximum | NoisyMinimum):
            rest.append(potential)
            continue
        child = potential.variable
        least = 0 if isinstance(potential, NoisyMaximum) else child.n_states - 1
        if tuple(domains[child.name]) != (least,):
            rest.append(potential)
            continue
        leak, *links = potential.contributions
        certain = np.where(np.arange(child.n_states) == least, leak[least, 0], 0.0)
        factors.append(Factor((child,), certain))
        for parent, link in zip(potential.parents, links, strict=True):
            before = products.get(parent)
            product = link[least] if before is None else before * link[least]
            if before is not None and not _is_safe(product):
                factors.append(Factor((parent,), before))
                product = link[least]
            products[parent] = product
    factors += [Factor((parent,), product) for parent, product in products.items()]
    return (*rest, *factors)


def _is_safe(product: Floats) -> bool:
    positive = product[product > 0]
    return not positive.size or bool(positive.min() > _SMALL and positive.max() < _LARGE)
