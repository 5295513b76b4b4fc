"""Large files of records and of tables, valid and faulty; see `tests.fuzz.large_files`."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from tests.fuzz.reader import SEEDS

__all__ = ["LARGE_RECORDS"]


def _record(place: str) -> Any:
    return json.loads((SEEDS / place).read_text("utf-8"))


def _with(place: str, key: str, value: Callable[[int], Any]) -> Callable[[int], bytes]:
    """Return a seed of which one field is large."""
    return lambda n: json.dumps({**_record(place), key: value(n)}).encode()


def _sheet(row: str) -> Callable[[int], bytes]:
    text = (SEEDS / "excel" / "sheet1.xml").read_text("utf-8")
    start, end = text.split("<sheetData>")[0], text.split("</sheetData>")[1]
    return lambda n: (
        f"{start}<sheetData>{''.join(row.format(i) for i in range(1, n))}</sheetData>{end}".encode()
    )


TURN = '  {"kind": "answer", "item": "multiply_half", "response": "0"},\n  {"kind": "undo"},\n'


def _atoms(n: int) -> list[Any]:
    claim = {"after": "0", "bound": 32}
    return [{"vertices": "f", "claims": [claim] * 10}] * (n // 10 + 1)


LARGE_RECORDS: Mapping[str, Mapping[str, Callable[[int], bytes]]] = {
    "design": {
        "testlets": lambda n: b"".join(
            b'[[testlet]]\nitems = ["a%d", "b"]\n' % i for i in range(n)
        ),
        "start": lambda n: b'[[start]]\nask = ["multiply_half"]\n' * n,
        "stops": lambda n: b"stop = [%s]" % b", ".join([b'"items:8"'] * n),
        "unknown keys": lambda n: b"".join(b"a%d = 1\n" % i for i in range(n)),
        "brackets": lambda n: b"a = " + b"[" * n,
    },
    "experiment": {
        "strategies": lambda n: (
            b'kind = "games"\nboard = "2x2"\nnoise = "exact"\nstrategies = [%s]'
            % b", ".join(b'"s%d"' % i for i in range(n))
        ),
        "noises": lambda n: (
            b'kind = "games"\nboard = "2x2"\nnoise = [%s]\nstrategies = "knuth"'
            % b", ".join(b'"false:0.%d"' % i for i in range(n))
        ),
        "unknown keys": lambda n: (
            b'kind = "games"\n' + b"".join(b"a%d = 1\n" % i for i in range(n))
        ),
    },
    "saved_run": {
        "parts": _with(
            "saved_run/snyder.json",
            "parts",
            lambda n: _record("saved_run/snyder.json")["parts"] * (n // 20 + 1),
        ),
    },
    "item_tree": {
        "responses": _with(
            "item_tree/tree.json",
            "tree",
            lambda n: {"item": "item_1", "responses": {str(i): {} for i in range(n)}},
        ),
        "brackets": lambda n: b'{"tree":' * n,
    },
    "play": {
        "guesses": _with("play/play.json", "guesses", lambda n: ["11"] * n),
        "ignored": _with("play/play.json", "ignored", lambda n: list(range(n))),
    },
    "dialogue": {
        "events": _with("dialogue/lung.json", "events", lambda n: [{"kind": "undo"}] * n),
        "targets": _with("dialogue/lung.json", "about", lambda n: [f"v{i}" for i in range(n)]),
    },
    "answers": {
        "undone": lambda n: (
            (SEEDS / "answers" / "session.json")
            .read_text("utf-8")
            .replace('"events": [\n', '"events": [\n' + TURN * (n // 2))
            .encode()
        ),
    },
    "costs": {
        "lines": lambda n: b"question,cost\n" + b"".join(b"q%d,1\n" % i for i in range(n)),
        "one name": lambda n: b"question,cost\n" + b"q,1\n" * n,
        "no numbers": lambda n: b"question,cost\n" + b"q,x\n" * n,
    },
    "code_list": {
        "one code": lambda n: b"code,weight\n" + b"112,1\n" * n,
        "weights of nothing": lambda n: b"code,weight\n" + b"119,1\n" * n,
    },
    "excel": {
        "rows": _sheet('<row r="{0}"><c r="A{0}" t="n"><v>1</v></c></row>'),
        "far cells": _sheet('<row r="{0}"><c r="XFD{0}" t="n"><v>1</v></c></row>'),
        "cells in one row": _sheet("<row><c><v>1</v></c></row>"),
    },
    "long_table": {
        "rows": lambda n: (
            b"examinee,item,response\n"
            + b"".join(b"e%d,i%d,1\n" % (i // 10, i % 10) for i in range(n))
        ),
        "each alone": lambda n: (
            b"examinee,item,response\n"
            + b"".join(b"e%d,i%d,1\n" % (i % 300, i // 300) for i in range(n))
        ),
        "a diagonal": lambda n: (
            b"examinee,item,response\n" + b"".join(b"e%d,i%d,1\n" % (i, i) for i in range(n))
        ),
        "one cell": lambda n: b"examinee,item,response\n" + b"a,b,1\n" * n,
    },
    "prior_table": {
        "one profile": lambda n: b"skill_1,skill_2,count\n" + b"0,1,1\n" * n,
        "no levels": lambda n: b"skill_1,skill_2,count\n" + b"7,x,1\n" * n,
    },
    "profiles": {
        "rows": lambda n: (
            b"examinee,skill_1,skill_2\n" + b"".join(b"e%d,1,0\n" % i for i in range(n))
        ),
        "no levels": lambda n: b"examinee,skill_1,skill_2\n" + b"ann,x,7\n" * n,
    },
    "cases": {
        "cases": lambda n: b"A,B\n" + b"x,0\n" * n,
        "no states": lambda n: b"A,B\n" + b"".join(b"x,%d\n" % i for i in range(n)),
        "columns": lambda n: b",".join(b"c%d" % i for i in range(n)) + b"\n" + b"," * n,
    },
    "sequences": {
        "sequences": lambda n: b"who,umbrella\n" + b"".join(b"%d,yes\n" % i for i in range(n)),
        "one sequence": lambda n: b"umbrella\n" + b"yes\n" * n,
    },
    "web_request": {
        "turns": _with(
            "web_request/suggest.json",
            "body",
            lambda n: {"pegs": 2, "colors": 2, "turns": [{"guess": "11", "reply": "1b0w"}] * n},
        ),
        "a network": lambda n: json.dumps(
            {
                "path": "/api/network/query",
                "body": {
                    "model": {
                        "file": "a.bif",
                        "text": "".join(
                            f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n"
                            for i in range(n)
                        ),
                    },
                    "evidence": {},
                },
            }
        ).encode(),
    },
    "data_file": {"noise": lambda n: b"PAR1" + zlib.crc32(b"%d" % n).to_bytes(4, "big") * n},
}
"""For each reader, large files of several kinds by name."""
