"""XMLBIF and XDSL: their grammar, where faults are, and what makes XML dangerous."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import ModelFileError
from bnmind.pgm import Network
from bnmind.pgm.files import read_model
from bnmind.pgm.formats.xml import from_xdsl, from_xmlbif, parse_xml
from tests.pgm.faults import require_fault

XMLBIF = """<?xml version="1.0" encoding="ISO-8859-1"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
  <!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3"><NETWORK><NAME>caf\u00e9</NAME>
<VARIABLE><NAME> A </NAME><OUTCOME> x </OUTCOME><OUTCOME>y &lt; z</OUTCOME></VARIABLE>
<VARIABLE TYPE="nature"><NAME>B</NAME><OUTCOME>a</OUTCOME><OUTCOME>b</OUTCOME>
  <OUTCOME>c</OUTCOME><PROPERTY>a remark</PROPERTY></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
<DEFINITION><FOR>B</FOR><GIVEN>A</GIVEN>
  <TABLE> 0.1 0.2 0.7 <!-- the first -->
          0.5 0.25 .25 </TABLE></DEFINITION>
</NETWORK></BIF>
"""
XDSL = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="x">
 <nodes>
  <cpt id="A" diagtype="observation">
    <state id="x" /> <state id="y" />
    <probabilities>0.25
      0.75</probabilities>
  </cpt>
  <deterministic id="D"><state id="no" /><state id="yes" />
    <parents>A</parents>
    <resultingstates>yes no</resultingstates>
  </deterministic>
  <cpt id="B">
    <state id="a" /><state id="b" /><state id="c" />
    <parents>A</parents>
    <property id="note">free text</property>
    <probabilities>0.1 0.2 0.7 0.5 0.25 .25</probabilities>
  </cpt>
 </nodes>
 <extensions><genie><node id="A"><name>free</name></node></genie></extensions>
</smile>
"""


def xmlbif(text: str) -> Network:
    return from_xmlbif(text.encode("latin-1"), max_cells=100).network


def xdsl(text: str) -> Network:
    return from_xdsl(text.encode(), max_cells=100).network


@pytest.mark.parametrize(("read", "text"), [(xmlbif, XMLBIF), (xdsl, XDSL)])
def test_a_row_is_a_configuration_of_the_parents(read: Callable[[str], Network], text: str) -> None:
    network = read(text)
    expected = [[0.1, 0.5], [0.2, 0.25], [0.7, 0.25]]
    np.testing.assert_array_equal(network.cpd("B").to_factor().values, expected)


def test_states_may_contain_characters_that_xml_escapes() -> None:
    assert xmlbif(XMLBIF).variable("A").states == ("x", "y < z")


def test_a_deterministic_node_names_its_state() -> None:
    np.testing.assert_array_equal(xdsl(XDSL).cpd("D").to_factor().values, [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("text", "old", "new", "place", "words"),
    [
        (XMLBIF, "</DEFINITION>", "</DEFINITON>", (11, 51), "XML, got mismatched tag"),
        (XMLBIF, "BIF VERSION=", "BIV VERSION=", (15, 13), "mismatched tag"),
        (XMLBIF, 'TYPE="nature"', 'TYPE="decision"', (9, 1), "'B' is a decision node"),
        (XMLBIF, 'TYPE="nature"', 'TYPE="other"', (9, 1), "type nature, got 'other'"),
        (XMLBIF, "<PROPERTY>a remark</PROPERTY>", "<VALUE/>", (10, 23), "<VALUE> in <VARIABLE>"),
        (XMLBIF, "</DEFINITION>\n<DEF", "</DEFINITION><EQUATION/>\n<DEF", (11, 62), "<EQUATION>"),
        (XMLBIF, "<NAME>B</NAME>", "", (9, 1), "<NAME> in <VARIABLE>, got none"),
        (XMLBIF, "<FOR>B</FOR>", "<FOR>B</FOR><FOR>A</FOR>", (12, 25), "one <FOR>"),
        (XMLBIF, "<NAME>B</NAME>", "<NAME>A</NAME>", (9, 1), "got 'A' twice"),
        (XMLBIF, "<NAME>B</NAME>", "<NAME>B\n2</NAME>", (9, 1), "control characters"),
        (XMLBIF, "<GIVEN>A", "<GIVEN>C", (12, 1), "declared variables, got 'C'"),
        (XMLBIF, "0.5 0.25", "0.5 often", (13, 3), "got 'often' as number 5"),
        (XMLBIF, "0.5 0.25", "0.5 NaN", (13, 3), "got 'NaN' as number 5"),
        (XMLBIF, "0.5 0.25", "0.5", (13, 3), "6 numbers for B in <TABLE>, got 5"),
        (XMLBIF, "0.5 0.25", "0.5 0.35", (13, 3), "got a sum of 1.1"),
        (XMLBIF, "0.5 0.25", "0.5 -0.25", (13, 3), "probabilities"),
        (XMLBIF, "ISO-8859-1", "utf-8", (7, 38), "XML, got not well-formed"),
        (XMLBIF, "ISO-8859-1", "no-such", (1, 31), "a known encoding"),
        (XMLBIF, "ISO-8859-1", "big5", (1, 31), "a known encoding"),
        (XMLBIF, "caf\u00e9", "&eacute;", (7, 35), "undefined entity"),
        (XDSL, "<cpt id=\"A\"", "<cpt ", (4, 3), "an attribute id of <cpt>"),
        (XDSL, 'id="B"', 'id="A"', (13, 3), "distinct variables, got 'A' twice"),
        (XDSL, "<parents>A</parents>\n    <res", "<res", (10, 5), "1 states of D, got 2"),
        (XDSL, "yes no", "yes maybe", (11, 5), "a state of D, got 'maybe'"),
        (XDSL, "<parents>A</parents>\n    <prop", "<parents>Q</parents>\n  <prop", (13, 3), "'Q'"),
        (XDSL, "deterministic", "decision", (9, 3), "'D' is a decision node"),
        (XDSL, "deterministic", "mau", (9, 3), "'D' is a utility node"),
        (XDSL, "deterministic", "equation", (9, 3), "deterministic, got <equation> of 'D'"),
        (XDSL, "deterministic", "noisyadder", (9, 3), "deterministic, got <noisyadder> of 'D'"),
        (XDSL, 'id="A" diag', 'id="A" dynamic="plate" diag', (4, 3), "bnmind track"),
        (XDSL, "</nodes>", '</nodes><dynamic numslices="5"/>', (19, 10), "unroll(5)"),
        (XDSL, "</nodes>", "</nodes><constraints/>", (19, 10), "<constraints> in <smile>"),
        (XDSL, "<property ", "<intervals/><property ", (16, 5), "<intervals> in <cpt>"),
        (XDSL, 'diagtype="', 'copula="1" diagtype="', (4, 3), "the attribute 'copula' of <cpt>"),
        (XDSL, "deterministic", "noisymax", (9, 3), "<parameters> in <noisymax>, got none"),
        (XDSL, "0.1 0.2", "0.1 0.3", (17, 5), "got a sum of 1.1"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_place(
    tmp_path: Path, text: str, old: str, new: str, place: tuple[int, int], words: str
) -> None:
    count = 2 if old == "deterministic" else 1
    broken = text.replace(old, new, count)
    assert broken != text
    path = tmp_path / ("network.xdsl" if text is XDSL else "network.xml")
    require_fault(path, broken.encode("latin-1"), place, words)


LAUGHS = "".join(
    f'<!ENTITY lol{i} "{"&lol" + str(i - 1) + ";" if i else "ha"}'
    f'{("&lol" + str(i - 1) + ";") * 9 if i else ""}">'
    for i in range(10)
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"<!DOCTYPE BIF [{LAUGHS}]><BIF>&lol9;</BIF>", "no declarations of entities"),
        ('<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]><BIF>&x;</BIF>', "entities"),
        ('<!DOCTYPE BIF [<!ENTITY % x "<!ELEMENT a (b)>">%x;]><BIF/>', "entities"),
        ('<!DOCTYPE BIF SYSTEM "http://localhost/x.dtd"><BIF>&x;</BIF>', "<NETWORK>"),
        ("<BIF>" * 100_000, "at most 100 nested elements"),
        (
            "<!DOCTYPE BIF ["
            + "".join(f"<!ATTLIST a b{i} CDATA #IMPLIED>" for i in range(100_000))
            + "]><BIF/>",
            "at most 100 declared attributes",
        ),
        ('<!DOCTYPE BIF [<!ATTLIST a TYPE CDATA "utility">]><BIF/>', "no default of .* TYPE"),
        ('<!DOCTYPE BIF [<!ATTLIST a id CDATA "utility">]><BIF/>', "no default of .* id"),
    ],
)
@pytest.mark.parametrize("suffix", [".xml", ".xdsl"])
def test_hostile_xml_is_refused(tmp_path: Path, suffix: str, text: str, words: str) -> None:
    path = tmp_path / f"network{suffix}"
    path.write_text(text if suffix == ".xml" else text.replace("BIF>", "smile>"))
    with pytest.raises(ModelFileError, match=r"at line \d+, column \d+, in") as caught:
        read_model(path)
    assert re.search(words, str(caught.value)) or suffix == ".xdsl"


def test_declared_defaults_do_not_grow_with_the_elements(tmp_path: Path) -> None:
    """Every element used to be given a hundred attributes of a hundred characters each."""
    declared = "".join(f'<!ATTLIST a b{i} CDATA "{"x" * 100}">' for i in range(90))
    path = tmp_path / "network.xml"
    path.write_text(f"<!DOCTYPE BIF [{declared}]><BIF>{'<a/>' * 20_000}</BIF>")
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="<NETWORK>"):
            read_model(path)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000_000


def test_elements_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bnmind.pgm.formats.xml._ELEMENTS", 1000)
    path = tmp_path / "network.xml"
    path.write_text(f"<BIF>{'<a/>' * 1000}</BIF>")
    with pytest.raises(ModelFileError, match="at most 1,000 elements, got another at line 1"):
        read_model(path)


@pytest.mark.parametrize("quote", ["'", '"'])
def test_elements_have_at_most_a_thousand_attributes(quote: str) -> None:
    def element(n: int) -> bytes:
        attributes = " ".join(f"a{number}={quote}>{quote}" for number in range(n))
        return f"<!-- {attributes} -->\n<BIF>\n <a {attributes}/></BIF>".encode()

    assert len(parse_xml(element(1000)).children[0].attributes) == 1000
    with pytest.raises(
        ModelFileError, match="at most 1,000 attributes of an element, got more at line 3, column 2"
    ):
        parse_xml(element(1001))
