"""Design files: one TOML file for live tests, simulations and saved sessions, and their faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    MISSING,
    SELECTORS,
    STOPPERS,
    AStratified,
    Blueprint,
    Bound,
    ContentOrder,
    Design,
    Item,
    ItemBank,
    Logistic,
    MaximalItems,
    Progressive,
    Randomesque,
    Responses,
    Session,
    ShadowTest,
    SimulationOptions,
    Staged,
    StageItems,
    SympsonHetter,
    Testlets,
    calibrated,
    irt_bank,
    read_bank,
    read_design,
    simulate_designs,
)
from bnmind.adaptive.design import design_from, with_options
from bnmind.adaptive.selectors import LENGTH
from bnmind.errors import ModelFileError

ROOT = Path(__file__).parents[2]
BANK = read_bank(ROOT / "models/banks/fractions.json")
FILE = ROOT / "models/designs/fractions.toml"
CURVES = irt_bank([Logistic(1.0 + n / 10, n / 4 - 1) for n in range(9)])


def design(**content: Any) -> Design:
    return design_from(content, BANK)


def faults(content: Mapping[str, Any], bank: ItemBank = BANK) -> str:
    with pytest.raises(ModelFileError) as caught:
        design_from(content, bank)
    return "; ".join(caught.value.problems)


def test_the_example_tests_alike_live_and_simulated() -> None:
    made = read_design(FILE, BANK)
    answers = np.random.default_rng(1).integers(0, 2, (20, len(BANK.items)))
    run = simulate_designs({"x": made}, Responses.of(answers, items=BANK.item_names)).runs[0]
    session = Session.start(made)
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, int(answers[0, BANK.position(item)]))
    names = [BANK.item_names[i] for i in run.asked[0] if i != MISSING]
    assert names == list(session.state.asked)
    assert run.reasons[0] == session.stop_reason
    for row in run.asked:
        names = [BANK.item_names[i] for i in row if i != MISSING]
        codes = [BANK.item(name).content for name in names]
        assert names[0] == "multiply_half"
        assert codes[1] == "sums"
        assert len(names) <= 8
        assert all(codes.count(code) >= 2 for code in ("sums", "products", "forms"))
        assert not {"add_fifths", "add_ninths"} <= set(names)
        if "cancel_eighths" in names or "cancel_fifteenths" in names:
            places = [names.index(n) for n in ("cancel_eighths", "cancel_fifteenths")]
            assert abs(places[0] - places[1]) == 1
        for skill in ("denominator", "canceling"):
            column = BANK.q_matrix[:, BANK.skills.index(skill)]
            assert sum(bool(column[BANK.position(name)]) for name in names) >= 2
    assert made.report.answers is False
    assert (made.report.during, made.report.examinee) == (False, True)
    shown = design(report={"during": True, "examinee": False}).report
    assert (shown.during, shown.examinee) == (True, False)
    assert made.bank.title == "Fractions, eight items"


def test_an_empty_design_is_the_default_design() -> None:
    made = design()
    assert type(made.selector) is type(Design(BANK).selector)
    assert made.rules == Design(BANK).rules
    assert made.stopper is None


def test_each_key_makes_its_part() -> None:
    stop = ["items:6"]
    assert isinstance(design(select={"by": "progressive"}, stop=stop).selector, Progressive)
    made = design(exposure=[{"method": "progressive", "b": 1.5}], stop=stop).selector
    assert made == Progressive(6, acceleration=1.5)
    made = design(exposure=[{"method": "randomesque", "best": 3}], select={"by": "gdi"}).selector
    assert isinstance(made, Randomesque)
    assert made.best == 3
    rates = {"add_same": 0.5}
    made = design(exposure=[{"method": "sympson-hetter", "rates": rates}]).selector
    assert isinstance(made, SympsonHetter)
    assert made.rates == rates
    shadow = design(
        select={"by": "skills", "shadow": True}, content={"codes": {"sums": 2}}, stop="items:6"
    )
    assert isinstance(shadow.selector, ShadowTest)
    assert shadow.selector.blueprint == Blueprint((Bound(2, 2, code="sums"),), 6)
    assert shadow.selector.blueprint in shadow.rules
    order = design(order={"codes": ["forms", "sums"]}).rules[-1]
    assert order == ContentOrder((Bound(code="forms"), Bound(code="sums")))
    assert design(order={"items": ["add_cancel", "add_same"]}).allowed([]) == ("add_cancel",)
    testlet = design(testlet=[{"items": ["add_same", "multiply_third"], "in_order": True}])
    assert Testlets(ordered=("testlet 1",)) in testlet.rules
    assert "multiply_third" not in testlet.allowed([])
    assert testlet.allowed(["add_same"]) == ("multiply_third",)
    groups = {"groups": [{"name": "hard", "items": ["add_ninths", "add_fifths"], "max": 1}]}
    assert "add_fifths" not in design(content=groups).allowed(["add_ninths"])
    starts = [{"number": 2, "skills": ["canceling"]}, {"number": 1, "select": "random"}]
    made_start = design(start=starts)
    stage = next(rule for rule in made_start.rules if isinstance(rule, StageItems))
    assert (stage.first, stage.last) == (1, 2)
    assert isinstance(made_start.selector, Staged)
    assert set(made_start.allowed([])) == {
        name
        for name, needs in zip(BANK.item_names, BANK.q_matrix, strict=True)
        if needs[BANK.skills.index("canceling")]
    }
    one = design(exposure={"method": "randomesque"}, enemies={"items": ["add_same", "add_halves"]})
    assert "add_halves" not in one.allowed(["add_same"])
    curves = irt_bank([Logistic(1.0 + n / 10, n / 5 - 1) for n in range(10)])
    content = {"select": {"by": "a-stratified"}, "stop": ["items:6+deviation:0.4", "items:8"]}
    assert design_from(content, curves).selector == AStratified(8)
    assert design_from({"select": {"by": "mepv"}, "stop": "cut:0.3"}, curves).stopper is not None


def test_all_faults_are_reported_with_their_places() -> None:
    told = faults(
        {
            "selekt": {"by": "gdi"},
            "select": {"by": "entropy", "shado": True},
            "stop": {"any": 3},
            "content": {"codes": {"sums": {"min": "two"}}},
            "testlet": [{"items": ["add_same"]}],
        }
    )
    for words in (
        "unknown key selekt, did you mean select?",
        "[select]: unknown key shado, did you mean shadow?",
        "stop.any: expected a list",
        "content.codes.sums.min: expected a whole number",
        "testlet 1.items: expected at least 2",
    ):
        assert words.split(", did")[0].split("unknown key")[-1].strip() in told, (words, told)
    told = faults(
        {
            "select": {"by": "entrpy"},
            "stop": ["item:3"],
            "content": {"codes": {"sum": 1}, "skills": {"adding": 1}},
            "start": [{"ask": ["add_sam"]}, {"number": 2}, {"select": "random"}],
            "enemies": [{"items": ["add_same", "nothing"]}],
            "report": {"skills": ["reading"]},
            "exposure": [{"method": "randomesque", "b": 1}, {"method": "eligibility"}],
        }
    )
    for words in (
        "select.by: ",
        "did you mean entropy",
        "stop: ",
        "content.codes: ",
        "content.skills: ",
        "start 1.ask: ",
        "did you mean add_same",
        "start 2: expected select, items, codes or skills",
        "start 3: expected ask, or the number",
        "enemies 1.items: ",
        "report.skills: ",
        "exposure 1: randomesque has no key b",
        "exposure 2: r_max is missing",
    ):
        assert words in told, (words, told)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {"content": {"codes": {"sums": 9}}},
            "content: content code sums: 9 items are demanded, the bank has 5",
        ),
        (
            {"content": {"skills": {"canceling": {"min": 2}}}, "stop": "items:1"},
            "content: the minima need 2 items together, the test has at most 1",
        ),
        (
            {
                "start": [{"ask": ["add_same", "add_halves"]}],
                "content": {"codes": {"sums": 1}},
            },
            "start: with these items first, content code sums: the first items are 2, the largest"
            " number is 1",
        ),
        (
            {"testlet": [{"items": ["add_same", "add_halves"]}] * 2},
            "testlet 2.items: 'add_same' is in 'testlet 1' already",
        ),
        (
            {
                "testlet": [{"items": ["add_same", "add_halves"], "name": "t"}],
                "enemies": [{"items": ["add_same", "add_halves"]}],
            },
            "enemies 1.items: items of 't' stay together, so they cannot be enemies",
        ),
        (
            {"exposure": [{"method": "progressive"}], "stop": "certainty:0.9"},
            "exposure 1: the progressive method needs the length of the test",
        ),
        (
            {"select": {"by": "random", "shadow": True}, "stop": "items:3"},
            "select.shadow: a shadow test needs a selector that scores items",
        ),
        (
            {"select": {"shadow": True}, "exposure": [{"method": "randomesque"}]},
            "select.shadow: a shadow test asks its best item",
        ),
        (
            {"content": {"codes": {"sums": {"min": 3, "max": 2}}}},
            "content.codes: content code sums: the least number of items, 3, is above",
        ),
    ],
)
def test_a_design_that_cannot_be_is_refused_with_the_reason(
    content: dict[str, Any], words: str
) -> None:
    assert words in faults(content)


def test_options_add_what_a_file_leaves_open_and_contradict_nothing() -> None:
    content = {"select": {"by": "gdi"}, "stop": "items:5", "seed": 1}
    assert with_options(content, selector="gdi", stop=["items:5"], seed=1) is not content
    assert with_options({}, selector="kl", stop=["items:3"], seed=4) == {
        "select": {"by": "kl"},
        "stop": {"any": ["items:3"]},
        "seed": 4,
    }
    with pytest.raises(ModelFileError) as caught:
        with_options(content, selector="kl", stop=["items:6"], seed=2)
    assert len(caught.value.problems) == 4
    assert "leave out the option" in str(caught.value)


def test_a_file_is_named_in_its_faults(tmp_path: Path) -> None:
    path = tmp_path / "test.toml"
    path.write_text("stop = [", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"test\.toml: expected TOML"):
        read_design(path, BANK)
    path.write_text('{"stop": "item:3"}', encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"test\.toml: stop: .*did you mean items"):
        read_design(path, BANK)
    with pytest.raises(ModelFileError):
        read_design(tmp_path / "none.toml", BANK)


def test_a_saved_session_holds_its_design(tmp_path: Path) -> None:
    path = tmp_path / "ann.json"
    made = read_design(FILE, BANK)
    session = Session.start(made, path=path)
    for _ in range(3):
        session = session.answer(session.next_item(), 1)
    again = Session.load(path, BANK)
    assert again.design.rules == made.rules
    assert again.design.selector == made.selector
    assert again.design.seed == 7
    assert again.state.asked == session.state.asked
    assert again.next_item() == session.next_item()
    damaged = tmp_path / "damaged.json"
    damaged.write_text(path.read_text("utf-8").replace('\\"seed\\": 7', '\\"seed\\" 7'), "utf-8")
    with pytest.raises(ModelFileError, match="design in the saved session is damaged"):
        Session.load(damaged, BANK)
    plain = tmp_path / "bob.json"
    Session.start(BANK, path=plain)
    assert Session.load(plain, BANK).design.text == ""


def test_exposure_stays_near_its_limit_live_and_simulated() -> None:
    limit = 0.6
    content = {
        "exposure": [{"method": "eligibility", "r_max": limit}],
        "content": {"codes": {"forms": {"min": 1}}},
        "stop": "items:4",
    }
    people = Responses.drawn(BANK, 600, seed=1)
    start = design_from(content, BANK)
    free = simulate_designs({"x": start}, people).runs[0]
    counted = calibrated(start, people)
    run = simulate_designs({"x": counted}, people).runs[0]
    assert free.exposure.max() == 1.0
    assert run.exposure.max() < limit + 0.08
    assert run.lengths.min() == 4
    # The counts go through the file, and the draw is that of a live test.
    assert counted.eligibility is not None
    pairs = np.stack([counted.eligibility.eligible, counted.eligibility.asked], axis=1)
    counts = dict(zip(BANK.item_names, pairs.astype(int).tolist(), strict=True))
    exposure = [{"method": "eligibility", "r_max": limit, "counts": counts}]
    again = design_from({**content, "exposure": exposure}, BANK)
    session = Session.start(again)
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, int(people.codes[0, BANK.position(item)]))
    assert [BANK.item_names[i] for i in run.asked[0]] == list(session.state.asked)
    assert again.eligible(0).sum() < len(BANK.items)
    assert json.loads(again.text)["exposure"][0]["counts"] == counts
    assert isinstance(again.stopper, MaximalItems)


@pytest.mark.parametrize("limit", [0.1, 0.25])
def test_exposure_is_at_most_its_limit_and_two_standard_errors(limit: float) -> None:
    rng = np.random.default_rng(1)
    rows = [[(n >> skill) & 1 for skill in range(3)] for n in range(1, 8)] * 12
    guess, slip = rng.uniform(0.05, 0.3, (2, len(rows)))
    bank = ItemBank.from_qmatrix(rows, guess, slip)
    content = {
        "select": "gdi",
        "exposure": [{"method": "eligibility", "r_max": limit}],
        "stop": "items:6",
    }
    people = Responses.drawn(bank, 200, seed=2)
    counted = calibrated(design_from(content, bank), people)
    run = simulate_designs({"x": counted}, people).runs[0]
    assert run.exposure.max() <= limit + 2 * (limit * (1 - limit) / 200) ** 0.5
    # Other examinees of the same population add an error of theirs.
    others = simulate_designs({"x": counted}, Responses.drawn(bank, 1000, seed=3)).runs[0]
    error = (limit * (1 - limit) * (1 / 200 + 1 / 1000)) ** 0.5
    assert others.exposure.max() <= limit + 3 * error


def test_counts_do_not_depend_on_the_number_of_workers() -> None:
    content = {"exposure": [{"method": "eligibility", "r_max": 0.6}], "stop": "items:4"}
    people = Responses.drawn(BANK, 120, seed=1)
    counts = [
        calibrated(design(**content), people, options=SimulationOptions(workers=n)).eligibility
        for n in (1, 2)
    ]
    assert counts[0] is not None
    assert counts[1] is not None
    np.testing.assert_array_equal(counts[0].eligible, counts[1].eligible)
    np.testing.assert_array_equal(counts[0].asked, counts[1].asked)


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_asks_alike_live_and_simulated_whatever_the_design(name: str) -> None:
    bank = CURVES if name in ("fisher", "mepv", "a-stratified") else BANK
    few = bank.item_names[:2]
    member = SELECTORS[name]
    content = {
        "select": name if member.plain or member.argument is LENGTH else f"{name}:1",
        "stop": ["items:5", "items:3+entropy:1"],
        "start": [{"number": 1, "select": "random"}],
        "content": {"groups": [{"items": list(bank.item_names[-3:]), "min": 2}]},
        "testlet": [{"items": list(few)}],
        "seed": 4,
    }
    check_alike(design_from(content, bank))


@pytest.mark.parametrize("name", STOPPERS)
def test_every_stopper_stops_alike_live_and_simulated_whatever_the_design(name: str) -> None:
    bank = CURVES if name in ("deviation", "cut") else BANK
    member = STOPPERS[name]
    assert member.argument is not None
    content = {
        "stop": f"{name}:{member.argument.example}",
        "content": {"groups": [{"items": list(bank.item_names[-4:]), "min": 2}]},
        "seed": 4,
    }
    made = design_from(content, bank)
    check_alike(made)
    assert len({*check_alike(made)} & {*bank.item_names[-4:]}) >= 2


def check_alike(made: Design) -> tuple[str, ...]:
    """Return the items of a live test, after comparing it with a simulated one."""
    bank = made.bank
    answers = np.random.default_rng(5).integers(0, 2, (3, len(bank.items)))
    run = simulate_designs({"x": made}, Responses.of(answers, items=bank.item_names)).runs[0]
    session = Session.start(made)
    while not session.stop_reason:
        item = session.next_item()
        session = session.answer(item, int(answers[0, bank.position(item)]))
    names = [bank.item_names[i] for i in run.asked[0] if i != MISSING]
    assert names == list(session.state.asked)
    assert run.reasons[0] == session.stop_reason
    return session.state.asked


def test_progressive_tests_have_a_largest_exposure_too() -> None:
    content = {
        "exposure": [{"method": "progressive", "b": 1, "r_max": 0.5}],
        "stop": "items:4",
        "seed": 2,
    }
    start = design_from(content, BANK)
    assert start.eligibility is not None
    people = Responses.drawn(BANK, 300, seed=1)
    run = simulate_designs({"x": calibrated(start, people)}, people).runs[0]
    assert isinstance(start.selector, Progressive)
    assert run.exposure.max() < 0.6


def test_the_page_shows_the_file() -> None:
    page = (ROOT / "docs/test-design.md").read_text(encoding="utf-8")
    shown = page.split("```toml\n")[1].split("```")[0]
    assert shown in FILE.read_text(encoding="utf-8")


def test_a_uniform_prior_replaces_that_of_the_bank(tmp_path: Path) -> None:
    made = design(prior="uniform", stop="items:3")
    session = Session.start(made, path=tmp_path / "ann.json")
    assert session.belief.entropy == pytest.approx(len(BANK.skills))
    assert Session.start(design()).belief.entropy < len(BANK.skills) - 0.1
    session = session.answer(session.next_item(), 1)
    again = Session.load(tmp_path / "ann.json", BANK)
    assert again.belief.entropy == pytest.approx(session.belief.entropy)
    assert "prior: " in faults({"prior": "flat"})


NAMES = ("a", "b", "c", "d")
PLAIN_BANK = ItemBank.from_qmatrix(
    [[1, 0], [0, 1], [1, 1], [1, 0]],
    0.2,
    0.1,
    items=[Item(name, content="x" if name in "ab" else "y") for name in NAMES],
    skill_names=["S", "T"],
)
SHARE = {"method": "eligibility", "r_max": 0.5}
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"start": {"ask": ["e"]}}, "start 1.ask: expected an item among a, b, c, d; got 'e'"),
    ({"start": {"ask": ["e", "f"]}}, "start 1.ask: the bank has no items 'e', 'f'"),
    (
        {"start": {"ask": [f"x{n}" for n in range(6)]}},
        "start 1.ask: the bank has no items 'x0', 'x1', 'x2', 'x3', 'x4', …",
    ),
    (
        {"start": {"ask": [f"x{n}" for n in range(5)]}},
        "start 1.ask: the bank has no items 'x0', 'x1', 'x2', 'x3', 'x4'",
    ),
    ({"start": {"ask": ["a", "b", "a"]}}, "start 1.ask: 'a' is there twice"),
    *(
        (
            {"start": [{"ask": ["a"]}, {"ask": ["b"], **more}]},
            "start 2: ask stands alone, without any other key",
        )
        for more in ({"number": 1}, {"select": "gdi"}, {"codes": ["x"]}, {"skills": ["S"]})
    ),
    (
        {"start": {"select": "gdi"}},
        "start 1: expected ask, or the number of items in this stage",
    ),
    ({"start": {"number": 1}}, "start 1: expected select, items, codes or skills"),
    (
        {"start": {"number": 1, "select": "progressive"}},
        "start 1.select: progressive needs the length of the test, such as items:10 in [stop]",
    ),
    (
        {"start": {"number": 1, "codes": ["z"]}},
        "start 1.codes: expected a content code among x, y; got 'z'",
    ),
    (
        {"start": {"number": 1, "skills": ["U"]}},
        "start 1.skills: expected a skill among S, T; got 'U'",
    ),
    (
        {"content": {"codes": {"z": 1}}},
        "content.codes: expected a content code among x, y; got 'z'",
    ),
    ({"content": {"skills": {"U": 1}}}, "content.skills: expected a skill among S, T; got 'U'"),
    (
        {"content": {"groups": [{"items": ["a"]}, {"items": ["e"]}]}},
        "content.groups 2.items: expected an item among a, b, c, d; got 'e'",
    ),
    (
        {"content": {"codes": {"x": {"min": 2, "max": 1}}}},
        "content.codes: content code x: the least number of items, 2, is above the largest, 1",
    ),
    (
        {"content": {"codes": {"x": 3}}},
        "content: content code x: 3 items are demanded, the bank has 2",
    ),
    (
        {"exposure": [{"method": "randomesque"}, {"method": "randomesque"}]},
        "exposure: only one method can choose among the scored items",
    ),
    (
        {"select": {"shadow": True}, "exposure": {"method": "randomesque"}},
        "select.shadow: a shadow test asks its best item; limit the exposure by method ="
        ' "eligibility"',
    ),
    (
        {"select": {"shadow": True}},
        "select.shadow: shadow tests need the length of the test, such as items:10 in [stop]",
    ),
    (
        {"exposure": {"method": "progressive"}},
        "exposure 1: the progressive method needs the length of the test, such as items:10 in"
        " [stop]",
    ),
    (
        {"select": "random", "exposure": {"method": "randomesque"}},
        "exposure 1: method randomesque needs a selector that scores items, such as entropy or"
        " gdi, got RandomItem",
    ),
    (
        {"select": {"by": "random", "shadow": True}, "stop": "items:2"},
        "select.shadow: a shadow test needs a selector that scores items, such as entropy or gdi,"
        " got RandomItem",
    ),
    ({"order": {"codes": ["z"]}}, "order.codes: expected a content code among x, y; got 'z'"),
    ({"order": {"skills": ["U"]}}, "order.skills: expected a skill among S, T; got 'U'"),
    (
        {"order": {"codes": ["x"], "skills": ["S"]}},
        "order: expected either codes or skills, got both",
    ),
    (
        {"exposure": {"method": "randomesque", "b": 1.0}},
        "exposure 1: randomesque has no key b; it has best",
    ),
    (
        {"exposure": {"method": "randomesque", "counts": {}}},
        "exposure 1: randomesque has no key counts; it has best",
    ),
    (
        {"exposure": {"method": "eligibility"}},
        "exposure 1: r_max is missing, the largest share of tests of an item",
    ),
    ({"exposure": [SHARE, SHARE]}, "exposure: expected one r_max, got more"),
    (
        {"exposure": {**SHARE, "counts": {"a": [1, 1]}}},
        "exposure 1: counts: expected for each item of the bank the numbers of tests in which it"
        " was eligible and was asked, as bnmind simulate writes them",
    ),
    (
        {"exposure": {**SHARE, "counts": {"a": [2, 1], "b": [2, 1], "c": [1, 0], "d": [1]}}},
        "exposure 1: counts: expected two numbers for d",
    ),
    ({"testlet": {"items": ["a"]}}, "testlet 1.items: expected at least 2"),
    (
        {"testlet": [{"items": ["a", "b"], "name": "t"}, {"items": ["a", "c"]}]},
        "testlet 2.items: 'a' is in 't' already",
    ),
    (
        {"prior": {"S": ["1"]}},
        "prior: no column for the skill T; expected a column probability or count, got ['S']",
    ),
    (
        {"prior": {"S": ["1"], "T": ["1", "0"], "count": ["1"]}},
        "prior: expected a list of equally many cells in each column",
    ),
    (
        {"prior": {"S": 1, "T": ["1"], "count": ["1"]}},
        "prior: expected a list of equally many cells in each column",
    ),
]


@pytest.mark.parametrize(("content", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_a_fault_is_told_in_whole_sentences(content: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        design_from(content, PLAIN_BANK)
    assert str(caught.value) == words


def test_what_is_right_is_taken_over() -> None:
    stages = [{"ask": ["a"]}, {"number": 2, "codes": ["y"], "skills": ["T"]}]
    made = design_from({"start": stages}, PLAIN_BANK)
    stage = next(rule for rule in made.rules if isinstance(rule, StageItems))
    assert (stage.items, stage.first, stage.last) == (("b", "c", "d"), 2, 3)
    plain = design_from({"exposure": {"method": "randomesque"}}, PLAIN_BANK).selector
    assert isinstance(plain, Randomesque)
    assert plain.best == 5
    rates = design_from({"exposure": {"method": "sympson-hetter"}}, PLAIN_BANK).selector
    assert isinstance(rates, SympsonHetter)
    assert rates.rates == {}
    counts = {name: [n + 1, n] for n, name in enumerate(NAMES)}
    kept = design_from({"exposure": {**SHARE, "counts": counts}}, PLAIN_BANK).eligibility
    assert kept is not None
    assert (kept.limit, kept.eligible.tolist(), kept.asked.tolist()) == (
        0.5,
        [1, 2, 3, 4],
        [0, 1, 2, 3],
    )
