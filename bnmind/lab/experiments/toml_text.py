"""Plain values as TOML text; Python reads TOML, but does not write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError

__all__ = ["toml_text"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def toml_text(content: Mapping[str, Any]) -> str:
    r"""Return a mapping of texts, numbers, truth values, lists and mappings as TOML.

    A list of mappings at the top becomes an array of tables. Values that are None are left out.

    References
    ----------
    TOML 1.0.0, https://toml.io/en/v1.0.0.

    Examples
    --------
    >>> print(toml_text({"games": 3, "settings": [{"board": "4x6"}]}), end="")
    games = 3
    <BLANKLINE>
    [[settings]]
    board = "4x6"
    """
    tables = {key: value for key, value in content.items() if _is_tables(value)}
    lines = _lines({key: value for key, value in content.items() if key not in tables})
    for key, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{_key(key)}]]", *_lines(row)]
    return "\n".join(lines) + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _lines(content: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in content.items():
        if value is None:
            continue
        line = f"{_key(key)} = {_value(value)}"
        if len(line) > _WIDTH and isinstance(value, list):
            parts = [f"    {_value(part)}," for part in value]
            line = "\n".join([f"{_key(key)} = [", *parts, "]"])
        lines.append(line)
    return lines


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        pairs = [f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None]
        return f"{{{', '.join(pairs)}}}"
    raise InvalidArgumentError(f"TOML has no value like {shown(value)}", value)


def _text(text: str) -> str:
    # A basic string of TOML is one of JSON, but for the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
