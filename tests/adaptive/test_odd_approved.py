"""Odd inputs, and what a reader sees of every example: each against what was approved."""

from __future__ import annotations

import inspect
import json
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bnmind.adaptive import (
    ItemBank,
    QMatrix,
    Responses,
    describe_bank,
    read_bank,
    read_prior,
    read_profiles,
    read_qmatrix,
)
from bnmind.adaptive.sessions.design_file import design_from
from bnmind.errors import BnmindError
from tests.approved import Notes, plain
from tests.examples import PUBLIC, examples_of

ROOT = Path(__file__).parents[2]
KINDS = sorted(
    {kind for kind in PUBLIC if kind.__module__.startswith("bnmind.adaptive")},
    key=lambda kind: kind.__name__,
)


@cache
def fractions() -> ItemBank:
    """Return the bank of fractions."""
    return read_bank(ROOT / "models/banks/fractions.json")


@cache
def small() -> ItemBank:
    """Return a bank of three items."""
    return ItemBank.from_qmatrix(
        [[1, 0], [0, 1], [1, 1]], 0.2, 0.1, items=["a", "b", "c"], skill_names=["S", "T"]
    )


def outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returns, with its warnings, or the words of its error."""
    try:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            made = call()
    except BnmindError as fault:
        return f"{type(fault).__name__}: {fault}"
    return [made, *(str(warning.message) for warning in said)] if said else made


def seen(thing: object, name: str) -> Any:
    """Return what an attribute holds."""
    return plain(getattr(thing, name))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_is_seen_of_an_example_is_as_approved(kind: type[Any]) -> None:
    notes = Notes(Path(__file__), f"example {kind.__name__}")
    for example in examples_of(kind)[:2]:
        notes.note(repr(example), "shown")
        for name in dir(kind):
            member = inspect.getattr_static(kind, name)
            is_seen = name in ("_repr_html_", "__len__", "to_frame", "to_dict")
            if is_seen and callable(getattr(example, name, None)):
                notes.note(plain(outcome(getattr(example, name))), name)
            elif not name.startswith("_") and not callable(member) and hasattr(member, "__get__"):
                notes.note(outcome(partial(seen, example, name)), name)
    notes.check(if_kept=True)


ITEMS = [
    entry["name"]
    for entry in json.loads((ROOT / "models/banks/fractions.json").read_text("utf-8"))["items"]
]
SUMS, TWO_CODES = ["add_same", "add_halves"], ["sums", "forms"]
CONTENTS: dict[str, dict[str, Any]] = {
    "one unknown": {"start": {"ask": ["add_sam"]}},
    "unknown": {"start": {"ask": ["x1", "x2"]}},
    "many unknown": {"start": {"ask": [f"x{n}" for n in range(7)]}},
    "twice": {"start": {"ask": ["add_same", "add_same"]}},
    "no code": {"content": {"codes": {"none": 1}, "skills": {"none": 1}}},
    "bad range": {"content": {"codes": {"sums": {"min": 3, "max": 2}}}},
    "too much": {"content": {"codes": {"sums": 5, "forms": 4}}, "stop": "items:6"},
    "bad group": {"content": {"groups": [{"items": ["x"], "min": 1}, {"items": SUMS, "min": 3}]}},
    "ask and more": {"start": [{"ask": ["add_same"], "number": 2}]},
    "no stage": {"start": [{"number": 2}, {"select": "gdi"}, {"number": 0, "select": "gdi"}]},
    "bad stage": {"start": [{"number": 1, "items": ["x"], "codes": ["y"], "skills": ["z"]}]},
    "bad selector": {"start": [{"number": 1, "select": "x"}], "select": "y"},
    "stage of length": {"start": [{"number": 1, "select": "progressive"}]},
    "stages": {
        "start": [{"number": 2, "items": SUMS}, {"number": 1, "select": "gdi", "codes": TWO_CODES}]
    },
    "two methods": {"exposure": [{"method": "randomesque"}, {"method": "progressive"}]},
    "shadow and method": {"select": {"shadow": True}, "exposure": {"method": "randomesque"}},
    "shadow without length": {"select": {"shadow": True}},
    "shadow at random": {"select": {"by": "random", "shadow": True}, "stop": "items:3"},
    "method at random": {"select": "random", "exposure": {"method": "randomesque"}},
    "progressive without length": {"exposure": {"method": "progressive"}},
    "orders": {"order": {"codes": TWO_CODES, "skills": ["canceling"]}},
    "order of skills": {"order": {"skills": ["canceling", "addition"], "items": ["add_same"]}},
    "bad order": {"order": {"codes": ["x"], "items": ["y"]}},
    "bad keys": {"exposure": [{"method": "randomesque", "b": 1.0, "r_max": 0.1, "counts": {}}]},
    "bad rates": {"exposure": {"method": "sympson-hetter", "rates": {"x": 0.5}}},
    "no rates": {"exposure": {"method": "sympson-hetter"}},
    "two shares": {
        "exposure": [{"method": "eligibility", "r_max": 0.3}, {"method": "eligibility", "r_max": 1}]
    },
    "no share": {"exposure": [{"method": "eligibility"}]},
    "no counts": {"exposure": {"method": "eligibility", "r_max": 0.3, "counts": {"add_same": [1]}}},
    "bad counts": {
        "exposure": {
            "method": "eligibility", "r_max": 0.3,
            "counts": {name: [1] for name in ITEMS},
        }
    },
    "counts": {
        "exposure": {
            "method": "eligibility", "r_max": 0.3,
            "counts": {name: [n, 5] for n, name in enumerate(ITEMS, 5)},
        }
    },
    "unknown keys": {
        "selekt": 1, "content": {"code": 1, "groups": [{"item": 1}], "codes": {"sums": {"mn": 1}}}
    },
    "wrong kinds": {"seed": -1, "title": 3, "stop": {"any": 3}, "report": [], "select": 4},
    "short": {"testlet": [{"items": ["add_same"]}], "enemies": {"items": []}},
    "testlets": {
        "testlet": [{"items": SUMS}, {"items": ["add_same", "add_cancel"], "name": "testlet 1"}]
    },
    "pilots": {"pilot": {"items": ["x", "add_same"], "number": 3, "places": [1, 1], "by": "y"}},
    "report": {"report": {"skills": ["x"], "during": True, "parameters": True}},
    "stops": {"stop": ["x:1", "items", "items:x", "certainty:2", "items:3+y:1"]},
    "prior": {"prior": "x", "parameters": "y"},
    "prior of columns": {"prior": {"x": ["1"], "probability": ["1", "2"], "y": 3}},
    "uniform": {"prior": "uniform", "parameters": "averaged", "seed": 3},
}  # fmt: skip


@pytest.mark.parametrize("name", CONTENTS)
def test_an_odd_design_is_told_as_approved(name: str) -> None:
    notes = Notes(Path(__file__), f"design {name}")
    made = outcome(lambda: design_from(CONTENTS[name], fractions()))
    if isinstance(made, str):
        notes.note(made)
    else:
        for part in (made.selector, made.stopper, made.rules, made.seed, made.eligibility):
            notes.note(part)
        notes.note([made.report, made.allowed([])])
    notes.check(if_kept=True)


TABLES = {
    "empty": "",
    "blank": "\n\n",
    "json": '{"a": 1}',
    "names": "id,a,b,c\nx,1,0,1\ny,0,1,\nz,1,1,0\n",
    "semicolons": "id;a;b;c\nx;1;0;1\ny;0;1;\n",
    "tabs": "a\tb\tc\n1\t0\t1\n0\t1\tNA\n",
    "spaces": "a b c\n1 0 1\n0 1 1\n",
    "digits": "101\n011\n110\n",
    "named digits": "x 101\ny 01.\n",
    "no names": "1,0,1\n0,1,1\n1,1,0\n",
    "counts": "0,1,2\n1,0,1\n0,1,1\n",
    "other order": "c,b,a\n1,0,1\n0,1,1\n",
    "more": "c,b,a,d\n1,0,1,5\n0,1,1,6\n",
    "fewer": "a,b\n1,0\n0,1\n",
    "numbered": "X1,X2,X3\n1,0,1\n0,1,1\n",
    "rows of R": '"a","b","c"\n"1",1,0,1\n"2",0,1,1\n"3",0,0,1\n',
    "unnamed rows": ",a,b,c\n0,1,0,1\n1,0,1,1\n",
    "uneven": "a,b,c\n1,0\n0,1,1,1\n",
    "trailing": "a,b,c,\n1,0,1,\n0,1,1,\n",
    "trailing names": "a,b,c,,\n1,0,1\n0,1,1\n",
    "wrong cells": "a,b,c\n1,x,1\n0,1,7\n-5,1,0.5\n",
    "fractions": "a,b,c\n1.0,0.0,1.0\n0.5,1,1\n",
    "texts": "name,a,b,c\nAnn,1,0,1\nBob,0,1,1\n",
    "two texts": "name,town,a,b,c\nAnn,X,1,0,1\nBob,Y,0,1,1\n",
    "groups": "id,group,a,b,c\nx,g,1,0,1\ny,h,0,1,1\n",
    "nobody answers": "id,a,b,c\nx,,,\ny,0,1,1\n",
    "constant": "id,a,b,c\nx,1,1,1\ny,0,1,1\nz,,1,\n",
    "long": "examinee,item,response\nx,a,1\nx,b,0\ny,a,0\ny,c,1\n",
    "long with groups": "id,group,item,response,when\nx,g,a,1,1\nx,g,b,0,2\ny,h,c,1,1\n",
    "long twice": "id,item,response\nx,a,1\nx,a,0\n,b,1\ny,,1\n",
    "true": "a,b,c\nTRUE,FALSE,true\nFALSE,TRUE,NA\n",
    "letters": "a,b,c\nA,B,C\nB,B,A\n",
    "same names": "a,a,b\n1,0,1\n0,1,1\n",
    "comment": "# by hand\na,b,c\n1,0,1\n",
    "quoted": '"a","b","c"\n"1","0","1"\n',
    "missing marks": "a,b,c\n1,.,-\n0,?,9\n99,N/A,nan\n",
    "one column": "a\n1\n0\n",
    "one row": "1,0,1\n",
    "profile": "S,T,probability\n0,0,0.5\n1,1,0.5\n",
    "profile sums": "S,T,probability\n0,0,0.5\n1,1,0.6\n",
    "profile counts": "S,T,count\n0,0,5\n1,0,15\n1,1,0\n",
    "profile twice": "S,T,count\n0,0,5\n0,0,x\n2,1,1\n0,1,-1\n",
    "no profile": "S,T,count\n0,0,0\n",
    "levels": "id,S,T\nx,0,1\ny,1,2\nz,high,\n",
    "items": "item,text,content,cost,time\na,Add.,x,2,30\nc,Halve.,y,,x\nd,z,z,0,-1\n",
    "labels": "skill,label\nS,Sums\nU,?\n",
    "keys": "item,key,choices,enemies,testlet\na,1,4=1|5=0,b,t\nb,2,4=1|4=0,x,t\n",
}


@pytest.mark.parametrize("name", TABLES)
def test_an_odd_table_is_read_as_approved(name: str, tmp_path: Path) -> None:
    notes = Notes(Path(__file__), f"table {name}", tmp_path)
    path = tmp_path / "t.csv"
    path.write_text(TABLES[name], encoding="utf-8")
    readers: dict[str, Callable[[], Any]] = {
        "responses": lambda: Responses.from_csv(path),
        "for a bank": lambda: Responses.from_csv(path).for_bank(small()),
        "missing": lambda: Responses.from_csv(path, missing=["7", "x"], ignore=["a"]),
        "Q-matrix": lambda: read_qmatrix(path),
        "prior": lambda: read_prior(path, small()),
        "profiles": lambda: read_profiles(path, small(), ["x", "y"]),
        "items": lambda: described(describe_bank(small(), items=path)),
        "skills": lambda: described(describe_bank(small(), skills=path)),
    }
    for kind, read in readers.items():
        notes.note(outcome(read), kind)
    if name not in ("empty", "blank", "uneven", "json"):
        frame = pd.read_csv(path)
        notes.note(outcome(lambda: Responses.of(frame)), "frame")
        notes.note(outcome(lambda: QMatrix.of(frame)), "frame of a Q-matrix")
    notes.check(if_kept=True)


def described(bank: ItemBank) -> Any:
    """Return what describes the items and skills of a bank."""
    return [bank.items, bank.labels]
