"""How a valid file is broken: by bytes, by words, by structure.

Each mutator takes the content of a file, other valid files of its format to take parts
of, and a generator, and returns another content. The same generator breaks a file the
same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

__all__ = ["MUTATORS", "NASTY", "broken"]

Mutator: TypeAlias = Callable[[bytes, Sequence[bytes], Random], bytes]

NASTY = (
    *(b"999999999", b"9" * 400, b"-1", b"nan", b"inf", b"1e999", b"1e-400", b"0", b"", b"1_0"),
    *(b"NaN", b"Infinity", b"-Infinity", b"1" + b"0" * 400, b"1" + b"0" * 5000, b"0x10", b"1.5"),
    *(b"\x00", b"\xff", b"\xc3\xa9", b"\xd9\xa1", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r"),
    *(b"{", b"}", b"(", b")", b"[", b"]", b'"', b"'", b";", b":", b",", b"|", b"<", b">", b"&"),
    *(b"\\", b"=", b"/*", b"//", b"%", b"#", b"<!--", b"]]>", b"<![CDATA[", b"&lt;", b"\n"),
    *(b"\t", b"\x1b[", b"=" * 9),
    *(b"null", b"true", b"false", b"{}", b"[]", b'""', b"(" * 500, b"[" * 1000, b"<a>" * 500),
    *(b'{"a":' * 500, b"2147483648", b"-2147483648", b"18446744073709551616", b"1e308", b"-0"),
    *(b"A", b"B", b"x", b"rain", b"table", b"default", b"property", b"variable", b"probability"),
    *(b"node", b"utility", b"potential", b"data", b"restricted", b"addition", b"BAYES", b"MARKOV"),
    *(b"a" * 3000, b"item_1", b"dina", b"sequential", b"free-table", b"logistic", b"exact"),
)  # fmt: skip
"""Words that readers have stumbled over."""

ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2, 255, 2**31, 2**63, 10**400, 0.5, -0.5, 1e308, 5e-324),
    *(float("nan"), float("inf"), -float("inf"), "", "x", "\x00", "é", "a" * 3000, "1", "0b0w"),
    *([], {}, [[]], [0], [[0.5]], {"": 0}, {"kind": "dina"}, ["item_1"], "item_1", "dina"),
)

_LARGEST = 2**16
"""Bytes of a broken file: repetitions of repetitions grow, and growth has tests of its own."""

_WORDS = re.compile(rb"[A-Za-z0-9_.+-]+|\s+|.", re.DOTALL)
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_PAIRS = {b"{"[0]: b"}"[0], b"("[0]: b")"[0], b"["[0]: b"]"[0], b"<"[0]: b">"[0]}


def broken(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Return the content after one to four mutators, now and then cut off as well."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        data = rng.choice(MUTATORS)(data, others, rng)[:_LARGEST]
    return data[: rng.randint(0, len(data))] if rng.random() < 0.05 else data


def by_bytes(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Change, insert, delete or repeat bytes, or go on as another file."""
    at = rng.randint(0, len(data))
    length = min(rng.choice((1, 1, 2, 8, 64)), len(data) - at)
    match rng.randrange(6):
        case 0:
            return data[:at] + rng.randbytes(length) + data[at + length :]
        case 1:
            return data[:at] + rng.randbytes(rng.choice((1, 2, 8))) + data[at:]
        case 2:
            return data[:at] + data[at + length :]
        case 3:
            return (
                data[:at] + data[at : at + length] * rng.choice((2, 3, 100)) + data[at + length :]
            )
        case 4 if at < len(data):
            return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
        case _:
            other = rng.choice(others)
            return data[:at] + other[rng.randint(0, len(other)) :]


def by_words(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Delete, double, swap or repeat words, or put nasty ones in their places."""
    words: list[bytes] = _WORDS.findall(data)
    if not words:
        return rng.choice(NASTY)
    at, other = rng.randrange(len(words)), rng.randrange(len(words))
    match rng.randrange(7):
        case 0:
            del words[at : at + rng.randint(1, 30)]
        case 1:
            words.insert(at, words[at])
        case 2:
            words[at], words[other] = words[other], words[at]
        case 3:
            words[at:at] = words[at : at + rng.randint(1, 60)]
        case 4:
            words[at] = words[other]
        case 5:
            words.insert(at, rng.choice(NASTY))
        case _:
            words[at] = rng.choice(NASTY)
    return b"".join(words)


def by_numbers(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Put another number, or what looks like one, in the place of a number, at times throughout."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return by_bytes(data, others, rng)
    number = rng.choice(found)
    wanted = rng.choice(
        (
            *(b"0", b"1", b"2", b"-1", b"0.5", b"1e-9", b"1e400", b"-0.0", b"3", b"64", b"65"),
            *(b"1" + b"0" * 400, b"NaN", b"Infinity", b"2147483647", b"9223372036854775808"),
            *(number[0] + number[0], number[0] + b".5", b"0" + number[0], b"+" + number[0]),
        )
    )
    if rng.random() < 0.1:
        return data.replace(number[0], wanted)
    return data[: number.start()] + wanted + data[number.end() :]


def by_structure(data: bytes, others: Sequence[bytes], rng: Random) -> bytes:
    """Change a part of the tree that JSON is; of other files a bracketed part or some lines."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return _by_brackets(data, rng) if rng.random() < 0.5 else _by_lines(data, rng)
    places = list(_places(tree))
    if not places:
        return json.dumps(rng.choice(ODD_VALUES)).encode()
    inside, key = rng.choice(places)
    match rng.randrange(6):
        case 0:
            inside[key] = rng.choice(ODD_VALUES)
        case 1:
            del inside[key]
        case 2:
            other, name = rng.choice(places)
            inside[key], other[name] = other[name], inside[key]
        case 3:
            if isinstance(inside, list):
                inside.insert(key, inside[key])
            else:
                inside[rng.choice(("", "x", "kind", "name", f"{key}{key}"))] = inside[key]
        case 4:
            other, name = rng.choice(places)
            inside[key] = json.loads(json.dumps(other[name]))
        case _:
            wrapped: Any = [inside[key]] * rng.choice((1, 2, 70))
            inside[key] = rng.choice((wrapped, {"a": inside[key]}, str(inside[key])))
    try:
        return json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode(errors="surrogatepass")
    except (ValueError, RecursionError):  # it has been put into itself
        return data


def _places(tree: Any) -> Any:
    """Yield every list or object with each index or key, deepest included."""
    parts = list(tree.items()) if isinstance(tree, dict) else []
    parts = list(enumerate(tree)) if isinstance(tree, list) else parts
    for key, value in parts:
        yield tree, key
        yield from _places(value)


def _by_brackets(data: bytes, rng: Random) -> bytes:
    opened = [at for at, byte in enumerate(data) if byte in _PAIRS]
    if not opened:
        return _by_lines(data, rng)
    start = rng.choice(opened)
    end, depth = start, 0
    for end in range(start, len(data)):
        depth += (data[end] == data[start]) - (data[end] == _PAIRS[data[start]])
        if not depth:
            break
    part, rest = data[start : end + 1], data[end + 1 :]
    match rng.randrange(5):
        case 0:
            return data[:start] + rest
        case 1:
            return data[:start] + part * rng.choice((2, 3, 50)) + rest
        case 2:
            return data[:start] + data[start : start + 1] * 2 + part[1:] + rest
        case 3:
            return data[:start] + part[1:-1] + rest
        case _:
            at = rng.randint(0, len(rest))
            return data[:start] + rest[:at] + part + rest[at:]


def _by_lines(data: bytes, rng: Random) -> bytes:
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = lines[at] * rng.choice((2, 50))
        case _:
            lines[at] += rng.choice((b",", b",,", b" ", b";", b'"', lines[other]))
    return b"\n".join(lines)


MUTATORS: tuple[Mutator, ...] = (
    *(by_bytes, by_words, by_words, by_numbers, by_structure, by_structure),
)
"""What `broken` chooses from; those that find most are there twice."""
