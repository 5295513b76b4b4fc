"""Classifying examinees: against enumeration, simulated administrations, and known profiles."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    Classification,
    Gdina,
    Independent,
    ItemBank,
    Logistic,
    Responses,
    Saturated,
    beliefs_given,
    classify,
    expected_ability,
    irt_bank,
    learn,
    person_fit,
    read_profiles,
    read_qmatrix,
    start_belief,
)
from bnmind.errors import InvalidArgumentError, TableError
from tests.banks import banks, enumerated
from tests.data_sets import data_set
from tests.modes import examples

Q = [[1, 0], [0, 1], [1, 1]] * 3
BANK = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Saturated([0.3, 0.2, 0.1, 0.4]))


@settings(max_examples=examples(40))
@given(banks(max_skills=3), st.integers(0, 99), st.integers(1, 12))
def test_posteriors_profiles_and_reliability_are_those_of_enumeration(
    bank: ItemBank, seed: int, n: int
) -> None:
    codes = Responses.drawn(bank, n, seed=seed).codes
    gone = np.random.default_rng(seed).random(codes.shape) < 0.3
    gone[:, 0] = gone[0] = False
    codes = np.where(gone, -1, codes)
    found = classify(bank, Responses(codes, bank.item_names))
    n_skills = len(bank.skills)
    rest = tuple(range(n_skills, len(bank.hidden)))
    posteriors = []
    for row, code in enumerate(codes):
        given_ = {m: int(r) for m, r in zip(bank.item_names, code, strict=True) if r >= 0}
        posterior, evidence = enumerated(bank, given_)
        table = posterior.sum(axis=rest)
        posteriors.append(table)
        assert found.log_evidence[row] == pytest.approx(np.log(evidence), abs=1e-8)
        assert found.probabilities[row] == pytest.approx(table.max(), abs=1e-9)
        assert table[tuple(found.profiles[row])] == pytest.approx(table.max(), abs=1e-9)
        for k in range(n_skills):
            marginal = table.sum(axis=tuple(a for a in range(n_skills) if a != k))
            np.testing.assert_allclose(found.marginals[k][row], marginal, atol=1e-9)
    # Sums over pairs of profiles, in plain loops.
    mean = np.mean(posteriors, axis=0)
    places = list(np.ndindex(mean.shape))
    alike = 0.0
    for truth in places:
        for one in places:
            is_one = [tuple(levels) == one for levels in found.profiles]
            h = sum(p[truth] for p, yes in zip(posteriors, is_one, strict=True) if yes) / n
            alike += h**2 / mean[truth] if mean[truth] else 0.0
    reliability = found.reliability
    assert reliability.accuracy == pytest.approx(np.mean([p.max() for p in posteriors]))
    assert reliability.consistency == pytest.approx(alike, abs=1e-9)
    for k, skill in enumerate(reliability.skills):
        assert skill.accuracy == pytest.approx(found.marginals[k].max(axis=1).mean())
        alike = 0.0
        for truth in places:
            for level in range(found.marginals[k].shape[1]):
                h = 0.0
                for posterior, levels in zip(posteriors, found.levels, strict=True):
                    if levels[k] == level:
                        h += posterior[truth] / n
                alike += h**2 / mean[truth] if mean[truth] else 0.0
        assert skill.consistency == pytest.approx(alike, abs=1e-9)


def test_two_administrations_agree_as_often_as_estimated() -> None:
    profiles = np.array(Responses.drawn(BANK, 20_000, seed=1).levels)
    one, two = (
        classify(BANK, np.array(Responses.with_profiles(BANK, profiles, seed=seed).codes))
        for seed in (2, 3)
    )
    right = (one.profiles == profiles).all(axis=1).mean()
    alike = (one.profiles == two.profiles).all(axis=1).mean()
    assert one.reliability.accuracy == pytest.approx(right, abs=0.01)
    assert one.reliability.consistency == pytest.approx(alike, abs=0.01)
    for k, skill in enumerate(one.reliability.skills):
        assert skill.accuracy == pytest.approx((one.levels == profiles)[:, k].mean(), abs=0.01)
        assert skill.consistency == pytest.approx((one.levels == two.levels)[:, k].mean(), abs=0.01)
    seen = one.agreement_with(profiles)
    assert seen.pattern_accuracy == right
    assert seen.skills[0].marginals == (one.levels == profiles)[:, 0].mean()
    assert seen.n_examinees == 20_000
    # The mean of the standardized fit is near 0, and few are flagged.
    assert abs(one.fit.mean()) < 0.3
    assert (one.fit < -1.645).mean() < 0.06


def test_responses_at_random_do_not_fit() -> None:
    q = [[1, 0], [0, 1]] * 15
    bank = ItemBank.from_qmatrix(q, 0.1, 0.1)
    guesses = np.random.default_rng(1).integers(0, 2, (300, len(q)))
    usual = np.array(Responses.drawn(bank, 300, seed=1).codes)
    assert (classify(bank, guesses).fit < -1.645).mean() > 0.8
    assert (classify(bank, usual).fit < -1.645).mean() < 0.1
    level = bank.channel("item_1")[1]
    rows = np.where(np.eye(30, dtype=bool), 1, -1)
    alone = classify(bank, rows).fit[0]
    logs = np.log(level)
    mean = level @ logs
    assert alone == pytest.approx((logs[1] - mean) / np.sqrt(level @ logs**2 - mean**2))


def test_impossible_responses_are_classified_by_the_fewest_errors() -> None:
    certain = ItemBank.from_qmatrix([[1], [1], [1]], guess=0, slip=0)
    found = classify(certain, [[1, 1, 0], [1, 1, 1], [0, 0, 1]])
    assert found.impossible.tolist() == [True, False, True]
    assert found.profiles[:, 0].tolist() == [1, 1, 0]
    assert np.isfinite(found.expected).all()
    assert found.person_fit(0)[2].p_value < 0.01


def test_a_bank_of_many_skills_is_classified_by_its_tree() -> None:
    n = 18
    q = np.eye(n, dtype=int).repeat(2, axis=0)
    bank = ItemBank.from_qmatrix(q, 0.2, 0.1, skills=Independent())
    codes = np.array(Responses.drawn(bank, 6, seed=1).codes)
    found = classify(bank, codes)
    small = ItemBank.from_qmatrix([[1], [1]], 0.2, 0.1)
    for k in range(n):
        alone = classify(small, codes[:, 2 * k : 2 * k + 2])
        np.testing.assert_allclose(found.expected[:, k], alone.expected[:, 0], atol=1e-9)
    assert np.isnan(found.reliability.consistency)
    assert 0 < found.reliability.accuracy < 1


def test_abilities_have_means_and_standard_errors() -> None:
    bank = irt_bank([Logistic(1.2, b) for b in (-2, -1, 0, 0, 1, 2)])
    codes = np.array(Responses.drawn(bank, 50, seed=1).codes)
    found = classify(bank, codes)
    np.testing.assert_allclose(found.expected[:, 0], expected_ability(beliefs_given(bank, codes)))
    frame = found.to_frame()
    skill = bank.skills[0]
    assert list(frame.columns[-8:]) == [
        *(f"map_{skill}", "map_probability", f"eap_{skill}", f"sd_{skill}"),
        *("entropy", "log_likelihood", "person_fit", "impossible"),
    ]
    assert 0.2 < found.eap_reliability[0] < 0.9


def test_frames_name_people_skills_and_levels() -> None:
    bank = ItemBank.from_qmatrix(
        [[2, 0], [1, 1]], 0.2, 0.1, skill_names=["add", "carry"], levels=[3, 2]
    )
    codes = np.array([[1, 1], [0, -1]])
    found = classify(bank, Responses(codes, bank.item_names, ("ann", "bob")))
    frame = found.to_frame()
    assert frame["examinee"].tolist() == ["ann", "bob"]
    assert frame["answers"].tolist() == [2, 1]
    assert frame[["p_add_0", "p_add_1", "p_add_2"]].sum(axis=1).tolist() == pytest.approx([1, 1])
    assert frame["eap_carry"].tolist() == pytest.approx(found.marginals[1][:, 1].tolist())
    assert set(frame["map_add"]) <= {"0", "1", "2"}
    belief = start_belief(bank).update("item_1", 1).update("item_2", 1)
    assert found.person_fit(0) == person_fit(belief)
    with pytest.raises(InvalidArgumentError, match="examinee"):
        found.person_fit(2)
    with pytest.raises(InvalidArgumentError, match="positions of levels"):
        found.agreement_with([[3, 0], [0, 0]])
    assert repr(found).startswith("Classification(2 examinees, accuracy of profiles 0.")


def test_the_number_of_examinees_is_no_reason_to_leave_consistency_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = Responses.drawn(BANK, 60, seed=1).codes
    found = classify(BANK, people).reliability
    module = sys.modules[classify.__module__]
    monkeypatch.setattr(module, "_MOST_CELLS", 16)  # those of four profiles
    assert classify(BANK, people).reliability == found
    monkeypatch.setattr(module, "_MOST_CELLS", 15)
    few = classify(BANK, people).reliability
    assert np.isnan(few.consistency)
    assert few.accuracy == found.accuracy


def test_a_skill_that_nobody_has_has_no_reliability() -> None:
    bank = ItemBank.from_qmatrix(Q, 0.2, 0.15, skills=Independent([0.0, 0.4]))
    people = Responses.drawn(bank, 20, seed=1).codes
    reliability = classify(bank, people).eap_reliability
    assert np.isnan(reliability[0])
    assert 0 < reliability[1] < 1


def test_unknown_levels_do_not_count() -> None:
    found = np.array([[1, 0], [1, 1], [0, 0]])
    one = classify(BANK, np.zeros((3, len(BANK.items)), dtype=int))
    marginals = tuple(np.eye(2)[levels] for levels in found.T)
    one = dataclasses.replace(one, profiles=found, marginals=marginals)
    seen = one.agreement_with([[1, 0], [-1, 0], [0, 1]])
    assert (seen.n_examinees, seen.pattern_accuracy) == (2, 0.5)
    assert seen.attribute_accuracy == 0.6
    assert [skill.marginals for skill in seen.skills] == [1.0, pytest.approx(1 / 3)]


def test_profiles_are_read_by_name_number_and_position(tmp_path: Path) -> None:
    file = tmp_path / "truth.csv"
    file.write_text("id;skill_2;skill_1;group\nbob;1;0;x\nann;NA;1;y\n")
    named = read_profiles(file, BANK, ["ann", "bob"])
    assert (named.levels.tolist(), named.notes) == ([[1, -1], [0, 1]], ())
    frame = read_profiles(pd.read_csv(file, sep=";"), BANK, ["ann", "bob"])
    assert frame.levels.tolist() == named.levels.tolist()
    numbered = read_profiles(file, BANK, ["2"])
    assert numbered.levels.tolist() == [[1, -1]]
    assert "by position" in numbered.notes[-1]
    file.write_text("A,B\n1,0\n0,0\n")
    assert read_profiles(file, BANK, ["x", "y"]).levels.tolist() == [[1, 0], [0, 0]]
    for text, part in (
        ("skill_1,other\n1,0\n", "no column for the skill skill_2"),
        (
            "skill_1,skill_2\n1,0\n",
            "a row for each of the 2 examinees, or a column examinee with their names; got 1 row",
        ),
        ("skill_1,skill_2\n1,0\n2,0\n", "level of skill_1 among 0, 1 for examinee y, got"),
    ):
        file.write_text(text)
        with pytest.raises(TableError, match=part):
            read_profiles(file, BANK, ["x", "y"])


@pytest.mark.parametrize("name", ['""', "Unnamed: 0", "...1", "rownames", "student", "Examinee"])
def test_row_names_of_other_programs_match_the_examinees(tmp_path: Path, name: str) -> None:
    file = tmp_path / "truth.csv"
    file.write_text(f'{name},"skill_1","skill_2"\n"3",1,1\n"2",1,0\n"1",0,0\n')
    named = read_profiles(file, BANK, ["1", "2", "3"])
    assert (named.levels.tolist(), named.notes) == ([[0, 0], [1, 0], [1, 1]], ())
    other = read_profiles(file, BANK, ["ann", "bob", "eve"])
    assert other.levels.tolist() == [[1, 1], [1, 0], [0, 0]]
    assert "names other examinees" in other.notes[-1]


def test_a_frame_of_known_profiles_is_compared_by_name() -> None:
    names = ["a", "b", "c"]
    found = classify(BANK, pd.DataFrame(np.eye(3, len(BANK.items)), names, BANK.item_names))
    levels = pd.DataFrame(found.profiles, names, BANK.skills)
    reversed_rows = levels.iloc[::-1].rename_axis("id").reset_index()
    assert found.agreement_with(reversed_rows).pattern_accuracy == 1.0


def test_rows_with_one_name_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "truth.csv"
    file.write_text("id,skill_1,skill_2\nann,0,0\nbob,1,0\nann,1,1\nbob,1,1\nbob,1,1\neve,0,0\n")
    with pytest.raises(TableError) as caught:
        read_profiles(file, BANK, ["ann", "bob", "eve"])
    assert caught.value.problems == (
        "expected one row for examinee 'ann', got 2",
        "expected one row for examinee 'bob', got 3",
    )
    assert read_profiles(file, BANK, ["eve"]).levels.tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("names", "text", "examinees"),
    [
        (("s", "t"), "s,t\n1,0\n", ["ann"]),  # T alone may be a truth value
        (("1", "2"), "1,2\n1,0\n", ["ann"]),
        (("1", "2"), "1,2\n1,0\n0,1\n", ["1"]),
        (("1", "2"), "id,1,2\nbob,0,1\nann,1,0\n", ["ann"]),
        (("0", "1"), "0,1\n1,0\n", ["ann"]),
        (("add", "carry"), "x,t\n1,0\n", ["ann"]),
        (("add", "carry"), "1,0\n", ["ann"]),
    ],
)
def test_names_of_skills_are_no_profile(
    names: tuple[str, str], text: str, examinees: list[str], tmp_path: Path
) -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [0, 1]], skill_names=names)
    (tmp_path / "truth.csv").write_text(text)
    assert read_profiles(tmp_path / "truth.csv", bank, examinees).levels.tolist() == [[1, 0]]


def real(name: str, gate: type[Gdina] | None = None) -> Classification:
    place = data_set(name)
    responses = Responses.from_csv(place / "responses.csv")
    q = read_qmatrix(place / "qmatrix.csv")
    found = learn(responses, q) if gate is None else learn(responses, q, gate=gate)
    return classify(found.bank, found.responses)


def test_the_profiles_of_cdcatr_are_found_again() -> None:
    found = real("cdcatr_sim180dina")
    place = data_set("cdcatr_sim180dina")
    known = read_profiles(place / "true_profiles.csv", found.bank, found.responses.examinees)
    seen = found.agreement_with(known.levels)
    assert seen.pattern_accuracy == seen.attribute_accuracy == 1.0
    assert found.reliability.accuracy > 0.999


def test_the_classification_of_dtmr_is_as_reliable_as_its_structure_allows() -> None:
    """The known profiles are in another order than the responses, so only their shares compare."""
    found = real("dtmr", Gdina)
    place = data_set("dtmr")
    known = read_profiles(place / "true_profiles.csv", found.bank, found.responses.examinees)
    assert "by position" in known.notes[-1]
    np.testing.assert_allclose(found.expected.mean(axis=0), known.levels.mean(axis=0), atol=0.06)
    assert found.reliability.accuracy == pytest.approx(0.739, abs=0.002)
    assert found.reliability.consistency == pytest.approx(0.607, abs=0.002)
