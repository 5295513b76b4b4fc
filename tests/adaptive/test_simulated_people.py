"""The final profiles of simulated examinees, and their posteriors at each step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    Examinees,
    ItemBank,
    MaximalItems,
    MinimalEntropy,
    ProfileCertain,
    RandomItem,
    SimulationOptions,
    SimulationResult,
    Stopper,
    replay,
    simulate,
    start_belief,
)

BANK = ItemBank.from_qmatrix([[1, 0], [0, 1], [1, 1]] * 3, 0.2, 0.1)
PEOPLE = Examinees.drawn(BANK, 30, seed=2)


def simulated(stopper: Stopper, **options: int | bool) -> SimulationResult:
    """Return simulated tests with two selectors."""
    selectors = {"entropy": MinimalEntropy(), "random": RandomItem()}
    return simulate(BANK, PEOPLE, selectors, stopper, options=SimulationOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize("batch_size", [7, 30])
def test_posteriors_and_profiles_are_those_of_live_beliefs(batch_size: int) -> None:
    result = simulated(ProfileCertain(0.8), posteriors=True, batch_size=batch_size)
    frame: Any = result.posteriors.set_index(["selector", "examinee", "step", "skill", "level"])
    people: Any = result.people.set_index(["selector", "examinee"])
    for run in result.runs:
        for examinee in range(len(PEOPLE)):
            belief = start_belief(BANK)
            for step in range(int(run.lengths[examinee]) + 1):
                if step:
                    item = int(run.asked[examinee, step - 1])
                    code = int(PEOPLE.responses[examinee, item])
                    belief = belief.update(BANK.item_names[item], code)
                for skill in BANK.skills:
                    rows = frame.loc[(run.selector, examinee, step, skill), "probability"]
                    np.testing.assert_allclose(rows, belief.marginal(skill), atol=1e-9)
            row = people.loc[(run.selector, examinee)]
            profile = belief.profile()
            assert run.profiles[examinee].tolist() == list(profile.levels)
            assert row["map_probability"] == pytest.approx(profile.probability)
            assert row["eap_skill_1"] == pytest.approx(belief.marginal("skill_1")[1])
            assert row["true_skill_2"] == str(PEOPLE.levels[examinee, 1])
    counts = frame.groupby(["selector", "examinee"]).size()
    lengths = result.people.set_index(["selector", "examinee"])["length"]
    assert (counts == 4 * (lengths + 1)).all()


def test_without_the_option_only_the_ends_are_kept() -> None:
    ends, all_ = simulated(MaximalItems(3)), simulated(MaximalItems(3), posteriors=True)
    assert ends.runs[0].posteriors.shape == (30, 1, 4)
    assert all_.runs[0].posteriors.shape == (30, 4, 4)
    np.testing.assert_array_equal(ends.people, all_.people)
    last = all_.posteriors[all_.posteriors["step"] == 3].reset_index(drop=True)
    np.testing.assert_array_equal(ends.posteriors, last)
    none = simulated(ProfileCertain(0.1), posteriors=True)
    assert none.runs[0].posteriors.shape == (30, 1, 4)


def test_replays_keep_the_order_of_the_examinees() -> None:
    codes = np.array(PEOPLE.responses)
    options = SimulationOptions(posteriors=True)
    selectors = {"random": RandomItem()}
    stopper = MaximalItems(9)
    one = replay(lambda _: BANK, codes, selectors, stopper, folds=3, options=options)
    known = simulate(BANK, Examinees.recorded(BANK, codes), selectors, stopper, options=options)
    ends = [result.runs[0].posteriors[:, -1] for result in (one, known)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)
    assert "true_skill_1" not in one.people
