"""The distribution of the skills from which a test starts."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from bnmind.adaptive import (
    HigherOrder,
    ItemBank,
    Saturated,
    read_design,
    read_prior,
    with_prior,
)
from bnmind.adaptive.bank_files import named_prior, prior_of
from bnmind.adaptive.belief_tables import ProfileSpace
from bnmind.errors import BnmindError, InvalidModelError, ModelFileError

Q = [[1, 0], [0, 1], [1, 1]]
BANK = ItemBank.from_qmatrix(
    Q, guess=0.2, slip=0.1, skill_names=["add", "carry"], skills=Saturated([0.4, 0.3, 0.2, 0.1])
)
PROFILES = "add,carry,probability\n0,0,.1\n1,1,.6\n0,1,.3\n"


def profiles(bank: ItemBank) -> list[float]:
    """The probability of each profile."""
    return [round(p, 9) for p in ProfileSpace.table(bank).prior[0].tolist()]


def test_a_bank_of_given_parameters_starts_uniform() -> None:
    assert profiles(ItemBank.from_qmatrix(Q, skill_names=["add", "carry"])) == [0.25] * 4


def test_the_prior_is_uniform_or_that_of_the_bank_or_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prior.csv"
    path.write_text(PROFILES, encoding="utf-8")
    assert profiles(prior_of(named_prior(str(path)), BANK)) == [0.1, 0.3, 0, 0.6]
    assert profiles(with_prior(BANK, read_prior(path, BANK))) == [0.1, 0.3, 0, 0.6]
    frame = pd.read_csv(path, sep=None, engine="python")
    assert profiles(with_prior(BANK, read_prior(frame, BANK))) == [0.1, 0.3, 0, 0.6]
    other = with_prior(BANK, Saturated([0.1, 0.2, 0.3, 0.4]))
    assert profiles(with_prior(BANK, other.hidden_network())) == [0.1, 0.2, 0.3, 0.4]
    assert profiles(prior_of("bank", BANK)) == [0.4, 0.3, 0.2, 0.1]
    assert profiles(prior_of("uniform", BANK)) == [0.25] * 4
    path.write_text(PROFILES.replace("probability", "Count").replace(".", ""), encoding="utf-8")
    assert profiles(with_prior(BANK, read_prior(path, BANK))) == [0.1, 0.3, 0, 0.6]


def test_a_bank_with_an_ability_behind_its_skills_may_start_uniform() -> None:
    bank = ItemBank.from_qmatrix(Q, skill_names=["add", "carry"], skills=HigherOrder())
    assert with_prior(bank).hidden == tuple(map(with_prior(bank).variable, ("add", "carry")))
    assert profiles(with_prior(bank)) == [0.25] * 4


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("add,carry\n0,0\n", "a column probability or count"),
        ("add,probability\n0,1\n", "no column for the skill carry"),
        ("add,carry,count\n0,2,1\n", "row 1: expected a level of carry among 0, 1, got '2'"),
        ("add,carry,count\n0,1,-1\n", "row 1: expected a count of at least 0, got '-1'"),
        ("add,carry,count\n0,1,1\n0,1,2\n", "rows 1 and 2 have the same profile"),
        ("add,carry,probability\n0,1,.5\n1,1,.4\n", "must sum to 1, got 0.9"),
        ("add,carry,count\n0,1,0\n", "expected a profile with a count above 0"),
    ],
)
def test_faults_of_a_file_are_named(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "prior.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BnmindError, match=fault):
        read_prior(path, BANK)


def test_the_items_must_depend_on_skills_alone() -> None:
    bank = ItemBank.from_network(BANK.network, ["add"], ["item_1", "item_3"])
    with pytest.raises(InvalidModelError, match="items of this bank depend on carry"):
        with_prior(bank)
    with pytest.raises(InvalidModelError, match="expected uniform, bank or a file"):
        prior_of("unifrom", BANK)


def test_a_design_names_a_prior_or_its_file(tmp_path: Path) -> None:
    (tmp_path / "prior.csv").write_text(PROFILES, encoding="utf-8")
    design = tmp_path / "design.toml"
    design.write_text('prior = "prior.csv"', encoding="utf-8")
    assert profiles(read_design(design, BANK).bank) == [0.1, 0.3, 0, 0.6]
    assert '"probability": [".1"' in read_design(design, BANK).text
    with pytest.raises(ModelFileError, match="the design has a table of profiles, --prior has"):
        read_design(design, BANK, prior="uniform")
    design.write_text("", encoding="utf-8")
    assert profiles(read_design(design, BANK, prior="uniform").bank) == [0.25] * 4
    design.write_text('prior = "flat"', encoding="utf-8")
    with pytest.raises(ModelFileError, match="prior: expected uniform, bank or a file"):
        read_design(design, BANK)
