r"""Forms: how chances of responses depend on parameters, within inequalities; and their M-step.

A form states the chances of *problems*, such as the items of a block, in cells, and their slopes.
The M-step maximizes, for each problem by itself,

.. math:: \sum_{cr} n_{cr} \ln P_r(c; x) + \text{log-prior}(x), \quad G x ≥ h.

==================  ====================================================================
symbol              name here
==================  ====================================================================
x                   ``x[i]``: the parameters of problem i
P_r(c; x)           ``form.table(x)``: the chance of response r in cell c
n_{cr}, n_c         ``counts``: expected numbers of examinees; their sum over the responses
g                   :math:`\sum_{cr} (n_{cr} / P_r) \, ∂P_r/∂x`, plus that of the prior
I                   :math:`\sum_c n_c \sum_r (∂P_r/∂x)(∂P_r/∂x)^T / P_r`, minus the expected
                    curvature of the prior; of main effects, the observed information
G x ≥ h             ``polytope.rows``, ``polytope.least``
min \|x\|, G x ≥ h    least distance programming (LDP), by nonnegative least squares
==================  ====================================================================

A step goes to the maximum of the quadratic approximation with I within the inequalities, and is
halved until it does not lower the objective. Expected information leads up wherever it is taken
(Fisher scoring). The step is Newton's if the logarithms of the chances are linear in the parameters
up to a constant, as in the 1PL, 2PL, the partial credit and the nominal model, and for main
effects, whose objective is concave. All problems take the steps together; those whose plain step
would leave the polytope get a quadratic program each.

References
----------
C. Lawson and R. Hanson, *Solving Least Squares Problems*, 1974, chapter 23 (LDP); P. McCullagh and
J. Nelder, *Generalized Linear Models*, 1989, section 2.5; R. D. Bock and M. Aitkin, "Marginal
maximum likelihood estimation of item parameters", Psychometrika 1981 (the M-step by Fisher
scoring); J. Nocedal and S. Wright, *Numerical Optimization*, 2006, chapter 18.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, sealed
from bnmind.adaptive.formulas import Link
from bnmind.information import Floats

_TOLERANCE = 1e-10
"""Points violate the inequalities by no more than this."""


@dataclass(frozen=True, eq=False)
class Polytope(Sealed):
    """The points x with G x ≥ h, for several h at once.

    Parameters
    ----------
    rows
        ``(inequalities, dimensions)``: G.
    least
        ``(problems, inequalities)``: h of each problem.
    fixed
        ``(problems, dimensions)``: where the bounds of a dimension leave one number, if known.
    """

    rows: Floats
    least: Floats
    fixed: NDArray[np.bool_] | None = None

    @cached_property
    def free(self) -> NDArray[np.bool_]:
        """Whether the bounds leave more than one number, ``(problems, dimensions)``."""
        every = np.ones((len(self.least), self.rows.shape[1]), dtype=np.bool_)
        return sealed(every if self.fixed is None else ~self.fixed)

    @cached_property
    def free_pairs(self) -> NDArray[np.bool_]:
        """Whether two dimensions are free, ``(problems, dimensions, dimensions)``."""
        return sealed(self.free[:, :, None] & self.free[:, None, :])

    @classmethod
    def of(cls, bounds: Floats, rows: Floats | None = None, least: float | Floats = 0) -> Polytope:
        """Return the points in bounds ``(problems, dimensions, 2)`` of which other rows hold, too.

        Parameters
        ----------
        bounds
            The least and the largest number in each dimension.
        rows
            More inequalities.
        least
            The least product of each of those with the point; also ``(problems, rows)``, −inf for
            none.
        """
        eye = np.eye(bounds.shape[1])
        more = eye[:0] if rows is None else rows
        products = np.broadcast_to(np.asarray(least, dtype=float), (len(bounds), len(more)))
        both = np.concatenate([bounds[..., 0], -bounds[..., 1], products], axis=1)
        fixed = bounds[..., 0] >= bounds[..., 1]
        used = np.isfinite(both).any(axis=0)
        rows = np.concatenate([eye, -eye, more])[used]
        return cls(rows, both[:, used], sealed(fixed))

    def holds(self, points: Floats, *, tolerance: float = _TOLERANCE) -> NDArray[np.bool_]:
        """Return whether each problem's point, ``(problems, dimensions)``, is inside."""
        short = (self.least - points @ self.rows.T).max(axis=1, initial=-np.inf)
        inside: NDArray[np.bool_] = np.less_equal(short, tolerance)
        return inside

    def inside(self, points: Floats) -> Floats:
        """Return the closest points inside, ``(problems, dimensions)``."""
        points = points.copy()
        for problem in np.flatnonzero(~self.holds(points)).tolist():
            closest = self.closest(problem, points[problem], np.eye(points.shape[1]))
            if closest is not None:
                points[problem] = closest
        return points

    def reach(self, points: Floats, steps: Floats) -> Floats:
        """Return the share of each step, at most 1, that stays inside, ``(problems,)``."""
        along = steps @ self.rows.T
        left = np.maximum(points @ self.rows.T - self.least + _TOLERANCE, 0.0)
        ratio = np.divide(left, -along, out=np.full(left.shape, np.inf), where=along < -_TOLERANCE)
        shares: Floats = ratio.min(axis=1, initial=1.0)
        return shares

    def closest(
        self,
        problem: int,
        target: Floats,
        curvature: Floats,
    ) -> Floats | None:
        """Return the x of a problem with the least (x − t)ᵀ H (x − t); None if there is none.

        Parameters
        ----------
        problem
            The number of the problem.
        target
            t, ``(dimensions,)``.
        curvature
            H, positive definite.
        """
        from scipy.optimize import nnls

        root = np.linalg.inv(np.linalg.cholesky(curvature)).T
        held = np.isfinite(self.least[problem])
        given, bound = self.rows[held], self.least[problem][held]
        # With x = t + L⁻ᵀ z: the least |z| with G L⁻ᵀ z ≥ h − G t.
        rows = given @ root
        least = bound - given @ target
        size = np.sqrt((rows**2).sum(axis=1))
        rows, least = rows / size[:, None], least / size
        matrix = np.concatenate([rows.T, least[None]])
        goal = np.zeros(len(matrix))
        goal[-1] = 1.0
        try:
            weights, distance = nnls(matrix, goal)
        except RuntimeError:  # too many steps
            return None
        residual = matrix @ weights - goal
        if distance < 1e-12 or residual[-1] > -1e-14:
            return None
        z = -residual[:-1] / residual[-1]
        found: Floats = target + root @ z
        # A target far away costs digits, and a step that ends a hair outside would not be taken.
        met = weights > 0
        found += np.linalg.lstsq(given[met], bound[met] - given[met] @ found)[0]
        return found


@dataclass(frozen=True, eq=False)
class Form(Sealed):
    """The chances of problems of one kind, which have a design in common.

    Parameters
    ----------
    link
        How predictors become chances.
    design
        ``(cells, predictors, parameters)``, or one for each problem: the predictors are its
        products with the parameters.
    polytope
        The valid parameters of each problem.
    log_normal
        Mean and deviation of the logarithm of the first parameter, a slope, if it has a prior.
    pseudo
        More chances of the same parameters, with the counts ``(cells, responses)`` of priors.
    """

    link: Link
    design: Floats
    polytope: Polytope
    _: KW_ONLY
    log_normal: tuple[float, float] | None = None
    pseudo: tuple[tuple[Form, Floats], ...] = ()

    def _predictors(self, x: Floats) -> Floats:
        *problems, n_cells, n_predictors, n = self.design.shape
        rows = self.design.reshape(*problems, n_cells * n_predictors, n)
        flat = (rows @ x[..., None])[..., 0] if problems else x @ rows.T
        return flat.reshape(len(x), n_cells, n_predictors)

    def table(self, x: Floats) -> Floats:
        """Return the chances, ``(problems, cells, responses)``."""
        return self.link.chances(self._predictors(x))

    def slopes(self, x: Floats) -> Floats:
        """Return their derivatives, ``(problems, parameters, cells, responses)``."""
        each = self.design.swapaxes(-1, -2) @ self.link.slopes(self._predictors(x))
        return np.moveaxis(each, 2, 1)

    def score(self, x: Floats, counts: Floats, chances: Floats) -> tuple[Floats, Floats]:
        """Return gradient and information, ``(problems, parameters)`` and that twice.

        Parameters
        ----------
        x
            The parameters.
        counts, chances
            ``(problems, cells, responses)``.
        """
        scale, design = self.link.scale, self.design
        if scale is None:
            flat = self.slopes(x).reshape(*x.shape, -1)
            totals = counts.sum(axis=2, keepdims=True)
            gradient = (flat @ (counts / chances).reshape(len(x), -1, 1))[..., 0]
            weighted = flat * np.sqrt(totals / chances).reshape(len(x), 1, -1)
            return gradient, weighted @ weighted.transpose(0, 2, 1)
        wrong, right = chances[..., 0], chances[..., 1]
        of_wrong, of_right = counts[..., 0] / wrong, counts[..., 1] / right
        slope, bend = scale.rates(wrong, right)
        up = of_right - of_wrong
        bent = slope**2 * (of_right / right + of_wrong / wrong) - bend * up
        rows = design[..., 0, :]
        gradient = ((up * slope)[:, None] @ rows)[:, 0]
        return gradient, (rows.swapaxes(-1, -2) * bent[:, None]) @ rows

    def residual(self, x: Floats, counts: Floats) -> Floats:
        """Return how far the gradient leads from each problem's parameters, for each examinee.

        It is 0 where the conditions of Karush, Kuhn and Tucker hold.
        """
        gradient, _ = self.score_with_priors(x, counts, objective(self, x, counts)[1])
        n = np.maximum(counts.sum(axis=(1, 2)), 1.0)
        there, eye = x + gradient / n[:, None], np.eye(x.shape[1])
        for problem in np.flatnonzero(~self.polytope.holds(there)).tolist():
            found = self.polytope.closest(problem, there[problem], eye)
            there[problem] = x[problem] if found is None else found
        size: Floats = np.abs(there - x).max(axis=1, initial=0.0)
        return size

    def log_prior(self, x: Floats) -> Floats:
        """Return the logarithm of the prior density of each problem, up to a constant."""
        value = np.zeros(len(x))
        if self.log_normal is not None:
            (mean, deviation), log = self.log_normal, np.log(x[:, 0])
            value += -log - (log - mean) ** 2 / (2 * deviation**2)
        for part, counts in self.pseudo:
            chances = np.maximum(part.table(x), _FLOOR)
            value += (counts * np.log(chances)).sum(axis=(1, 2))
        return value

    def score_with_priors(
        self, x: Floats, counts: Floats, chances: Floats
    ) -> tuple[Floats, Floats]:
        """Return gradient and information of the objective, with the priors; see `score`."""
        gradient, information = self.score(x, counts, chances)
        if self.log_normal is not None:
            (mean, deviation), slope = self.log_normal, x[:, 0]
            gradient[:, 0] -= (1 + (np.log(slope) - mean) / deviation**2) / slope
            information[:, 0, 0] += 1 / (deviation * slope) ** 2
        for part, pseudo in self.pseudo:
            table = np.maximum(part.table(x), _FLOOR)
            more = part.score(x, np.broadcast_to(pseudo, table.shape), table)
            gradient, information = gradient + more[0], information + more[1]
        return gradient, information


_FLOOR = 1e-12
"""The least chance in a logarithm or a ratio, so that no gradient is infinite."""

_STEPS = 10

_SETTLED = 1e-11
"""Steps end if the approximation gains no more than this times the number of examinees."""

_QUADRATIC = 1e-5
"""The next step after one that gains this little gains hardly anything."""

_FEW_STEPS, _NEAR = 3, 1.0
"""The most steps between two E-steps, and the gain after which there is no other one."""

_SURE = 0.1
"""A step that gains this little needs no check: the approximation is right near the maximum."""

_RIDGE = 1e-9
"""Added to the information, relative to its mean, so that flat directions stay as they are."""

_LONGEST = 1e4
"""About the longest step: where the objective is linear, a plain step has no end."""

_HALVINGS = 25


def objective(
    form: Form, x: Floats, counts: Floats, chances: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return what the M-step maximizes, ``(problems,)``, and the chances, known or not.

    It is −inf where a chance is not a number.
    """
    chances = np.maximum(form.table(x), _FLOOR) if chances is None else chances
    value = np.einsum("icr,icr->i", counts, np.log(chances))
    value += form.log_prior(x)
    return np.where(np.isnan(value), -np.inf, value), chances


def ascended(
    form: Form,
    x: Floats,
    counts: Floats,
    chances: Floats | None = None,
    *,
    rounds: int = _STEPS,
    near: float = _QUADRATIC,
) -> Floats:
    """Return parameters that raise the objective of each problem to its maximum.

    Parameters
    ----------
    form
        The form.
    x
        ``(problems, parameters)``: the present parameters, inside of the polytope. The objective
        of no problem decreases.
    counts
        ``(problems, cells, responses)``.
    chances
        Those of the parameters, of the same shape, if they are known.
    rounds
        The most steps.
    near
        The last step is one that the approximation says to gain no more than this in any problem.
    """
    polytope, k = form.polytope, x.shape[1]
    fixed = ~polytope.free if polytope.fixed is not None and polytope.fixed.any() else None
    chances = np.maximum(form.table(x) if chances is None else chances, _FLOOR)
    value, open_ = np.zeros(0), None
    for _ in range(rounds):
        gradient, information = form.score_with_priors(x, counts, chances)
        if fixed is not None:
            gradient[fixed] = 0.0
            information *= polytope.free_pairs
        size = np.abs(gradient).max(axis=1) / _LONGEST + 1e-30
        diagonals = information.reshape(len(x), -1)[:, :: k + 1]
        ridge = diagonals.sum(axis=1) * (_RIDGE / k) + size
        diagonals += ridge[:, None] if fixed is None else np.where(fixed, 1.0, ridge[:, None])
        solved = np.linalg.solve(information, gradient[..., None])[..., 0]
        steps = np.asarray(solved, dtype=np.float64)
        if open_ is not None:
            steps[~open_] = 0.0
        inside = polytope.holds(x + steps)
        if not inside.all():
            for problem in np.flatnonzero(~inside).tolist():
                target = x[problem] + steps[problem]
                best = polytope.closest(problem, target, information[problem])
                if best is not None:
                    steps[problem] = best - x[problem]
            steps *= polytope.reach(x, steps)[:, None]
        gain = (gradient * steps).sum(axis=1)
        most = float(gain.max(initial=0.0))
        if most < min(near, _SURE) and rounds == _FEW_STEPS:
            return x + steps
        if open_ is None:
            value, chances = objective(form, x, counts, chances)
            enough = _SETTLED * np.maximum(counts.sum(axis=(1, 2)), 1.0)
            open_ = np.ones(len(x), dtype=np.bool_)
        open_ &= gain > enough
        if not open_.any():
            break
        steps[~open_] = 0.0
        x, value, chances = _climbed(form, (x, value, chances), steps, counts)
        if most < near:
            break
    return x


def improved(form: Form, x: Floats, counts: Floats, chances: Floats | None = None) -> Floats:
    """Return parameters that raise the objective, but not to its maximum: a step of EM.

    The next E-step changes the counts, so the last digits are lost anyway.
    """
    return ascended(form, x, counts, chances, rounds=_FEW_STEPS, near=_NEAR)


def _climbed(
    form: Form, place: tuple[Floats, Floats, Floats], steps: Floats, counts: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the place after steps, each halved until it does not lead down.

    A place has the parameters, their objectives, and the chances.
    """
    x, value, chances = place
    worse: NDArray[np.bool_]
    for _ in range(_HALVINGS):
        there = x + steps
        reached, then = objective(form, there, counts)
        worse = ~(reached >= value)
        if not worse.any():
            break
        steps = np.where(worse[:, None], steps / 2, steps)
    there[worse], reached[worse], then[worse] = x[worse], value[worse], chances[worse]
    return there, reached, then


_DIFFERENCE = 1e-6
"""The step of differences, relative to parameters above 1."""


def differences(of: Callable[[Floats], Floats], values: Floats, limits: Floats) -> Floats:
    """Return the slopes of a function by each parameter, ``(…, parameters)``.

    They are differences within the limits; parameters with equal limits have none.
    """
    columns = [np.zeros((*of(values).shape, 0))]
    for place, (value, (low, high)) in enumerate(zip(values.tolist(), limits, strict=True)):
        step = _DIFFERENCE * max(1.0, abs(value))
        up, down = values.copy(), values.copy()
        up[place], down[place] = np.fmin(value + step, high), np.fmax(value - step, low)
        width = up[place] - down[place]
        change = of(up) - of(down)
        columns.append((change / width if width > 0 else 0 * change)[..., None])
    return np.concatenate(columns, axis=-1)
