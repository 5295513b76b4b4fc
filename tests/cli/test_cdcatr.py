"""The accuracy of adaptive tests with cdcatR's bank of 180 items, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import run
from tests.data_sets import data_set

PUBLISHED = {
    "entropy": (0.064, 0.244, 0.916, 0.994),
    "gdi": (0.064, 0.244, 0.916, 0.994),
    "mpwkl": (0.064, 0.236, 0.806, 0.986),
    "pwkl": (0.048, 0.212, 0.770, 0.978),
}
"""Pattern accuracy of cdcatR (Sorrel, Nájera and Abad 2021) after 1, 3, 5 and 10 items.

Its function ``cdcat`` starts from a uniform distribution of the profiles by default, whatever was
learned, and so does ``--prior uniform``. It is also the distribution that the 500 examinees were
drawn from.
"""


@pytest.mark.slow
def test_the_accuracies_of_cdcatr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = data_set("cdcatr_sim180dina")
    monkeypatch.chdir(tmp_path)
    responses = str(place / "responses.csv")
    learned = run("learn", responses, "--qmatrix", str(place / "qmatrix.csv"), "--out", "bank.json")
    assert learned.exit_code == 0, learned.output
    selectors = [word for name in PUBLISHED for word in ("--selector", name)]
    truth = ("--profiles", str(place / "true_profiles.csv"))
    result = run(
        *("simulate", "bank.json", "--responses", responses, *truth),
        *("--prior", "uniform", "--stop", "items:10", *selectors, "--json"),
    )
    assert result.exit_code == 0, result.output
    for found in json.loads(result.stdout)["selectors"]:
        accuracy = found["by_items_asked"]["pattern_accuracy"]["mean"]
        ours = [accuracy[items] for items in (1, 3, 5, 10)]
        # One examinee of 500 is .002.
        assert ours == pytest.approx(PUBLISHED[found["selector"]], abs=0.0007), found["selector"]


@pytest.mark.slow
@pytest.mark.parametrize("n", [500, 2000])
def test_exposure_keeps_to_its_limit(
    n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = data_set("cdcatr_sim180dina")
    monkeypatch.chdir(tmp_path)
    learned = run(
        *("learn", str(place / "responses.csv"), "--qmatrix", str(place / "qmatrix.csv")),
        *("--gate", "gdina", "--out", "bank.json"),
    )
    assert learned.exit_code == 0, learned.output
    Path("design.toml").write_text(
        'select = "gdi"\nstop = "items:10"\nexposure = [{method = "eligibility", r_max = 0.25}]\n'
    )
    told = ("simulate", "bank.json", "--design", "design.toml", "--examinees", str(n), "--json")
    result = run(*told)
    assert result.exit_code == 0, result.output
    assert "more often than r_max" not in result.stderr
    (found,) = json.loads(result.stdout)["selectors"]
    assert max(found["exposure"].values()) <= 0.25 + 2 * (0.25 * 0.75 / n) ** 0.5
