"""Large files for every reader, valid and faulty, of any size.

Each kind is a function of a size: twice the size makes a file about twice as long.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from tests.fuzz.large_records import LARGE_RECORDS
from tests.fuzz.reader import SEEDS, Reader

__all__ = ["LARGE", "Large", "kinds_of", "name_of"]

Large: TypeAlias = Callable[[int], bytes]


def _bif(n: int, *, numbers: str = "0.5, 0.5", parent: bool = True) -> bytes:
    """Return a chain of n variables."""
    lines = [f"variable v{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(n)]
    lines.append(f"probability ( v0 ) {{ table {numbers}; }}\n")
    lines += [
        f"probability ( v{i} | v{i - 1} ) {{ (a) {numbers}; (b) {numbers}; }}\n"
        if parent
        else f"probability ( v{i} ) {{ table {numbers}; }}\n"
        for i in range(1, n)
    ]
    return "".join(lines).encode()


def _net(n: int, *, numbers: str = "0.5 0.5") -> bytes:
    lines = [f'node v{i} {{ states = ("a" "b"); }}\n' for i in range(n)]
    lines.append(f"potential (v0) {{ data = ({numbers}); }}\n")
    lines += [
        f"potential (v{i} | v{i - 1}) {{ data = (({numbers}) ({numbers})); }}\n"
        for i in range(1, n)
    ]
    return "".join(lines).encode()


def _dne(n: int, *, numbers: str = "0.5, 0.5") -> bytes:
    nodes = (
        f"node v{i} {{ states = (a, b); parents = ({f'v{i - 1}' if i else ''});"
        f" probs = ({', '.join([numbers] * (2 if i else 1))}); }};\n"
        for i in range(n)
    )
    return f"bnet x {{\n{''.join(nodes)}}};\n".encode()


def _xmlbif(n: int, *, numbers: str = "0.5 0.5") -> bytes:
    names = "".join(
        f"<VARIABLE><NAME>v{i}</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME></VARIABLE>\n"
        for i in range(n)
    )
    tables = f"<DEFINITION><FOR>v0</FOR><TABLE>{numbers}</TABLE></DEFINITION>\n" + "".join(
        f"<DEFINITION><FOR>v{i}</FOR><GIVEN>v{i - 1}</GIVEN>"
        f"<TABLE>{numbers} {numbers}</TABLE></DEFINITION>\n"
        for i in range(1, n)
    )
    return f"<BIF><NETWORK>{names}{tables}</NETWORK></BIF>".encode()


def _xdsl(n: int, *, numbers: str = "0.5 0.5") -> bytes:
    def node(i: int) -> str:
        parents = f"<parents>v{i - 1}</parents>" if i else ""
        rows = " ".join([numbers] * (2 if i else 1))
        return (
            f'<cpt id="v{i}"><state id="a"/><state id="b"/>{parents}'
            f"<probabilities>{rows}</probabilities></cpt>\n"
        )

    return f"<smile><nodes>{''.join(map(node, range(n)))}</nodes></smile>".encode()


def _uai(n: int, *, kind: str = "BAYES", numbers: str = "0.5 0.5") -> bytes:
    scopes = "1 0\n" + "".join(f"2 {i - 1} {i}\n" for i in range(1, n))
    tables = f"2 {numbers}\n" + f"4 {numbers} {numbers}\n" * (n - 1)
    return f"{kind}\n{n}\n{'2 ' * n}\n{n}\n{scopes}{tables}".encode()


def _model_json(n: int, *, numbers: tuple[float, float] = (0.5, 0.5), scope: str = "v") -> bytes:
    return json.dumps(
        {
            "schema": "bnmind-model",
            "version": 2,
            "variables": [{"name": f"v{i}", "states": ["a", "b"]} for i in range(n)],
            "potentials": [
                {"kind": "table", "scope": [f"{scope}{i}"], "values": numbers} for i in range(n)
            ],
        }
    ).encode()


def _dynamic(n: int, **wrong: Any) -> bytes:
    first = _model_json(n // 2).decode()
    later = _model_json(n // 2, **wrong).decode()
    head = '{"schema": "bnmind-dynamic", "version": 1, "first": '
    return f'{head}{first}, "transition": {later}}}'.encode()


def _names(n: int) -> bytes:
    variables = [{"name": f"v{i}", "states": ["a", "b"]} for i in range(n)]
    return json.dumps({"schema": "bnmind-uai-names", "version": 1, "variables": variables}).encode()


def _bank(n: int, *, guess: float = 0.2, enemies: bool = False, parent: str = "s") -> bytes:
    items = [
        {
            "name": f"i{i}",
            "parents": [parent],
            "gate": {"kind": "dina", "guess": guess, "slip": 0.1},
            "enemies": [f"i{(i + 1) % n}"] if enemies else [],
        }
        for i in range(n)
    ]
    network = {
        "schema": "bnmind-model",
        "version": 2,
        "variables": [{"name": "s", "states": ["0", "1"]}],
        "potentials": [{"kind": "table", "scope": ["s"], "values": [0.5, 0.5]}],
    }
    return json.dumps(
        {
            "schema": "bnmind-bank",
            "version": 1,
            "skills": [{"name": "s"}],
            "items": items,
            "network": network,
        }
    ).encode()


def _bank_of_skills(n: int) -> bytes:
    """Return a bank of n skills with an item for each."""
    network = {
        "schema": "bnmind-model",
        "version": 2,
        "variables": [{"name": f"s{i}", "states": ["0", "1"]} for i in range(n)],
        "potentials": [
            {"kind": "table", "scope": [f"s{i}"], "values": [0.5, 0.5]} for i in range(n)
        ],
    }
    gate = {"kind": "dina", "guess": 0.1, "slip": 0.1}
    return json.dumps(
        {
            "schema": "bnmind-bank",
            "version": 1,
            "skills": [{"name": f"s{i}"} for i in range(n)],
            "items": [{"name": f"i{i}", "parents": [f"s{i}"], "gate": gate} for i in range(n)],
            "network": network,
        }
    ).encode()


def _bank_of_a_chain(n: int) -> bytes:
    """Return a bank in which each skill depends on the one before."""
    bank = json.loads(_bank_of_skills(n))
    for i, table in enumerate(bank["network"]["potentials"][1:]):
        table["scope"].append(f"s{i}")
        table["values"] *= 2
    return json.dumps(bank).encode()


def _session(n: int, event: Callable[[int], dict[str, str]]) -> bytes:
    text = (SEEDS / "session" / "empty.json").read_text()
    events = ",\n".join(f"  {json.dumps(event(i))}" for i in range(n))
    return text.replace('"events": [\n', f'"events": [\n{events}').encode()


def _turn(i: int) -> dict[str, str]:
    """Return answers that are taken back."""
    answer = {"kind": "answer", "item": "item_1", "response": "1"}
    return answer if i % 2 == 0 else {"kind": "undo"}


def _change(i: int) -> dict[str, str]:
    kind = "change" if i else "answer"
    return {"kind": kind, "item": "item_1", "response": str(i % 2)}


def _noise(n: int, *, line: str = "0b0w,0b0w,1\n") -> bytes:
    return ("true,reported,count\n" + line * n).encode()


def _outline(n: int) -> str:
    """Return a long text in which nothing is ever right."""
    return "".join(f"  0b0w {i}\n" for i in range(n))


def _game(n: int) -> bytes:
    game = json.loads((SEEDS / "game" / "game.json").read_text())
    return json.dumps({**game, "turns": [game["turns"][0]] * n}).encode()


def _weights(n: int) -> bytes:
    weights = json.loads((SEEDS / "weights" / "weights.json").read_text())
    return json.dumps({**weights, "weights": [weights["weights"][0]] * n}).encode()


def _transcript(n: int) -> bytes:
    game = json.loads((SEEDS / "transcript" / "noisy.json").read_text())
    return json.dumps({**game, "turns": [game["turns"][0]] * n}).encode()


LARGE: Mapping[str, Mapping[str, Large]] = {
    "bif": {
        "chain": _bif,
        "no parents": lambda n: _bif(n, parent=False),
        "every table wrong": lambda n: _bif(n, numbers="0.5, 0.6"),
        "no numbers": lambda n: _bif(n, numbers="0.5, x"),
        "one table": lambda n: (
            f"variable A {{ type discrete [ {n} ] {{ {', '.join(f's{i}' for i in range(n))} }}; }}"
            f"\nprobability ( A ) {{ table {', '.join(['1'] + ['0'] * (n - 1))}; }}"
        ).encode(),
        "rows": lambda n: (
            f"variable A {{ type discrete [ {n} ] {{ {', '.join(f's{i}' for i in range(n))} }}; }}"
            "variable B { type discrete [ 2 ] { a, b }; }\n"
            f"probability ( A ) {{ table {', '.join(['1'] + ['0'] * (n - 1))}; }}"
            f"probability ( B | A ) {{ {''.join(f'(s{i}) 1 0;' for i in range(n))} }}"
        ).encode(),
        "comments": lambda n: b"// nothing\n" * n + _bif(1),
        "quotes": lambda n: b'variable "' * n,
        "comments without end": lambda n: b"/*" * n,
        "properties": lambda n: b"network x { " + b"property a = 1;\n" * n + b"}" + _bif(1),
        "unknown parents": lambda n: _bif(n).replace(b"| v", b"| w"),
        "one name": lambda n: _bif(n).replace(b"v1", b"v2"),
        "a cycle": lambda n: (
            _bif(n).replace(b"( v0 ) { table", f"( v0 | v{n - 1} ) {{ (a) 1 0; (b)".encode())
        ),
        "a long name": lambda n: _bif(2).replace(b"v0", b"n" * n),
        "a long state": lambda n: _bif(2).replace(b"a,", b"n" * n + b","),
    },
    "net": {
        "chain": _net,
        "every table wrong": lambda n: _net(n, numbers="0.5 0.6"),
        "no numbers": lambda n: _net(n, numbers="0.5 x"),
        "brackets": lambda n: _net(1).replace(b"0.5 0.5", b"(" * n + b"1 0" + b")" * n),
        "comments": lambda n: b"% nothing\n" * n + _net(1),
        "strings": lambda n: b'node A { label="' + b"\\" * n,
        "fields": lambda n: b"net { " + b'x = "y";\n' * n + b"}" + _net(1),
    },
    "dne": {
        "chain": _dne,
        "every table wrong": lambda n: _dne(n, numbers="0.5, 0.6"),
        "no numbers": lambda n: _dne(n, numbers="0.5, x"),
        "blocks": lambda n: b"bnet x { " + b"a b { c d {" * n + b"}; };" * n + _dne(1)[6:],
        "comments": lambda n: b"// nothing\n" * n + _dne(1),
        "comments without end": lambda n: b"/*" * n,
        "strings": lambda n: b'bnet x { a = "' + b"\\" * n,
        "fields": lambda n: b"bnet x { " + b'a = "y";\n' * n + _dne(1)[8:],
        "braces in a value": lambda n: b"bnet x { a = " + b"{b = 1;}" * n + b";};",
    },
    "xmlbif": {
        "chain": _xmlbif,
        "every table wrong": lambda n: _xmlbif(n, numbers="0.5 0.6"),
        "no numbers": lambda n: _xmlbif(n, numbers="0.5 x"),
        "elements": lambda n: b"<BIF>" + b"<a/>" * n + b"</BIF>",
        "attributes": lambda n: (
            b"<BIF " + b" ".join(b'a%d="1"' % i for i in range(n)) + b"></BIF>"
        ),
        "declared": lambda n: (
            b"<!DOCTYPE BIF ["
            + b"".join(b'<!ATTLIST a b%d CDATA "xxxxxxxx">' % i for i in range(99))
            + b"]><BIF>"
            + b"<a/>" * n
            + b"</BIF>"
        ),
        "comments": lambda n: b"<BIF><!-- no -->" + b"<!-- no -->" * n + b"</BIF>",
        "lines of text": lambda n: b"<BIF>" + b"x\n" * n + b"</BIF>",
        "references": lambda n: b"<BIF>" + b"&#65;" * n + b"</BIF>",
    },
    "xdsl": {
        "chain": _xdsl,
        "every table wrong": lambda n: _xdsl(n, numbers="0.5 0.6"),
        "no numbers": lambda n: _xdsl(n, numbers="0.5 x"),
    },
    "uai": {
        "chain": _uai,
        "markov": lambda n: _uai(n, kind="MARKOV"),
        "every table wrong": lambda n: _uai(n, numbers="0.5 0.6"),
        "negative": lambda n: _uai(n, numbers="-0.5 1.5"),
        "one child": lambda n: _uai(n).replace(b"\n2 ", b"\n2 0 0\n"),
        "states": lambda n: b"BAYES\n1\n%d\n1\n1 0\n%d\n1%s" % (n, n, b" 0" * (n - 1)),
        "comments": lambda n: b"c no\n" * n + _uai(1),
    },
    "dynamic": {
        "tables": _dynamic,
        "every table wrong": lambda n: _dynamic(n, numbers=(0.5, 0.6)),
        "unknown": lambda n: _dynamic(n, scope="w"),
        "one name": lambda n: _dynamic(n).replace(b"v1", b"v2"),
        "other variables": lambda n: _dynamic(n).replace(b"v", b"w", n // 2),
    },
    "model_json": {
        "tables": _model_json,
        "every table wrong": lambda n: _model_json(n, numbers=(0.5, 0.6)),
        "unknown": lambda n: _model_json(n, scope="w"),
        "wrong kinds": lambda n: _model_json(n).replace(b'"table"', b'"tables"'),
        "no kinds": lambda n: _model_json(n).replace(b'"kind": "table", ', b""),
        "one name": lambda n: _model_json(n).replace(b"v1", b"v2"),
        "a long name": lambda n: _model_json(2).replace(b"v0", b"n" * n),
        "brackets": lambda n: b"[" * n,
        "an addition": lambda n: json.dumps(
            {
                "schema": "bnmind-model",
                "version": 2,
                "variables": [{"name": "A", "states": [str(i) for i in range(n)]}],
                "potentials": [
                    {
                        "kind": "function",
                        "scope": ["A", "A"],
                        "function": {
                            "function": "addition",
                            "terms": [list(range(n))],
                            "modulus": n,
                        },
                    }
                ],
            }
        ).encode(),
    },
    "packed": {
        "chain": lambda n: gzip.compress(_bif(n)),
        "blanks": lambda n: gzip.compress(b" " * n),
    },
    "uai_names": {"names": _names, "long": lambda n: _names(1).replace(b"v0", b"n" * n)},
    "uai_evidence": {
        "findings": lambda n: b"%d%s" % (n, b" 0 1" * n),
        "samples": lambda n: b"1\n" + b"1 0 1\n" * n,
        "many samples": lambda n: b"%d\n" % n + b"1 0 1\n" * n,
        "unknown variables": lambda n: b"%d%s" % (n, b" 7 1" * n),
    },
    "uai_query": {
        "variables": lambda n: b"%d%s" % (n, b" 0" * n),
        "unknown variables": lambda n: b"%d%s" % (n, b" 7" * n),
    },
    "uai_answer": {
        "marginals": lambda n: b"MAR\n2 2 .5 .5 3 0 0 1" + b" 0.5" * n,
        "solutions": lambda n: b"MPE\n" + b"2 0 1\n-BEGIN-\n" * n + b"2 0 1",
        "states": lambda n: b"MMAP\n%d%s" % (n, b" 0 1" * n),
        "unknown variables": lambda n: b"MMAP\n%d%s" % (n, b" 7 1" * n),
    },
    "bank": {
        "items": _bank,
        "skills": _bank_of_skills,
        "a chain of skills": _bank_of_a_chain,
        "every gate wrong": lambda n: _bank(n, guess=2),
        "enemies": lambda n: _bank(n, enemies=True),
        "one name": lambda n: _bank(n).replace(b'"i1', b'"i2'),
        "unknown parents": lambda n: _bank(n, parent="t"),
        "nothing known": lambda n: _bank(n).replace(b'"dina"', b'"odd"'),
        "a long name": lambda n: _bank(2).replace(b'"i0"', b'"%s"' % (b"n" * n)),
        "a free table": lambda n: _bank(1).replace(
            b'{"kind": "dina", "guess": 0.2, "slip": 0.1}',
            b'{"kind": "free-table", "probabilities": [%s]}' % b", ".join([b"[0.5, 0.5]"] * n),
        ),
        "steps": lambda n: _bank(1).replace(
            b'{"kind": "dina", "guess": 0.2, "slip": 0.1}',
            b'{"kind": "sequential", "steps": [%s]}'
            % b", ".join([b'{"kind": "dina", "guess": 0.2, "slip": 0.1}'] * n),
        ),
        "responses": lambda n: _bank(1).replace(
            b'"parents"',
            b'"responses": [%s], "parents"' % b", ".join(b'"%d"' % i for i in range(n)),
        ),
    },
    "roles": {
        "items": lambda n: json.dumps(
            {
                "schema": "bnmind-roles",
                "version": 1,
                "skills": [{"name": "skill_1"}],
                "items": [{"name": f"i{i}"} for i in range(n)],
            }
        ).encode(),
    },
    "session": {
        "undone": lambda n: _session(n, _turn),
        "changed": lambda n: _session(n, _change),
        "impossible": lambda n: _session(n, lambda i: {"kind": "undo"}),
        "unknown kinds": lambda n: _session(n, lambda i: {"kind": "no"}),
        "cut": lambda n: _session(n, _turn)[:-9],
        "brackets": lambda n: b"[" * n,
    },
    "responses": {
        "examinees": lambda n: b"examinee,a,b\n" + b"".join(b"e%d,1,0\n" % i for i in range(n)),
        "items": lambda n: (
            b",".join(b"i%d" % i for i in range(n)) + b"\n" + b",".join([b"1"] * n) + b"\n"
        ),
        "every cell wrong": lambda n: b"a,b\n" + b"x,y\n" * n,
        "every row short": lambda n: b"a,b\n" + b"1\n" * n,
        "one name": lambda n: b",".join([b"a"] * n) + b"\n" + b",".join([b"1"] * n) + b"\n",
        "one examinee": lambda n: b"examinee,a\n" + b"ann,1\n" * n,
        "nothing": lambda n: b"a,b\n" + b",\n" * n,
        "empty columns": lambda n: b"a," + b",b," * n + b"\n1," + b",0," * n + b"\n",
        "quotes": lambda n: b'"' * n,
        "a square": lambda n: (
            b",".join(b"i%d" % i for i in range(int(n**0.5)))
            + b"\n"
            + (b",".join([b"1"] * int(n**0.5)) + b"\n") * int(n**0.5)
        ),
    },
    "qmatrix": {
        "items": lambda n: b"a,b\n" + b"1,1\n" * n,
        "skills": lambda n: (
            b",".join(b"s%d" % i for i in range(n)) + b"\n" + b",".join([b"1"] * n) + b"\n"
        ),
        "every cell wrong": lambda n: b"a,b\n" + b"x,y\n" * n,
        "texts": lambda n: (
            b",".join(b"s%d" % i for i in range(n)) + b"\n" + b",".join([b"1", b"x"] * (n // 2))
        ),
        "every row short": lambda n: b"a,b\n" + b"1\n" * n,
        "nothing": lambda n: b"a,b\n" + b"0,0\n" * n,
        "one name": lambda n: b"item,a\n" + b"x,1\n" * n,
        "one skill": lambda n: b",".join([b"a"] * n) + b"\n" + b",".join([b"1"] * n) + b"\n",
    },
    "noise": {
        "lines": _noise,
        "no replies": lambda n: _noise(n, line="x,y,1\n"),
        "wrong counts": lambda n: _noise(n, line="0b0w,0b0w,-1\n"),
        "other replies": lambda n: _noise(n, line="9b9w,0b0w,1\n"),
        "quotes": lambda n: b'"' * n,
    },
    "weights": {
        "turns": _weights,
        "brackets": lambda n: b"[" * n,
        "no replies": lambda n: _weights(n).replace(b"0b0w", b"9b0w"),
    },
    "tree_json": {"brackets": lambda n: b'{"tree":' * n},
    "tree_text": {
        "outline": lambda n: b"# bnmind strategy tree 1, board 4x6\n1122\n" + _outline(n).encode(),
        "deep": lambda n: (
            b"# bnmind strategy tree 1, board 4x6\n1122\n"
            + b"".join(b"  " * i + b"0b0w 1122\n" for i in range(1, int(n**0.5)))
        ),
    },
    "game": {"turns": _game, "brackets": lambda n: b"[" * n},
    "transcript": {
        "turns": _transcript,
        "brackets": lambda n: b"[" * n,
        "wrong turns": lambda n: _transcript(n).replace(b'"report"', b'"reports"'),
    },
    "history_text": {
        "turns": lambda n: b"1123 1b1w, " * n,
        "commas": lambda n: b"," * n,
        "words": lambda n: b"1 " * n,
        "pairs": lambda n: b"1, " * n,
    },
    "code_text": {"digits": lambda n: b"1" * n, "words": lambda n: b"1 " * n},
    "reply_text": {
        "digits": lambda n: b"1" * n,
        "blanks": lambda n: b"1b" + b" " * n + b"x",
        "blanks before": lambda n: b" " * n + b"1",
    },
    "noise_text": {"digits": lambda n: b"false:" + b"1" * n, "letters": lambda n: b"f" * n},
    "evidence_text": {
        "findings": lambda n: b"A=x," * n,
        "commas": lambda n: b"," * n,
        "equals": lambda n: b"=" * n,
        "commas in states": lambda n: b"C=a,b," * n,
    },
    "selector_text": {"skills": lambda n: b"entropy:" + b"+a" * n, "letters": lambda n: b"f" * n},
    "stopper_text": {
        "sums": lambda n: b"items:5" + b"+items:5" * n,
        "alternatives": lambda n: b"items:5 " * n,
    },
}  # fmt: skip
"""For each reader, large files of several kinds by name."""


def _of_every_format(reader: Reader) -> Iterator[tuple[str, Large]]:
    """Yield what can be made of the seeds of any reader."""
    first = reader.seeds[-1].read_bytes()
    yield "the whole repeated", lambda n: first * max(1, n // len(first))
    yield "one byte", lambda n: b"x" * n
    yield "only blanks", lambda n: b" " * n
    yield "ends of lines", lambda n: b"\n" * n
    yield "only digits", lambda n: b"9" * n
    for sign in (b"(", b"{", b'"', b"<", b"\\", b",", b";", b"\x00", b"\xff"):
        yield f"{sign!r} at the end", lambda n, sign=sign: first + sign * n  # type: ignore[misc]
    middle = len(first) // 2
    yield "blanks within", lambda n: first[:middle] + b" " * n + first[middle:]
    yield "letters within", lambda n: first[:middle] + b"x" * n + first[middle:]


def kinds_of(reader: Reader) -> Mapping[str, Large]:
    """Return the large files of a reader by name."""
    common = dict(_of_every_format(reader))
    own = LARGE.get(reader.name) or LARGE_RECORDS.get(reader.name, {})
    assert common.keys().isdisjoint(own)
    return {**own, **common}


def name_of(reader: Reader) -> str:
    """Return the name that the large files of a reader have."""
    return reader.seeds[0 if reader.name == "packed" else -1].name  # BIF, as its large files are
