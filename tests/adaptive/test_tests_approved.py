"""Small tests of many designs, simulated, printed and live, against what was approved."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bnmind.adaptive import (
    MISSING,
    Acdm,
    Dina,
    Examinees,
    Gdina,
    GradedResponse,
    Item,
    ItemBank,
    Logistic,
    MinimalEntropy,
    NoisyAnd,
    NoisyOr,
    PartialCredit,
    RandomItem,
    ResponseModel,
    Sequential,
    Session,
    SimulationOptions,
    calibrated,
    design_tree,
    evaluate_design,
    fixed_test,
    irt_bank,
    optimal_test_tree,
    panel_test,
    rank_items,
    read_bank,
    replay,
    simulate,
    simulate_designs,
    start_belief,
    write_bank,
)
from bnmind.adaptive.sessions.design_file import design_from
from bnmind.adaptive.trees import ProfileLoss, aim_by_name, write_item_tree
from tests.approved import Notes, plain

ROOT = Path(__file__).parents[2]


@cache
def bank(name: str) -> ItemBank:
    """Return a bank of skills, of curves, or of items of many kinds."""
    if name == "skills":
        return read_bank(ROOT / "models/banks/fractions.json")
    if name == "lines":
        return irt_bank([Logistic(0.7 + n / 8, n / 4 - 1) for n in range(8)])
    if name == "curves":
        curves = [Logistic(0.7 + n / 8, n / 4 - 1, 0.05 * (n % 3)) for n in range(8)]
        return irt_bank([*curves, GradedResponse(1.3, (-1.0, 0.5)), PartialCredit(0.9, (0.2, 1))])
    items = [
        Item("a", content="x", cost=2.0, enemies=("c",), choices=(("4", "1"), ("5", "0"))),
        Item("b", content="y", time=30.0, testlet="t", text="Add | <b>two</b> numbers."),
        Item("c", content="x", time=20.0),
        Item("d", content="y", cost=3.0, testlet="t", text="Halve them."),
        Item("e", content="z", text="In two steps."),
        Item("f", content="x", picture="f.png"),
    ]
    models: list[ResponseModel] = [
        Dina(0.2, 0.1),
        NoisyAnd(0.1, (0.2, 0.1), 0.9),
        NoisyOr((0.1, 0.3), 0.1, 0.2),
        Gdina(np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5], [0.2, 0.8]])),
        Sequential((Dina(0.3, 0.1), Dina(0.2, 0.2))),
        Acdm(0.2, (0.3, 0.4)),
    ]
    q = [[1, 0], [1, 1], [1, 1], [1, 1], [0, 1], [1, 1]]
    return ItemBank.from_response_models(q, models, items=items, skill_names=["S", "T"])


DESIGNS: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        f"by {by}": ("skills", {"select": {"by": by}, "stop": "items:4"})
        for by in (
            *("entropy", "skills", "gdi", "kl", "pwkl", "mpwkl", "loss", "per-cost", "per-time"),
            *("randomesque:3", "progressive", "random", "order", "entropy:canceling"),
        )
    },
    **{
        f"curves by {by}": ("curves", {"select": {"by": by}, "stop": "items:4"})
        for by in ("fisher", "mepv", "entropy", "kl")
    },
    "strata": ("lines", {"select": {"by": "a-stratified"}, "stop": "items:4"}),
    **{
        f"mixed by {by}": ("mixed", {"select": {"by": by}, "stop": "items:5"})
        for by in ("entropy", "gdi", "loss", "per-cost", "per-time", "kl")
    },
    **{
        f"until {stop}": ("skills", {"stop": stop})
        for stop in (
            *("time:3", "cost:3", "entropy:1.5", "profile:0.5", "certainty:0.8", "gain:0.2"),
            *("plateau:0.05", "sprt", "items:2+entropy:2"),
        )
    },
    **{
        f"curves until {stop}": ("curves", {"stop": [stop, "items:6"]})
        for stop in ("deviation:0.7", "cut:0.3", "items:2+deviation:0.8")
    },
    "bounds": (
        "skills",
        {
            "stop": "items:6",
            "content": {
                "codes": {"sums": {"min": 2, "max": 3}, "products": 1},
                "skills": {"canceling": {"min": 3}},
                "groups": [{"name": "hard", "items": ["add_ninths", "add_fifths"], "max": 1}],
            },
        },
    ),
    "shadow": (
        "skills",
        {
            "select": {"by": "skills", "shadow": True},
            "content": {"codes": {"sums": 2}},
            "enemies": {"items": ["add_same", "add_halves"]},
            "stop": "items:5",
        },
    ),
    "order of codes": ("skills", {"order": {"codes": ["forms", "sums"]}, "stop": "items:4"}),
    "order of items": (
        "skills",
        {"order": {"items": ["add_cancel", "add_same"]}, "stop": "items:3"},
    ),
    "testlets": (
        "skills",
        {
            "testlet": [
                {"items": ["add_same", "multiply_third"], "in_order": True},
                {"items": ["add_halves", "add_ninths"], "name": "two"},
            ],
            "stop": "items:5",
        },
    ),
    "stages": (
        "skills",
        {
            "start": [
                {"ask": ["multiply_half"]},
                {"number": 2, "skills": ["canceling"], "select": "random"},
                {"number": 1, "codes": ["sums"]},
            ],
            "stop": "items:6",
            "seed": 5,
        },
    ),
    "exposure": (
        "skills",
        {
            "exposure": [
                {"method": "randomesque", "best": 3},
                {"method": "eligibility", "r_max": 0.5},
            ],
            "stop": "items:3",
        },
    ),
    "rates": (
        "skills",
        {
            "exposure": {"method": "sympson-hetter", "rates": {"add_same": 0.3}},
            "stop": "items:3",
        },
    ),
    "progressive": (
        "skills",
        {"exposure": [{"method": "progressive", "b": 1.5}], "stop": "items:4"},
    ),
    "pilots": (
        "skills",
        {
            "pilot": {
                "items": ["add_same", "add_fifths"], "number": 1, "places": [2, 3], "by": "random"
            },
            "stop": "items:4",
            "report": {"parameters": True, "skills": ["canceling"]},
        },
    ),
    "pilots that count": (
        "skills",
        {
            "pilot": {"items": ["add_same", "add_fifths"], "number": 2, "count": True},
            "stop": ["items:4", "entropy:1"],
            "report": {"answers": False},
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DESIGNS)
def test_tests_of_a_design_are_as_approved(name: str, tmp_path: Path) -> None:
    notes = Notes(Path(__file__), f"design {name}", tmp_path)
    kind, content = DESIGNS[name]
    design = design_from(content, bank(kind))
    people = Examinees.drawn(design.bank, 12, seed=2)
    found = simulate_designs({"x": design}, people, options=SimulationOptions(seed=3))
    run = found.runs[0]
    notes.note([run.asked, list(run.reasons), run.counts, run.exposure], "tests")
    notes.note([run.overlap, run.selected, run.shared], "exposure")
    for part in ("summary", "curves", "attributes", "lengths"):
        notes.note(plain(getattr(found, part)), part)
    notes.note(repr(found), "shown")
    session = Session.start(design, about={"who": "x"})
    for _ in range(4):
        if session.stop_reason:
            break
        item = session.next_item()
        row = people.responses[0, design.bank.position(item)]
        session = session.answer(item, 0 if row == MISSING else int(row), at="now")
    notes.note(session.report().to_dict(), "report")
    notes.note([session.stop_reason, list(session.allowed), repr(session)], "session")
    notes.note([session.posterior, session.rank()], "belief")
    notes.note(json.loads(session.to_json()), "file")
    notes.check(if_kept=True)


def live(kind: str) -> Session:
    """Return a test with answers of all kinds of events."""
    session = Session.start(design_from({"stop": "items:5"}, bank(kind)))
    first = session.next_item()
    session = session.answer(first, 1, at="1").change(first, 0, at="2")
    session = session.skip(session.next_item(), at="3")
    return session.answer(session.next_item(), 1).undo().answer(session.next_item(), 0)


def tree_text(made: Any, directory: Path) -> dict[str, str]:
    """Return a tree of items as each kind of file."""
    texts = {}
    for ending in ("json", "md", "html"):
        write_item_tree(made, directory / f"t.{ending}")
        texts[ending] = (directory / f"t.{ending}").read_text("utf-8")
    return texts


def bank_text(kind: str, directory: Path) -> str:
    """Return the file of a bank."""
    write_bank(bank(kind), directory / "b.json")
    return (directory / "b.json").read_text("utf-8")


def live_report(kind: str, _: Path) -> Any:
    """Return what is said of a live test."""
    return [live(kind).report(), repr(live(kind))]


def ranks(kind: str, _: Path) -> Any:
    """Return the items of a bank in the order of their information."""
    return rank_items(start_belief(bank(kind)), bank(kind).item_names)


def best_tree(aim: str, directory: Path) -> dict[str, str]:
    """Return the files of an optimal test."""
    made = optimal_test_tree(bank("mixed"), 2, aim=aim_by_name(aim))
    return tree_text(made.tree, directory)


MADE: dict[str, Callable[[Path], Any]] = {
    **{f"bank {n}": partial(bank_text, n) for n in ("skills", "curves", "mixed")},
    **{f"live {n}": partial(live_report, n) for n in ("curves", "mixed")},
    **{
        f"ranks {n}": partial(ranks, n)
        for n in ("skills", "curves", "mixed")
    },
    **{
        f"tree for {aim}": partial(best_tree, aim)
        for aim in ("entropy", "profile", "skills", "cost:0.6")
    },
    "fixed test": lambda _: fixed_test(bank("mixed"), 2, aim=ProfileLoss()),
    "panel": lambda d: panel_test(bank("mixed"), [1, 1], routes=2, aim=ProfileLoss()),
    "tree of a design": lambda d: tree_text(
        design_tree(design_from({"stop": "items:3"}, bank("mixed"))), d
    ),
    "evaluation": lambda _: plain(
        evaluate_design(design_from({"stop": "items:3"}, bank("mixed"))).to_frame()
    ),
    "evaluation in part": lambda _: evaluate_design(
        design_from({"stop": "items:4"}, bank("mixed")), max_beliefs=20
    ),
    "evaluation until sure": lambda _: evaluate_design(
        design_from({"stop": ["profile:0.8", "items:4"]}, bank("mixed")), min_probability=0.05
    ),
    "two selectors": lambda _: plain(
        simulate(
            bank("mixed"),
            Examinees.drawn(bank("mixed"), 10, seed=1),
            {"a": MinimalEntropy(), "b": RandomItem()},
            options=SimulationOptions(seed=4, posteriors=True, batch_size=3),
        ).steps
    ),
    "replay": lambda _: plain(
        replay(
            lambda others: bank("mixed"),
            Examinees.drawn(bank("mixed"), 9, seed=5).responses,
            {"a": MinimalEntropy()},
            folds=3,
            fold_seed=2,
        ).summary
    ),
    "calibrated": lambda _: calibrated(
        design_from(DESIGNS["exposure"][1], bank("skills")),
        Examinees.drawn(bank("skills"), 30, seed=6),
    ).eligibility,
}  # fmt: skip


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_is_as_approved(name: str, tmp_path: Path) -> None:
    notes = Notes(Path(__file__), name, tmp_path)
    made = MADE[name](tmp_path)
    notes.note(made)
    notes.note(repr(made) if not isinstance(made, str | list | dict) else "")
    notes.check(if_kept=True)
