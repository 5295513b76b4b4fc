"""The words of all faults of a design, as whole sentences."""

from __future__ import annotations

from typing import Any

import pytest

from bnmind.adaptive import Item, ItemBank, Randomesque, StageItems, SympsonHetter
from bnmind.adaptive.sessions.design_file import design_from
from bnmind.errors import ModelFileError

NAMES = ("a", "b", "c", "d")
BANK = ItemBank.from_qmatrix(
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
        "content.codes.z: expected a content code among x, y; got 'z'",
    ),
    ({"content": {"skills": {"U": 1}}}, "content.skills.U: expected a skill among S, T; got 'U'"),
    (
        {"content": {"groups": [{"items": ["a"]}, {"items": ["e"]}]}},
        "content.groups 2.items: expected an item among a, b, c, d; got 'e'",
    ),
    (
        {"content": {"codes": {"x": {"min": 2, "max": 1}}}},
        "content.codes.x: content code x: the least number of items, 2, is above the largest, 1",
    ),
    (
        {"content": {"codes": {"x": 3}}},
        "content: content code x: 3 items are demanded, the bank has 2",
    ),
    (
        {"exposure": [{"method": "randomesque"}, {"method": "randomesque"}]},
        "exposure 2: only one method can choose among the scored items",
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
        "exposure 1.b: randomesque has no such key; it has best",
    ),
    (
        {"exposure": {"method": "randomesque", "counts": {}}},
        "exposure 1.counts: randomesque has no such key; it has best",
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
    ({"prior": {"S": ["1"]}}, "prior: no column for the skill T; no column probability or count"),
    (
        {"prior": {"S": ["1"], "T": ["1", "0"], "count": ["1"]}},
        "prior: the columns have different lengths",
    ),
    (
        {"prior": {"S": 1, "T": ["1"], "count": ["1"]}},
        "prior: expected a list of cells in the column S",
    ),
]


@pytest.mark.parametrize(("content", "words"), FAULTS, ids=[words for _, words in FAULTS])
def test_a_fault_is_told_in_whole_sentences(content: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelFileError) as caught:
        design_from(content, BANK)
    assert str(caught.value) == words


def test_what_is_right_is_taken_over() -> None:
    stages = [{"ask": ["a"]}, {"number": 2, "codes": ["y"], "skills": ["T"]}]
    made = design_from({"start": stages}, BANK)
    stage = next(rule for rule in made.rules if isinstance(rule, StageItems))
    assert (stage.items, stage.first, stage.last) == (("b", "c", "d"), 2, 3)
    plain = design_from({"exposure": {"method": "randomesque"}}, BANK).selector
    assert isinstance(plain, Randomesque)
    assert plain.best == 5
    rates = design_from({"exposure": {"method": "sympson-hetter"}}, BANK).selector
    assert isinstance(rates, SympsonHetter)
    assert rates.rates == {}
    counts = {name: [n + 1, n] for n, name in enumerate(NAMES)}
    kept = design_from({"exposure": {**SHARE, "counts": counts}}, BANK).eligibility
    assert kept is not None
    assert (kept.limit, kept.eligible.tolist(), kept.asked.tolist()) == (
        0.5,
        [1, 2, 3, 4],
        [0, 1, 2, 3],
    )
