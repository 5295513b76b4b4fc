"""Figures beside published ones, and their verdicts."""

from __future__ import annotations

import math
import statistics
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.lab.reproductions import (
    Better,
    Estimate,
    Figure,
    Reference,
    Standing,
    Verdict,
    exact,
    measured,
    published,
)
from bnmind.lab.reproductions.figures import new, quoted
from bnmind.lab.reproductions.mastermind import claim_judged
from bnmind.lab.reproductions.page import _counts, _curves, _pivot, cells, duration, summary

numbers = st.floats(-100, 100, allow_nan=False)


@given(numbers, st.floats(0, 3), numbers, st.none() | st.floats(0, 3), st.sampled_from(Better))
def test_verdicts_by_three_standard_errors(
    ours: float, error: float, theirs: float, their_error: float | None, better: Better
) -> None:
    figure = measured(
        "x", Estimate(ours, error, 9), Reference(theirs, error=their_error), better=better, why="so"
    )
    limit = 3 * math.hypot(error, their_error or 0)
    if abs(ours - theirs) <= limit * (1 - 1e-9):
        power = NormalDist(abs(theirs) * 0.015, limit / 3) if limit else None
        is_found = power is None or 1 - power.cdf(limit) > 0.8
        if power is None or abs(0.8 - (1 - power.cdf(limit))) > 0.001:
            expected = Verdict.AGREES if is_found else Verdict.TOO_FEW
            assert (figure.verdict, figure.why) == (expected, "")
    elif abs(ours - theirs) > limit * (1 + 1e-9):
        preferred = {Better.LOWER: ours < theirs, Better.HIGHER: ours > theirs}
        expected = Verdict.BETTER if preferred.get(better) else Verdict.DIFFERS
        assert (figure.verdict, figure.why) == (expected, "so")
    assert Figure.from_dict(figure.to_dict()) == figure


@given(st.lists(numbers, min_size=2))
def test_estimates_are_means_with_standard_errors(values: list[float]) -> None:
    estimate = Estimate.of(values)
    assert estimate.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert estimate.sd == pytest.approx(statistics.stdev(values), abs=1e-6)
    assert estimate.games == len(values)


def test_the_error_of_a_deviation_is_the_spread_of_deviations() -> None:
    rng = np.random.default_rng(0)
    samples = [rng.gamma(2.0, size=500).tolist() for _ in range(400)]
    found = [Estimate.deviation(sample) for sample in samples]
    spread = np.std([estimate.mean for estimate in found])
    assert np.mean([estimate.standard_error for estimate in found]) == pytest.approx(
        spread, rel=0.1
    )
    assert Estimate.deviation([3.0, 3.0]).standard_error == 0


def test_exact_figures_agree_only_if_they_are_equal() -> None:
    assert exact("x", 5625, 5625, why="so", note="book").why == "book"
    assert exact("x", 5624, 5625, better=Better.LOWER).verdict is Verdict.BETTER
    differs = exact("x", 5626, 5625, better=Better.LOWER, why="so", note="book")
    assert (differs.verdict, differs.why) == (Verdict.DIFFERS, "book; so")
    assert exact("x", 4.3404, 4.340, digits=3).verdict is Verdict.AGREES
    assert exact("x", 4.3407, 4.340, digits=3).verdict is Verdict.DIFFERS
    assert exact("x", 3, None).verdict is Verdict.NEW
    assert measured("x", Estimate(3, 1, 2), None).verdict is Verdict.NEW


def test_a_figure_that_misses_low_differs_unless_lower_is_better() -> None:
    low = Estimate(3, 0.1, 100)
    assert measured("x", low, 4).verdict is Verdict.DIFFERS
    assert measured("x", low, 4, better=Better.LOWER).verdict is Verdict.BETTER


def test_a_difference_within_the_noise_is_no_agreement_of_few_games() -> None:
    # Snyder's walk on 6x8: 1,000 games hide a difference that 10,000 show.
    few, many = Estimate(6.344, 0.029, 1000), Estimate(6.373, 0.009, 10_000)
    published = Reference(6.297, Standing.PUBLICATION, 0.009)
    assert measured("x", few, published).verdict is Verdict.TOO_FEW
    judged = measured("x", few, published, longest=many, why="so")
    assert (judged.ours, judged.games, judged.verdict) == (6.344, 1000, Verdict.DIFFERS)
    assert judged.why == "judged by 10,000 games, 6.373 ± 0.009; so"
    assert measured("x", many, published, longest=few).why == ""
    assert measured("x", many, Reference(6.37, error=0.009)).verdict is Verdict.AGREES
    # 1.5 % of the figure could not have been seen, but 10 % could.
    assert measured("x", Estimate(1.0, 0.02, 9), 1.0, relevant=0.1).verdict is Verdict.AGREES


def test_figures_stand_in_a_publication_only_if_that_is_said() -> None:
    assert exact("x", 1, 1).standing is measured("x", Estimate(1, 0.001, 9), 1).standing
    assert exact("x", 1, 1).standing is Standing.OWN
    assert exact("x", 1, None).standing is None


def test_a_single_value_has_no_standard_error() -> None:
    with pytest.raises(InvalidArgumentError, match="two values"):
        Estimate.of([1.0])


@pytest.mark.parametrize("record", [{}, [], {"name": "x"}, None, 3])
def test_a_record_that_is_no_figure_is_refused(record: object) -> None:
    with pytest.raises(InvalidArgumentError, match="figure"):
        Figure.from_dict(record)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match="verdict"):
        Figure.from_dict({**quoted("x", 1).to_dict(), "verdict": "perhaps"})
    with pytest.raises(InvalidArgumentError, match="standing"):
        Figure.from_dict({**quoted("x", 1).to_dict(), "standing": "rumor"})


def test_published_figures_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        published("snyder")["learned"]["mean"] = 4
    with pytest.raises(UnknownNameError, match="did you mean snyder"):
        published("snider")


def test_cells_show_two_digits_of_the_standard_error() -> None:
    assert cells(quoted("people", 6.77)) == ("people", "6.77", *[""] * 6, "quoted")
    assert cells(exact("sizes", 20526445, 20526445))[3:6] == ("20,526,445", "", "20,526,445")
    program = measured("codes", Estimate(597.71, 24.3, 10_000), Reference(604.2, Standing.PROGRAM))
    assert cells(program)[1:8] == ("", "604.2", "", "", "598", "24", "10,000")
    assert summary([program, quoted("x", 1), exact("x", 2, None)]) == (
        "1 has too few games to tell, 1 is new, 1 is quoted"
    )
    fitted = measured("x", Estimate(1, 0.001, 9), Reference(1, fitted=True))
    assert cells(fitted)[-1] == "agrees, fitted"
    assert summary([exact("x", 1, 1), fitted]) == "1 agrees; fitted: 1 agrees"
    other = exact("x", 1, Reference(1, Standing.PUBLICATION))
    assert summary([exact("x", 1, 1), other, exact("x", 2, None), quoted("x", 1)]) == (
        "publication: 1 agrees; our own: 1 agrees; 1 is new, 1 is quoted"
    )
    assert [duration(s) for s in (0.1, 99, 100, 5999, 6000)] == [
        *("1 s", "99 s", "2 min", "100 min", "1.7 h")
    ]


def test_curves_are_a_table_with_a_column_for_each_abscissa() -> None:
    figures = [
        new("x", Estimate(4.5, 0.02, 100), curve="map", at=0.1),
        new("x", Estimate(5.25, 0.03, 50), curve="map", at=0.2),
        new("x", 4.0, curve="bound", at=0.2),
        quoted("people", 6.77),
    ]
    curves, others = _curves(figures)
    assert others == figures[3:]
    assert _pivot(curves, "p") == [
        "|  | p = 0.1 | p = 0.2 | games |",
        "|---|---:|---:|---:|",
        "| map | 4.500 ± 0.020 | 5.250 ± 0.030 | 50, 100 |",
        "| bound |  | 4 |  |",
    ]
    timed = new("x", Estimate(4.23456, 0.0, 4), curve="ms", at=429_981_696.0)
    assert _pivot(_curves([timed])[0], "codes")[::2] == [
        "|  | codes = 429,981,696 | games |",
        "| ms | 4.23 | 4 |",
    ]


def test_a_page_without_published_figures_counts_none() -> None:
    assert _counts([new("x", 1)]) == []
    shown = _counts(
        [exact("x", 1, 1), exact("x", 2, Reference(1, Standing.PUBLICATION)), new("x", 1)]
    )
    assert shown == [
        "* Beside 1 of *publication*: 1 differs.",
        "* Beside 1 of *our own*: 1 agrees.",
        "* 1 other is new or quoted.",
        "",
    ]


def test_a_claim_is_judged_by_two_standard_errors() -> None:
    def word(off: float, *, better: bool) -> str:
        return claim_judged(Estimate(off, 0.01, 100), better=better).rsplit("; ", 1)[1]

    assert [word(off, better=True) for off in (-0.03, -0.01, 0.01, 0.03)] == [
        *("confirmed", "cannot be told", "cannot be told", "contradicted")
    ]
    assert [word(off, better=False) for off in (-0.03, 0.01, 0.03)] == [
        *("contradicted", "no difference can be told", "contradicted")
    ]
