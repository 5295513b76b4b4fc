"""Constraints on whole tests: the twin tries all tests, and minima hold whatever happens."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from bnmind.adaptive import (
    MISSING,
    Blueprint,
    Bound,
    ContentOrder,
    Design,
    Enemies,
    EntropyBelow,
    FixedOrder,
    Item,
    ItemBank,
    MaximalCost,
    MaximalItems,
    MinimalEntropy,
    ProfileCertain,
    RandomItem,
    Responses,
    Rule,
    Selector,
    Session,
    ShadowTest,
    SimulationOptions,
    SkillEntropy,
    SkillsCertain,
    Staged,
    StageItems,
    StopBy,
    Stopper,
    SympsonHetter,
    Testlets,
    simulate,
    simulate_designs,
    start_belief,
)
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.testing import check_selector
from bnmind.testing.adaptive import standard_banks

AT_ONCE = StopBy(lambda belief, asked: True, "it is enough")


def bank_of(
    needs: list[list[int]], codes: str, testlets: str = "", enemies: tuple[str, ...] = ()
) -> ItemBank:
    """Return a bank of items a, b, c…; of enemies such as ``"ab"`` the first names the second."""
    names = "abcdefghijklmnop"[: len(needs)]
    items = [
        Item(
            name,
            content=code,
            testlet=testlet.strip(),
            enemies=tuple(pair[1] for pair in enemies if pair[0] == name),
        )
        for name, code, testlet in zip(names, codes, testlets or " " * len(names), strict=True)
    ]
    guess = np.linspace(0.05, 0.3, len(needs))
    return ItemBank.from_qmatrix(needs, guess=guess, slip=0.1, items=items)


def is_complete(bank: ItemBank, bounds: tuple[Bound, ...], length: int, items: set[int]) -> bool:
    """Return whether a set of items is a test that meets all constraints."""
    names = {bank.item_names[i] for i in items}
    return (
        len(items) <= length
        and all(
            bound.least
            <= sum(bool(bound.members(bank)[i]) for i in items)
            <= (len(bank.items) if bound.most is None else bound.most)
            for bound in bounds
        )
        and not any(bank.enemies(name) & names for name in names)
    )


def possible_by_trying(
    bank: ItemBank, blueprint: Blueprint, asked: list[int], open_items: list[int]
) -> set[int]:
    """Return the open items that some complete test holds, by trying all tests."""
    found: set[int] = set()
    testlet = [item.testlet for item in bank.items]
    begun = testlet[asked[-1]] if asked else ""
    length = len(bank.items) if blueprint.length is None else blueprint.length
    for size in range(len(open_items) + 1):
        for more in combinations(open_items, size):
            chosen = set(more)
            whole = all(
                len({j for j in open_items if testlet[j] == testlet[i]} - chosen) == 0
                for i in chosen
                if testlet[i]
            )
            goes_on = not begun or {j for j in open_items if testlet[j] == begun} <= chosen
            if whole and goes_on and is_complete(bank, blueprint.bounds, length, {*asked, *more}):
                found |= chosen
    return found


@st.composite
def cases(draw: st.DrawFn) -> tuple[ItemBank, Blueprint]:
    """Draw a bank of a few items and a blueprint of a few bounds."""
    n = draw(st.integers(4, 8))
    rows = draw(st.lists(st.sampled_from([[1, 0], [0, 1], [1, 1]]), min_size=n, max_size=n))
    rows[0] = [1, 1]
    codes = "".join(draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)))
    testlets = "".join(draw(st.lists(st.sampled_from("   st"), min_size=n, max_size=n)))
    names = "abcdefgh"[:n]
    pairs = draw(st.lists(st.tuples(*[st.sampled_from(names)] * 2), max_size=3))
    enemies = tuple(
        a + b
        for a, b in pairs
        if a != b and not testlets[names.index(a)].strip() and not testlets[names.index(b)].strip()
    )
    bank = bank_of(rows, codes, testlets, enemies)
    bounds: list[Bound] = []
    for code in sorted(set(codes)):
        if draw(st.booleans()):
            least = draw(st.integers(0, 2))
            most = draw(st.none() | st.integers(least, 3))
            bounds.append(Bound(least, most, code=code))
    for skill in bank.skills:
        if draw(st.booleans()):
            bounds.append(Bound(draw(st.integers(0, 3)), skill=skill))
    if draw(st.booleans()):
        some = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=4, unique=True)))
        bounds.append(Bound(draw(st.integers(0, 1)), draw(st.none() | st.just(1)), items=some))
    return bank, Blueprint(tuple(bounds), draw(st.none() | st.integers(1, n)))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_an_item_is_allowed_if_some_complete_test_holds_it(
    case: tuple[ItemBank, Blueprint],
) -> None:
    bank, blueprint = case
    asked: list[int] = []
    every = list(range(len(bank.items)))
    expected = possible_by_trying(bank, blueprint, [], every)
    feasible = is_complete(bank, blueprint.bounds, len(every), set()) or bool(expected)
    assert (blueprint.faults(bank) == ()) == feasible
    while feasible and expected:
        sequence = np.array([asked], dtype=np.intp).reshape(1, -1)
        allowed = np.zeros((1, len(every)), dtype=bool)
        open_items = [
            i
            for i in every
            if i not in asked
            and not any(bank.item_names[j] in bank.enemies(bank.item_names[i]) for j in asked)
        ]
        allowed[0, open_items] = True
        expected = possible_by_trying(bank, blueprint, asked, open_items)
        found = set(np.flatnonzero(blueprint.restrict(bank, sequence, allowed)[0]).tolist())
        complete = is_complete(bank, blueprint.bounds, blueprint.length or len(every), set(asked))
        assert found == expected or (complete and not expected)
        testlet = bank.items[asked[-1]].testlet if asked else ""
        stays = {i for i in expected if testlet and bank.items[i].testlet == testlet}
        if expected:
            asked.append(sorted(stays or expected)[len(asked) % len(stays or expected)])


def ended(design: Design, answers: np.ndarray) -> Session:
    session = Session.start(design)
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, int(answers[design.bank.position(item)]))
    return session


@settings(max_examples=40, deadline=None)
@given(cases(), st.integers(0, 99), st.data())
def test_minima_hold_under_any_stop_and_live_and_simulated_tests_agree(
    case: tuple[ItemBank, Blueprint], seed: int, data: st.DataObject
) -> None:
    bank, blueprint = case
    stoppers: list[Stopper] = [
        AT_ONCE,
        SkillsCertain(0.7),
        ProfileCertain(0.4),
        EntropyBelow(1.2),
        MaximalCost(1.0),
        StopBy(lambda belief, asked: len(asked) >= 1, "one"),
        (MaximalItems(1) | AT_ONCE) if blueprint.length is None else AT_ONCE,
    ]
    stopper = data.draw(st.sampled_from(stoppers))
    selectors: list[Selector] = [MinimalEntropy(), FixedOrder(), RandomItem()]
    if blueprint.length is not None:
        selectors.append(ShadowTest(SkillEntropy(), blueprint))
    selector = data.draw(st.sampled_from(selectors))
    rules: tuple[Rule, ...] = (Enemies(), blueprint, Testlets())
    try:
        design = Design(bank, selector, stopper, rules, seed=seed)
    except InvalidArgumentError:
        reject()
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, 2, (3, len(bank.items)))
    run = simulate_designs({"x": design}, Responses.of(answers, items=bank.item_names)).runs[0]
    session = ended(design, answers[0])
    names = [bank.item_names[i] for i in run.asked[0] if i != MISSING]
    assert names == list(session.state.asked)
    assert run.reasons[0] == session.stop_reason
    fitted = next(rule for rule in design.rules if isinstance(rule, Blueprint))
    for row in run.asked:
        items = {i for i in row.tolist() if i != MISSING}
        assert is_complete(bank, fitted.bounds, fitted.length or len(bank.items), items)
        # Testlets are whole, and not interrupted.
        order = [bank.items[i].testlet for i in row.tolist() if i != MISSING]
        for name in set(order) - {""}:
            first = order.index(name)
            size = sum(item.testlet == name for item in bank.items)
            assert order[first : first + size] == [name] * size


@pytest.mark.parametrize(
    ("bounds", "stopper", "words"),
    [
        ((Bound(3, skill="skill_2"),), None, "skill skill_2: 3 items are demanded, the bank has 2"),
        (
            (Bound(2, code="x"), Bound(2, code="y")),
            MaximalItems(3),
            "need 4 items together, the test has at most 3",
        ),
        (
            (Bound(2, code="x"), Bound(2, code="y")),
            AT_ONCE | MaximalItems(3),
            "need 4 items together, the test has at most 3",
        ),
        (
            (Bound(3, code="x"), Bound(0, 2, skill="skill_1")),
            None,
            "content code x: at least 3 items are demanded, and enemies, testlets and the other"
            " bounds allow 2",
        ),
        ((Bound(2, items=("a", "b")),), None, "items a, b: at least 2 .* allow 1"),
    ],
)
def test_a_design_that_no_test_meets_is_refused_with_the_reason(
    bounds: tuple[Bound, ...], stopper: Stopper | None, words: str
) -> None:
    bank = bank_of([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]], "xxxyy", enemies=("ab",))
    with pytest.raises(InvalidArgumentError, match=words) as caught:
        Design(bank, stopper=stopper, rules=(Enemies(), Blueprint(bounds)))
    assert len(caught.value.problems) == 1
    if stopper is not None:
        people, options = Responses.drawn(bank, 1), SimulationOptions(rules=(Blueprint(bounds),))
        with pytest.raises(InvalidArgumentError, match=words):
            simulate(bank, people, {"x": FixedOrder()}, stopper, options=options)


def test_bounds_are_checked() -> None:
    for least, most in ((-1, None), (0, -1)):
        with pytest.raises(InvalidArgumentError, match="at least 0"):
            Bound(least, most, code="x")
    groups: list[dict[str, Any]] = [{}, {"code": "x", "skill": "s"}]
    for group in groups:
        with pytest.raises(InvalidArgumentError, match="only for one of them"):
            Bound(1, **group)
    with pytest.raises(InvalidArgumentError, match=r"items a: the least .*, 2, is above the larg"):
        Bound(2, 1, items=("a",))
    with pytest.raises(InvalidArgumentError, match="length"):
        Blueprint((), 0)
    # Enemies that only a rule names count, too.
    four = bank_of([[1, 0], [0, 1], [1, 1], [1, 0]], "xxyy")
    rules = (Enemies((("a", "b"),)), Blueprint((Bound(2, code="x"),)))
    with pytest.raises(InvalidArgumentError, match=r"content code x: at least 2 .* allow 1"):
        Design(four, rules=rules)
    bank = bank_of([[1, 0], [0, 1]], "xy")
    for bound in (Bound(1, code="z"), Bound(1, skill="skill_3"), Bound(1, items=("q",))):
        with pytest.raises(UnknownNameError):
            Design(bank, rules=(Blueprint((bound,)),))


def test_what_exposure_control_withholds_is_not_waited_for() -> None:
    bank = bank_of([[1, 0], [1, 0], [0, 1], [0, 1]], "xxyy")
    control = SympsonHetter(FixedOrder(("c", "d")), {"c": 0.0, "d": 0.0})
    rules = (Blueprint((Bound(1, code="y"),)),)
    session = ended(Design(bank, control, MaximalItems(3), rules), np.ones(4, dtype=int))
    assert session.state.set_aside == ("c", "d")
    assert session.state.asked == ("a", "b")
    assert session.stop_reason == "no item is left that may be asked"


def shadow_by_trying(
    bank: ItemBank, blueprint: Blueprint, asked: list[int], scores: np.ndarray
) -> float:
    """Return the largest sum of scores of a complete test of full length, by trying all."""
    length = blueprint.length or 0
    rest = [i for i in range(len(bank.items)) if i not in asked]
    values = [
        float(scores[list(more)].sum())
        for more in combinations(rest, length - len(asked))
        if is_complete(bank, blueprint.bounds, length, {*asked, *more})
    ]
    return max(values, default=-np.inf)


@pytest.mark.parametrize("seed", range(4))
def test_the_item_of_a_shadow_test_is_in_the_best_complete_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    needs = rng.integers(0, 2, (10, 2))
    needs[~needs.any(axis=1), 0] = 1
    needs[0] = 1
    bank = bank_of(needs.tolist(), "xxxxyyyzzz", enemies=("ae", "bf", "ab"))
    blueprint = Blueprint((Bound(2, code="y"), Bound(0, 1, code="x"), Bound(2, skill="skill_2")), 5)
    design = Design(
        bank,
        ShadowTest(MinimalEntropy(), blueprint),
        MaximalItems(5),
        (Enemies(), blueprint, Testlets()),
    )
    session = Session.start(design)
    while not session.stop_reason:
        asked = [bank.position(name) for name in session.state.asked]
        scores = np.asarray(session.belief.information())
        item = session.next_item()
        place = bank.position(item)
        best = shadow_by_trying(bank, blueprint, asked, scores)
        with_item = scores[place] + shadow_by_trying(bank, blueprint, [*asked, place], scores)
        assert with_item == pytest.approx(best, abs=1e-9)
        session = session.answer(item, int(rng.integers(2)))
    assert len(session.state.asked) == 5


def test_shadow_tests_keep_the_contract_of_selectors() -> None:
    shadow = ShadowTest(MinimalEntropy(), Blueprint((Bound(2, skill="skill_1"),), 4))
    for selector in (shadow, Staged(((RandomItem(), 1), (shadow, 2)))):
        check_selector(selector, banks=standard_banks()[:2])
    with pytest.raises(InvalidArgumentError, match="length"):
        ShadowTest(MinimalEntropy(), Blueprint())


def test_a_shadow_test_keeps_what_a_greedy_test_cannot_afford() -> None:
    """Greedy takes the best item of code x, then must take two poor ones; a shadow test knows."""
    bank = bank_of([[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]], "xxyyy")
    blueprint = Blueprint((Bound(2, code="y"),), 3)
    belief = start_belief(bank)
    found = ShadowTest(MinimalEntropy(), blueprint).select(belief, bank.item_names)
    assert found.item == "a"
    assert found.items == bank.item_names
    assert found.scores.shape == (5,)


def test_a_shadow_test_counts_on_items_that_come_later() -> None:
    """Only one item of y may be asked now, but the test needs both that are left to come."""
    bank = bank_of([[1, 0], [1, 0], [0, 1], [0, 1]], "xxyy")
    shadow = ShadowTest(MinimalEntropy(), Blueprint((Bound(2, code="y"),), 2))
    belief = start_belief(bank)
    assert MinimalEntropy().select(belief, ["a", "b", "d"]).item == "a"
    assert shadow.select(belief, ["a", "b", "d"]).item == "d"


def test_a_test_that_is_longer_than_its_blueprint_has_no_next_item() -> None:
    bank = bank_of([[1, 1]] * 5, "xxxxx")
    allowed = np.array([[False, False, False, True, True]])
    for length, may in ((2, False), (3, False), (4, True)):
        rule = Blueprint((), length)
        found = rule.restrict(bank, np.array([[0, 1, 2]]), allowed)
        assert found.tolist() == [[False, False, False, may, may]]


def test_the_start_of_a_test_has_its_own_items_and_selectors() -> None:
    bank = bank_of([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1]], "xxyyz")
    rules = (Enemies(), ContentOrder(("d", "a")), StageItems(("b", "c"), 3, 4))
    design = Design(bank, Staged(((RandomItem(), 3),)), MaximalItems(4), rules)
    session = ended(design, np.ones(5, dtype=int))
    assert session.state.asked[:2] == ("d", "a")
    assert set(session.state.asked[2:]) == {"b", "c"}
    # Items that are enemies of an earlier one are left out.
    design = Design(bank, rules=(Enemies((("d", "a"),)), ContentOrder(("d", "a", "b"))))
    assert design.allowed(["d"]) == ("b",)
    for wrong in (
        lambda: ContentOrder(("a", "a")),
        lambda: StageItems(("a",), 2, 1),
        lambda: Staged(((RandomItem(), 0),)),
        lambda: ContentOrder(()),
    ):
        with pytest.raises(InvalidArgumentError):
            wrong()


def test_content_comes_in_its_order() -> None:
    bank = bank_of([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1], [1, 0]], "xyzxyz")
    bounds = (Bound(1, 1, code="z"), Bound(1, code="x"), Bound(1, 2, code="y"))
    order = ContentOrder((Bound(code="z"), Bound(code="y"), Bound(code="x")))
    design = Design(
        bank, MinimalEntropy(), MaximalItems(5), (Enemies(), Blueprint(bounds), Testlets(), order)
    )
    session = ended(design, np.ones(6, dtype=int))
    assert "".join(bank.item(name).content for name in session.state.asked) == "zyyxx"
    # A stop at once leaves one of each, in the same order.
    short = Design(bank, stopper=AT_ONCE, rules=design.rules)
    assert (
        "".join(bank.item(name).content for name in ended(short, np.ones(6, dtype=int)).state.asked)
        == "zyx"
    )


def test_a_skipped_item_counts_for_the_length_and_the_minima() -> None:
    bank = bank_of([[1, 0], [1, 0], [0, 1], [0, 1]], "xxyy")
    rules = (Enemies(), Blueprint((Bound(2, code="y"),)), Testlets())
    session = Session.start(Design(bank, FixedOrder(), MaximalItems(3), rules)).skip("a")
    assert session.allowed == ("c", "d")
    session = session.skip("c").answer("d", 1)
    assert session.stop_reason == "3 items were asked"
    assert Counter(bank.item(n).content for n in session.state.asked) == {"x": 1, "y": 2}
