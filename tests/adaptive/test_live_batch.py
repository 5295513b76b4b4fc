"""A live test is a simulated test: for every selector and stopper that there is.

The members are found, not listed: each public class of `bnmind.adaptive` that selects or stops,
and each name that the command line knows. Their arguments are drawn by the annotations of their
parameters, so that a new member is tested as it stands; one that has a parameter of a new kind
fails until `_VALUES` says how to draw it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.adaptive.estimates as beliefs_module
from bnmind import adaptive
from bnmind._front_door import homes
from bnmind.adaptive import (
    MISSING,
    AbilityGrid,
    Blueprint,
    Bound,
    Design,
    Enemies,
    Item,
    ItemBank,
    MinimalEntropy,
    Responses,
    Rule,
    Session,
    SimulationOptions,
    SkillBelief,
    SkillsDecided,
    Testlets,
    irt_bank,
    selector_by_name,
    simulate,
    start_belief,
    stopper_by_names,
)
from bnmind.adaptive.selectors import generator_of
from bnmind.errors import BnmindError, InvalidArgumentError, InvalidModelError
from bnmind.pgm import Network, TabularCPD, Variable
from tests.banks import banks


def _members(*methods: str) -> list[type[Any]]:
    """Return the public classes that have some methods, but for abstract ones and protocols."""
    found = (getattr(adaptive, name) for name in homes("bnmind.adaptive"))
    return [
        one
        for one in found
        if inspect.isclass(one)
        and all(callable(getattr(one, method, None)) for method in methods)
        and not inspect.isabstract(one)
        and not getattr(one, "_is_protocol", False)
    ]


SELECTOR_KINDS = _members("select", "select_batch")
SCORING = [one for one in SELECTOR_KINDS if issubclass(one, adaptive.ScoringSelector)]
STOPPER_KINDS = _members("stop", "stop_batch")


def test_members_are_found() -> None:
    assert len(SELECTOR_KINDS) >= 16
    assert len(STOPPER_KINDS) >= 11


def _score(belief: SkillBelief, items: tuple[str, ...]) -> list[float]:
    """Score items by the belief, by the last answer, and by which items there are to choose."""
    answered = list(belief.responses)
    last = belief.bank.position(answered[-1]) if answered else 0
    return [
        round(float(belief.predict(name)[0]), 6) + 0.01 * ((last + place) % len(items))
        for place, name in enumerate(items)
    ]


def _stop(belief: SkillBelief, asked: tuple[str, ...]) -> str:
    """Stop at three items, or early, with words that tell what there was to see."""
    answers = list(belief.responses.items())
    early = bool(answers) and answers[-1][1] == 0 and len(answers) == 2
    return f"{asked} {answers[-1:]}" if early or len(asked) >= 3 else ""


_NUMBERS = st.sampled_from([0.25, 0.5, 0.75, 0.9, 1.0])

Draw = Callable[[st.DataObject, ItemBank, int], Any]


def _one_of(kinds: list[type[Any]]) -> Draw:
    def draw(data: st.DataObject, bank: ItemBank, depth: int) -> Any:
        kind = data.draw(st.sampled_from(kinds), label="kind")
        return _made(kind, data, bank, depth + 1)

    return draw


_VALUES: Mapping[str, Draw] = {
    "int": lambda data, bank, depth: data.draw(st.integers(1, 5)),
    "float": lambda data, bank, depth: data.draw(_NUMBERS),
    "float error": lambda data, bank, depth: data.draw(st.sampled_from([0.05, 0.25])),
    "float change": lambda data, bank, depth: data.draw(st.sampled_from([0.05, 0.25, 0.5])),
    "bool": lambda data, bank, depth: data.draw(st.booleans()),
    "tuple[str, ...] skills": lambda data, bank, depth: tuple(
        data.draw(st.lists(st.sampled_from(bank.skills), min_size=1, unique=True))
    ),
    "tuple[str, ...] order": lambda data, bank, depth: tuple(
        data.draw(st.permutations(bank.item_names))[: data.draw(st.integers(0, 4))]
    ),
    "Mapping[str, float] rates": lambda data, bank, depth: data.draw(
        st.dictionaries(st.sampled_from(bank.item_names), _NUMBERS)
    ),
    "Mapping[str, float] | None weights": lambda data, bank, depth: dict.fromkeys(
        bank.skills[:1], data.draw(_NUMBERS)
    ),
    "Mapping[str | tuple[str, ...], Annotated[ArrayLike, Finite]] | None losses": (
        lambda data, bank, depth: {bank.skills[0]: np.eye(bank.variable(bank.skills[0]).n_states)}
    ),
    "ScoringSelector": lambda data, bank, depth: _one_of(
        SCORING if depth < 2 else [adaptive.MinimalEntropy]
    )(data, bank, depth),
    "Blueprint": lambda data, bank, depth: Blueprint(length=data.draw(st.integers(1, 3))),
    "tuple[tuple[Selector, int], ...]": lambda data, bank, depth: (
        (_one_of(SCORING)(data, bank, depth), data.draw(st.integers(1, 2))),
    ),
    "Callable[[SkillBelief, tuple[str, ...]], ArrayLike]": lambda data, bank, depth: _score,
    "Callable[[SkillBelief, tuple[str, ...]], str | bool]": lambda data, bank, depth: _stop,
}
"""How to draw a value of a parameter: by its annotation, or annotation and name."""


def _without_ranges(annotation: str) -> str:
    """Return an annotation without ranges: ``float`` for ``Annotated[float, Gt(0)]``."""
    annotation = re.sub(r"\b(Count|Natural)\b", "int", annotation)
    annotation = re.sub(r"\b(Positive|NonNegative|Probability|_Error)\b", "float", annotation)
    range_ = r", (?:\w+\([\d.]+\)|Finite|Distinct)"
    return re.sub(rf"Annotated\[(.+?)(?:{range_})+\]", r"\1", annotation)


def _made(kind: type[Any], data: st.DataObject, bank: ItemBank, depth: int = 0) -> Any:
    """Return an instance of a class, with arguments drawn."""
    several, arguments = (), {}
    for name, parameter in inspect.signature(kind).parameters.items():
        annotation = _without_ranges(str(parameter.annotation))
        draw = _VALUES.get(f"{annotation} {name}") or _VALUES.get(annotation)
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            assert draw, f"say in _VALUES how to draw {name}: {annotation} of {kind.__name__}"
            several = draw(data, bank, depth)
        elif parameter.default is inspect.Parameter.empty:
            assert draw, f"say in _VALUES how to draw {name}: {annotation} of {kind.__name__}"
            arguments[name] = draw(data, bank, depth)
        elif draw and name != "tolerance" and data.draw(st.booleans(), label=name):
            arguments[name] = draw(data, bank, depth)
    return kind(*several, **arguments)


_CODED = [Item(f"i{n}", content="xyz"[n % 3], cost=0.1 * (1 + n % 2), time=0.3) for n in range(6)]
_CODED[1] = Item("i1", content="y", testlet="t")
_CODED[4] = Item("i4", content="y", testlet="t", enemies=("i2",))
_NEEDS = [[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 1]]
_BANKS = {
    "equal items": ItemBank.from_qmatrix(_NEEDS, guess=0.25, slip=0.25, items=_CODED),
    "unequal items": ItemBank.from_qmatrix(
        _NEEDS, guess=[0.05, 0.1, 0.15, 0.2, 0.25, 0.3], slip=0.1, items=_CODED
    ),
    "zeros": ItemBank.from_qmatrix(
        _NEEDS, guess=[0, 0, 0.2, 0, 0.1, 0], slip=[0, 0.1, 0, 0, 0, 0], items=_CODED
    ),
    "ability": irt_bank(
        [[1.0, -1], [1.4, 0], [0.7, 0], [1.0, 1], [2.0, 0.5]],
        AbilityGrid.normal(n_points=9),
    ),
}


@dataclass(frozen=True, eq=False)
class _DesignOfExaminee(Design):
    """A design with the luck of an examinee of a simulation."""

    number: int = 0

    def rng(self, step: int) -> np.random.Generator:
        if self.number:
            return generator_of(self.seed, step, examinee=self.number)
        return super().rng(step)  # a live test draws as the first examinee


Outcome = tuple[tuple[str, ...], str, tuple[str, ...], bool]
"""Items asked, in order; the reason to stop; items set aside; whether answers were impossible."""


def _live(design: Design, responses: list[int]) -> Outcome:
    session = Session.start(design, belief=start_belief(design.bank))
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, responses[design.bank.position(item)])
    aside = tuple(sorted(session.state.set_aside))
    return (session.state.asked, session.stop_reason, aside, session.impossible)


def _simulated(
    bank: ItemBank, people: Responses, selector: Any, stopper: Any, rules: Any
) -> list[Outcome]:
    run = simulate(
        bank, people, {"x": selector}, stopper, options=SimulationOptions(rules=rules, seed=7)
    ).runs[0]
    names = np.array(bank.item_names, dtype=object)
    return [
        (
            tuple(names[run.asked[row][run.asked[row] != MISSING]]),
            str(run.reasons[row]),
            tuple(sorted(names[run.set_aside[row]])),
            bool(run.impossible[row]),
        )
        for row in range(len(people))
    ]


def _fault(act: Callable[[], Any]) -> tuple[Any, type[BnmindError] | None]:
    try:
        return act(), None
    except BnmindError as fault:
        return None, type(fault)


def _compare(
    data: st.DataObject,
    bank: ItemBank,
    make_selector: Callable[[ItemBank], Any],
    make_stopper: Callable[[ItemBank], Any],
) -> bool:
    """Compare tests of a few examinees; return whether selector and stopper fit the bank."""
    selector, stopper = make_selector(bank), make_stopper(bank)
    rules: tuple[Rule, ...] = (Enemies(), Testlets())
    if bank.items[0].content and data.draw(st.booleans(), label="balance"):
        bounds = (Bound(1, code="x"), Bound(0, 2, code="y"), Bound(2, code="z"))
        with suppress(InvalidArgumentError):  # some stoppers end tests before these minima
            rules = Design(
                bank, selector, stopper, (Enemies(), Blueprint(bounds), Testlets())
            ).rules
    rng = np.random.default_rng(data.draw(st.integers(0, 999), label="answers"))
    widths = [len(bank.responses(name)) for name in bank.item_names]
    answers = rng.integers(0, widths, (3, len(widths)))
    people = Responses.of(answers, items=bank.item_names)
    designs = [_DesignOfExaminee(bank, selector, stopper, rules, row, seed=7) for row in range(3)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beliefs_module, "TABLE_PROFILES", data.draw(st.sampled_from([0, 2**16])))
        expected, fault = _fault(
            lambda: [
                _live(design, row.tolist()) for design, row in zip(designs, answers, strict=True)
            ]
        )
        found, other = _fault(lambda: _simulated(bank, people, selector, stopper, rules))
    assert other is fault, (selector, stopper)
    assert found == expected, (selector, stopper)
    return fault is None


def _check(
    make_selector: Callable[[st.DataObject, ItemBank], Any],
    make_stopper: Callable[[st.DataObject, ItemBank], Any],
) -> None:
    """Compare tests with every bank, and see that the members fit one of them."""
    compared = 0

    def check(data: st.DataObject, bank: ItemBank) -> None:
        nonlocal compared
        compared += _compare(
            data,
            bank,
            lambda bank: make_selector(data, bank),
            lambda bank: make_stopper(data, bank),
        )

    few = settings(max_examples=max(2, settings().max_examples // 40), deadline=None)
    for drawn in (*map(st.just, _BANKS.values()), banks(max_skills=2)):
        few(given(st.data(), drawn)(check))()
    assert compared


def _any_stopper(data: st.DataObject, bank: ItemBank) -> Any:
    return _one_of(STOPPER_KINDS)(data, bank, 0)


def _any_selector(data: st.DataObject, bank: ItemBank) -> Any:
    return _one_of(SELECTOR_KINDS)(data, bank, 0)


@pytest.mark.parametrize("kind", SELECTOR_KINDS, ids=lambda kind: kind.__name__)
def test_a_selector_asks_live_what_it_asks_in_a_simulation(kind: type[Any]) -> None:
    _check(lambda data, bank: _made(kind, data, bank), _any_stopper)


@pytest.mark.parametrize("kind", STOPPER_KINDS, ids=lambda kind: kind.__name__)
def test_a_stopper_ends_a_live_test_where_it_ends_a_simulated_one(kind: type[Any]) -> None:
    _check(_any_selector, lambda data, bank: _made(kind, data, bank))


def test_so_do_joined_stoppers() -> None:
    def make(data: st.DataObject, bank: ItemBank) -> Any:
        first, second = _any_stopper(data, bank), _any_stopper(data, bank)
        return first | second if data.draw(st.booleans()) else first & second

    _check(_any_selector, make)


@pytest.mark.parametrize("name", adaptive.SELECTORS)
def test_so_does_each_selector_of_the_command_line(name: str) -> None:
    needed = ":3" if name in ("a-stratified", "progressive") else ""
    _check(lambda data, bank: selector_by_name(name + needed), _any_stopper)


@pytest.mark.parametrize("name", adaptive.STOPPERS)
def test_so_does_each_stopper_of_the_command_line(name: str) -> None:
    small = st.sampled_from([0.05, 0.25])
    numbers = {"items": st.integers(1, 4), "plateau": small, "sprt": small}.get(name, _NUMBERS)

    def make(data: st.DataObject, bank: ItemBank) -> Any:
        return stopper_by_names([f"{name}:{data.draw(numbers)}", "items:4"])

    _check(_any_selector, make)


def test_a_skill_that_cannot_be_decided_is_named_though_another_is_undecided() -> None:
    first, second = Variable("first", ("0", "1")), Variable("second", ("0", "1", "2"))
    network = Network(
        (
            TabularCPD(first, (), np.array([0.5, 0.5])),
            TabularCPD(second, (), np.array([0.5, 0.3, 0.2])),
            TabularCPD(Variable("a", ("0", "1")), (first,), np.array([[0.8, 0.2], [0.2, 0.8]])),
            TabularCPD(
                Variable("b", ("0", "1")), (second,), np.array([[0.8, 0.5, 0.2], [0.2, 0.5, 0.8]])
            ),
        )
    )
    bank = ItemBank.from_network(network, skills=["first", "second"], items=["a", "b"])
    design = Design(bank, MinimalEntropy(), SkillsDecided(skills=("first", "second")))
    with pytest.raises(InvalidModelError, match="two levels of second"):
        _ = Session.start(design).stop_reason
