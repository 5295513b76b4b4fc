"""The promises of distributions of skills: all profiles, parents before children."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind._arguments import checked
from bnmind.adaptive import SKILL_DISTRIBUTIONS, LearningOptions, ProfileDistribution, learn
from bnmind.pgm import Variable
from bnmind.testing.promises import Promises
from bnmind.testing.registered import Family, examples

__all__ = ["check_skill_distribution"]

_FAMILY = Family(
    "distribution of skills",
    room="bnmind.adaptive",
    registry=SKILL_DISTRIBUTIONS,
    commands=("learn",),
)
_SKILLS = tuple(Variable.of_integers(name, range(n)) for name, n in (("a", 2), ("b", 3), ("c", 2)))
_NAMED = (Variable("reading", ("novice", "master")), Variable("z", ("none", "some", "all")))
_CHOICES = (_SKILLS, _SKILLS[:1], _SKILLS[::-1], (*_SKILLS, *_NAMED))


@checked
def check_skill_distribution(
    distribution: ProfileDistribution | str, *, skills: Sequence[Variable] | None = None
) -> None:
    """Check that a distribution of skills keeps the promises of such distributions.

    It is immutable. It makes a distribution of each skill, in the order of the skills, after those
    of variables of its own. Parents come before children. All probabilities sum to one, and every
    profile is possible, so that learning can find it. Learning can start with it. The names of the
    skills do not matter.

    Parameters
    ----------
    distribution
        The distribution, or the name of a registered one, with an argument or without.
    skills
        The skills; by default three of two and three levels, and fewer, in several orders.

    Raises
    ------
    ContractError
        If a promise is broken.
    UnknownNameError
        If no distribution has the name.

    Examples
    --------
    >>> from bnmind.adaptive import Independent
    >>> check_skill_distribution(Independent())
    """
    if isinstance(distribution, str):
        for one in examples(_FAMILY, distribution):
            check_skill_distribution(one, skills=skills)
        return
    promises = Promises("distribution of skills", distribution)
    promises.value()
    promises.has("cpds")
    choices = _CHOICES if skills is None else (tuple(skills),)
    for chosen in choices:
        where = "skills " + ", ".join(f"{v.name} of {v.n_states} levels" for v in chosen)
        joint = _joint(promises, distribution, chosen, where)
        renamed = [Variable(f"other {number}", v.states) for number, v in enumerate(chosen)]
        promises.keep(
            np.array_equal(_joint(promises, distribution, renamed, where), joint),
            "the names of the skills do not matter",
            where,
        )
    if skills is None:
        with promises.no_error("learning starts with it"):
            responses = np.random.default_rng(1).integers(0, 2, (12, 4))
            options = LearningOptions(starts=1, max_iterations=2)
            learn(responses, [[1, 0], [0, 1], [1, 1], [1, 0]], skills=distribution, options=options)


def _joint(
    promises: Promises, distribution: ProfileDistribution, skills: Sequence[Variable], where: str
) -> np.ndarray:
    """Return the joint probabilities of the skills and of the variables before them."""
    with promises.no_error("it fits skills of any levels", where), promises.pure(example=where):
        cpds = distribution.cpds(skills)
    own = tuple(cpd.variable for cpd in cpds if cpd.variable not in skills)
    known = (*own, *skills)
    promises.keep(
        [cpd.variable for cpd in cpds] == list(known),
        "variables of its own come first, then the skills in their order",
        where,
    )
    joint = np.ones(())
    for number, cpd in enumerate(cpds):
        promises.keep(
            set(cpd.parents) <= set(known[:number]), "parents come before children", where
        )
        factor = cpd.to_factor()
        with promises.no_error("each of its distributions is one", where):
            rows = np.real(factor.sum_to([v.name for v in cpd.parents]).values)
        promises.keep(
            np.allclose(rows, 1, rtol=0, atol=1e-9),
            "the probabilities of each skill sum to 1, whatever its parents are",
            f"{where}: {cpd.variable.name}",
        )
        axes = [[v.name for v in known].index(v.name) for v in factor.scope]
        shape = [v.n_states if i in axes else 1 for i, v in enumerate(known)]
        joint = joint * np.real(factor.values).transpose(np.argsort(axes)).reshape(shape)
    promises.keep(
        abs(float(joint.sum()) - 1) <= 1e-12, "the probabilities of all profiles sum to 1", where
    )
    promises.keep(np.all(joint > 0), "every profile is possible before learning", where)
    return joint
