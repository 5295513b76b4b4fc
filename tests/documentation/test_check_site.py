"""The check of the built pages finds each kind of fault, and nothing else."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from docs.check_site import faults, unlisted

GOOD = """<html><head><link rel="stylesheet" href="style.css?v=1"><link rel=next href="b.html">
<script>let a = 1;</script></head><body id="top"><!-- <img src="http://x.y/z.png"> -->
<a href="#top">a</a> <a href="b.html#here">b</a> <a href="https://a.org/b?c#d">c</a>
<img src="data:image/png;base64,AA" alt="a dot"><a href="b.html#two%20words">d</a></body></html>"""
OTHER = """<h1 id="here">b</h1><p id='two words'>c</p>"""


def site(folder: Path, body: str = "") -> list[str]:
    (folder / "a.html").write_text(GOOD + body)
    (folder / "b.html").write_text(OTHER)
    (folder / "style.css").write_text("p { color: red; background: url(data:x) }")
    return list(faults(folder))


def test_good_pages_have_no_faults(tmp_path: Path) -> None:
    assert site(tmp_path) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="c.html">c</a>', "a.html: c.html leads to no file"),
        ('<a href="../a.html">c</a>', "a.html: ../a.html leads to no file"),
        ('<a href="b.html#there">c</a>', "a.html: b.html#there leads to no place on its page"),
        ('<a href="#there">c</a>', "a.html: #there leads to no place on its page"),
        ('<a href="http://nowhere">c</a>', "a.html: http://nowhere is no address"),
        ('<a href="htp://a.org">c</a>', "a.html: htp://a.org is of an unknown kind"),
        ('<script src="https://a.org/b.js">', "a.html: loads https://a.org/b.js"),
        ('<link href="//a.org/b.css" rel="stylesheet">', "a.html: loads //a.org/b.css"),
        ("<style>@import 'https://a.org/b'</style>", "a.html: loads https://a.org/b"),
        ('<p style="background: url(http://a.org/b)">', "a.html: loads http://a.org/b"),
        ('<img alt="b" src="b.png">', "a.html: loads b.png, which is no file"),
        ('<img src="b.html" alt=" ">', "a.html: the picture b.html has no alternative text"),
    ],
)
def test_each_fault_is_found(tmp_path: Path, body: str, fault: str) -> None:
    assert site(tmp_path, body) == [fault]


def test_a_style_sheet_that_loads_is_found(tmp_path: Path) -> None:
    site(tmp_path)
    (tmp_path / "style.css").write_text("@font-face { src: url('https://a.org/f.woff2') }")
    assert list(faults(tmp_path)) == ["style.css: loads https://a.org/f.woff2"]


def test_a_name_that_is_not_in_the_index_is_found(tmp_path: Path) -> None:
    lines = zlib.compress(b"bnmind.a py:function 1 a.html#$ -\n")
    (tmp_path / "objects.inv").write_bytes(b"# 1\n# 2\n# 3\n# 4\n" + lines)
    assert unlisted(tmp_path, ["bnmind.a", "bnmind.b"]) == ["bnmind.b"]
