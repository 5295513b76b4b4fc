"""Every registered response model keeps the contract of `bnmind.testing`; wrong ones break it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from bnmind.adaptive import (
    RESPONSE_MODELS,
    Dina,
    Dino,
    ItemBank,
    Logistic,
    ParametricModel,
    ResponseModel,
    read_bank,
    write_bank,
)
from bnmind.adaptive.models import FORMER_NAMES
from bnmind.errors import ContractError
from bnmind.pgm import CPD, Factor, TabularCPD, Variable
from bnmind.testing import check_response_model


@pytest.mark.parametrize("name", RESPONSE_MODELS)
def test_a_registered_response_model_keeps_the_contract(name: str) -> None:
    check_response_model(name)


@pytest.mark.parametrize("former", FORMER_NAMES)
def test_files_may_use_former_names(former: str, tmp_path: Path) -> None:
    now = FORMER_NAMES[former]
    bank = ItemBank.from_response_models([[1]], [RESPONSE_MODELS[now].example])
    path = tmp_path / "bank.json"
    write_bank(bank, path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"kind": "{now}"', f'"kind": "{former}"'), encoding="utf-8")
    assert repr(read_bank(path).item("item_1").gate) == repr(bank.item("item_1").gate)


@dataclasses.dataclass(frozen=True)
class Harmful(Dina):
    """A skill that harms."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return a distribution in which the skilled are wrong."""
        table = np.real(super().cpd(item, parents).to_factor().values)[::-1]
        return TabularCPD(item, tuple(parents), table)


class Loose:
    """Is no dataclass, so that files cannot hold it."""

    n_responses = 2

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of DINA."""
        return Dina(0.2, 0.1).cpd(item, parents)


class _AnyTable:
    """A distribution that nobody checked."""

    def __init__(self, item: Variable, parents: tuple[Variable, ...], table: NDArray[np.float64]):
        self.variable, self.parents = item, parents
        self._factor = Factor((item, *parents), table)

    def to_factor(self) -> Factor:
        """Return the table."""
        return self._factor


@dataclasses.dataclass(frozen=True)
class TooProbable(Dina):
    """Has a row that does not sum to one, for two skills only."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return a table with one number too large."""
        table = np.real(super().cpd(item, parents).to_factor().values).copy()
        if len(parents) == 2:
            table[1, 0, 1] += 0.001
        return _AnyTable(item, tuple(parents), table)  # type: ignore[return-value]


@dataclasses.dataclass(frozen=True)
class OtherInformation(Logistic):
    """Forgets the lower asymptote in Fisher's information."""

    def fisher_information(self, abilities: ArrayLike) -> NDArray[np.float64]:
        """Return the information without guesses."""
        return Logistic(self.slope, self.difficulty).fisher_information(abilities)


@dataclasses.dataclass(frozen=True)
class Lenient(Dina):
    """Takes an item of any number of responses for one of two."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item of two responses."""
        return super().cpd(Variable.of_integers(item.name, range(2)), parents)


@dataclasses.dataclass(frozen=True)
class TwoFormulas(ParametricModel):
    """Has another table in banks than in learning."""

    guess: float = 0.2
    slip: float = 0.1
    limits = MappingProxyType({"guess": (0, 0.5), "slip": (0, 0.5)})

    def chances(self, levels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the chances of DINA, which learning uses."""
        return np.where(levels.min(axis=1) >= 1, 1 - self.slip, self.guess)

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of DINO."""
        return Dino(self.guess, self.slip).cpd(item, parents)  # type: ignore[return-value]


@dataclasses.dataclass(frozen=True)
class Half(ParametricModel):
    """Right with a higher chance given at least half of the skills."""

    guess: float = 0.2
    slip: float = 0.1
    bonus: float = 0.05
    limits = MappingProxyType({"guess": (0, 0.5), "slip": (0, 0.5), "bonus": (0, 0)})

    def chances(self, levels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the chances."""
        return np.where(levels.mean(axis=1) >= 0.5, 1 - self.slip, self.guess)


@dataclasses.dataclass(frozen=True)
class TooLikely(Half):
    """Has chances beyond one for some parameters that learning may find."""

    bonus: float = 0.05
    limits = MappingProxyType({"guess": (0, 0.5), "slip": (0, 0.5), "bonus": (0, 0.2)})

    def chances(self, levels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return chances with a bonus."""
        return super().chances(levels) + self.bonus


@dataclasses.dataclass(frozen=True)
class LosesSlip(Dina):
    """Comes back from pickle with the slip that is the default of its users."""

    def __reduce__(self) -> tuple[object, ...]:
        return (LosesSlip, (self.guess, 0.1))


@dataclasses.dataclass(frozen=True)
class ByItem(Dina):
    """Is harder for an item of a certain name."""

    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return another distribution for item_3."""
        return Dina(self.guess, self.slip + 0.1 * (item.name == "item_3")).cpd(item, parents)


@pytest.mark.parametrize(
    ("model", "promise"),
    [
        (TooLikely(), "a distribution wherever its parameters are within `limits`"),
        (LosesSlip(0.2, 0.1), "pickle restores it as it was"),
        (ByItem(0.2, 0.1), "the name of the item does not matter"),
        (Harmful(0.2, 0.1), "more skill never makes a good response less probable"),
        (Loose(), "frozen dataclass"),
        (TooProbable(0.2, 0.1), "the rows of its table sum to 1"),
        (OtherInformation(1.0, 0.0, 0.2), "Fisher information is that of its table"),
        (TwoFormulas(), "the likelihood that learning reports is that of the learned bank"),
        (Lenient(0.2, 0.1), "refuses an item with another number of responses"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_the_contract_notices_a_wrong_response_model(model: ResponseModel, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_response_model(model)


def test_a_misconception_may_harm() -> None:
    check_response_model(Harmful(0.2, 0.1), monotone=False)
