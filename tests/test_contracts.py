"""What all contract tests of `bnmind.testing` share: names, errors, and no need of pytest."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import bnmind
from bnmind import testing
from bnmind._front_door import homes
from bnmind._registry import NUMBER, Registered
from bnmind.adaptive import AIMS, ITEM_TREE_FORMATS, SELECTORS, MinimalEntropy
from bnmind.errors import BnmindError, ContractError, InvalidArgumentError, UnknownNameError
from bnmind.fitting import PRIORS
from bnmind.junction import COMPETITION_TASKS
from bnmind.lab.reproductions import REPRODUCTIONS
from bnmind.mastermind import Board
from bnmind.pgm import Threshold
from bnmind.questions import DIALOGUE_STOPPERS, QUESTION_SCORES, TARGET_MEASURES
from bnmind.strategies import Knuth
from bnmind.testing.promises import Family, Promises, fingerprint
from tests.test_imports import loaded_by

SELECTOR = Family(
    "selector", room="bnmind.adaptive", registry=SELECTORS, commands=("test", "simulate")
)
OTHERS = (
    Family("aim", room="bnmind.adaptive", registry=AIMS),
    Family("format", room="bnmind.adaptive", registry=ITEM_TREE_FORMATS, suffixes=True),
    Family("prior", room="bnmind.fitting", registry=PRIORS, commands=("fit",)),
    Family("score", room="bnmind.questions", registry=QUESTION_SCORES, commands=("ask",)),
    Family("measure", room="bnmind.questions", registry=TARGET_MEASURES, commands=("ask",)),
    Family("stopper", room="bnmind.questions", registry=DIALOGUE_STOPPERS, commands=("ask",)),
    Family("reproduction", room="bnmind.lab", registry=REPRODUCTIONS, commands=("reproduce",)),
)
CHECKS: list[Callable[..., None]] = [
    getattr(testing, name) for name in dir(testing) if name.startswith("check_")
]


@pytest.mark.parametrize("family", OTHERS, ids=lambda family: family.kind)
def test_users_find_the_names_of_other_families(family: Family) -> None:
    for name in family.registry:
        family.check_name(name)


def test_the_help_lists_the_tasks_of_competitions() -> None:
    for name, task in COMPETITION_TASKS.items():
        assert f"  {name} " in testing.promises.help_of("query")
        assert task.about


def _with(members: Mapping[str, Registered[Any]]) -> Family:
    return replace(SELECTOR, registry=MappingProxyType({**SELECTORS, **members}))


def test_a_name_that_the_help_does_not_know_is_noticed() -> None:
    SELECTOR.check_name("gdi")
    hidden = _with({"hidden": Registered("the same as entropy", MinimalEntropy)})
    with pytest.raises(ContractError, match=r"the help lists it .bnmind test --help has no hid"):
        hidden.check_name("hidden")
    other_words = replace(SELECTORS["gdi"], about="something else")
    with pytest.raises(ContractError, match="the help lists it"):
        _with({"gdi": other_words}).check_name("gdi")
    other_argument = replace(
        SELECTORS["gdi"], argument=NUMBER, given=lambda number: MinimalEntropy()
    )
    with pytest.raises(ContractError, match=r"has no gdi.:NUMBER"):
        _with({"gdi": other_argument}).check_name("gdi")


@pytest.mark.parametrize(
    ("name", "about", "promise"),
    [
        ("Upper", "words", "its name is plain"),
        ("two words", "words", "its name is plain"),
        ("mute", "", "says in a line"),
        ("lines", "one\ntwo", "says in a line"),
        ("long", "word " * 30, "at most 80 letters"),
    ],
)
def test_names_and_words_are_plain(name: str, about: str, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        _with({name: Registered(about, MinimalEntropy)}).check_name(name)


def test_a_registry_that_can_be_changed_is_noticed() -> None:
    with pytest.raises(ContractError, match="nobody can change the registry"):
        replace(SELECTOR, registry=dict(SELECTORS)).check_name("gdi")


@dataclass(frozen=True)
class Forgotten(MinimalEntropy):
    """A selector that no room exports."""


def test_a_missing_export_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    SELECTOR.check_export("entropy", MinimalEntropy())
    SELECTOR.check_export("own", Forgotten())  # of another package
    Forgotten.__module__ = "bnmind.adaptive.forgotten"
    with pytest.raises(ContractError, match=r"Forgotten is not in bnmind.adaptive.__all__"):
        SELECTOR.check_export("forgotten", Forgotten())
    shortened = [name for name in homes("bnmind.adaptive") if name != "MinimalEntropy"]
    monkeypatch.setattr(bnmind.adaptive, "__all__", shortened, raising=False)
    with pytest.raises(ContractError, match="its class is a public name of its room"):
        testing.check_selector("entropy")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: str(check.__name__))
def test_whatever_is_given_the_answer_is_plain(check: Callable[..., None]) -> None:
    for junk in (None, 3, object(), Fraction, [1], {"a": 1}):
        with pytest.raises((ContractError, InvalidArgumentError)) as caught:
            check(junk)
        assert len(str(caught.value)) < 400
    with pytest.raises(UnknownNameError):
        check("no such name")


def test_a_wrong_argument_is_the_fault_of_the_caller() -> None:
    with pytest.raises(InvalidArgumentError, match="needs a whole number"):
        testing.check_stopper("items:x")
    with pytest.raises(InvalidArgumentError, match="takes no argument"):
        testing.check_strategy("knuth:3")
    with pytest.raises(InvalidArgumentError, match=r"such as sizes=..2, 2.."):
        testing.check_functional_node(Threshold(2, ((1,), (0,))))
    with pytest.raises(ContractError, match="it is an object, not a class"):
        Promises("selector", MinimalEntropy).has("select")


def test_a_strategy_of_a_module_is_checked_by_its_path() -> None:
    testing.check_strategy("tests.test_contracts:Careful", boards=[Board(2, 3)])


class Careful(Knuth):
    """A strategy of a module of one's own."""


def test_the_front_door_opens_the_room_without_libraries_for_tests() -> None:
    assert bnmind.testing is testing
    assert not {"numpy", "pytest", "typer"} & loaded_by("import bnmind; bnmind.testing")
    texts = [path.read_text("utf-8") for path in Path(testing.__file__).parent.glob("*.py")]
    assert not re.search(r"^ *(from|import) (pytest|hypothesis)", "\n".join(texts), re.MULTILINE)
    assert issubclass(ContractError, AssertionError)
    assert issubclass(ContractError, BnmindError)


def test_promises_are_kept_or_broken_with_an_example() -> None:
    promises = Promises("selector", MinimalEntropy())
    promises.keep(True, "it is kept")
    with pytest.raises(ContractError, match=r"breaks a promise: it is kept .at noon.") as caught:
        promises.keep(False, "it is kept", "at noon")
    assert (caught.value.promise, caught.value.example) == ("it is kept", "at noon")
    works = promises.no_error("it works", "at noon")
    with pytest.raises(ContractError, match=r"it works .at noon: KeyError: 'x'"), works:
        raise KeyError("x")
    with pytest.raises(ContractError, match=r"it refuses .no error."):
        promises.refuse(lambda: None, "it refuses")
    with pytest.raises(ContractError, match=r"it refuses .KeyError instead."):
        promises.refuse(lambda: _raise(KeyError("x")), "it refuses")
    with pytest.raises(ContractError, match="it refuses with words"):
        promises.refuse(lambda: _raise(BnmindError()), "it refuses")


def _raise(error: Exception) -> None:
    raise error


def test_fingerprints_tell_contents_apart() -> None:
    a, b = [1, 2], [1, 2]
    assert fingerprint(a) == fingerprint(b)
    b.append(3)
    assert fingerprint(a) != fingerprint(b)
    one = MinimalEntropy()
    before = fingerprint(one, hidden=True)
    object.__setattr__(one, "calls", 1)
    assert fingerprint(one) == fingerprint(MinimalEntropy())
    assert fingerprint(one, hidden=True) != before
    assert fingerprint(lambda: 1)
