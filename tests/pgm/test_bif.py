"""BIF: what pgmpy's reader makes of the wheel's networks, the grammar, and where faults are."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from bnmind.errors import ModelFileError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm import Network
from bnmind.pgm.files import read_model, read_network
from bnmind.pgm.formats import from_pgmpy, quiet_pgmpy
from bnmind.pgm.formats.bif import from_bif
from tests.pgm.faults import require_fault
from tests.pgmpy_bif import bif_reader
from tests.wheel import bif_text

QUICK = ("cancer", "asia", "sachs", "child", "alarm")
"""The rows of all 24 files are read by a parser of its own in `junction/test_wheel.py`."""

CELLS = 2**22


def read(text: str) -> Network:
    return from_bif(text, max_cells=CELLS).network


def table(network: Network, name: str) -> Floats:
    values: Floats = np.real(network.cpd(name).to_factor().values)
    return values


def as_pgmpy_reads(text: str) -> Network:
    with quiet_pgmpy():
        return from_pgmpy(bif_reader()(string=text).get_model())


@pytest.mark.parametrize("name", QUICK)
def test_the_wheels_networks_are_those_that_pgmpy_reads(name: str) -> None:
    text = bif_text(name)
    found, expected = read(text), as_pgmpy_reads(text)
    assert {v.name for v in found.variables} == {v.name for v in expected.variables}
    for cpd in expected.cpds:
        again = found.cpd(cpd.variable.name)
        assert again.scope == cpd.scope
        np.testing.assert_allclose(
            table(found, cpd.variable.name), table(expected, cpd.variable.name), rtol=0, atol=1e-12
        )


HEAD = """network rain {
  property author = "A. Nonymous; { } // she";
}
variable A { type discrete [ 2 ] { x, y }; }
variable B {
  property position = (73, 165) ;
  type discrete[3] { <5 5-12, "12 or more" };
}
probability ( A ) { table 0.25, 0.75; }
"""


@pytest.mark.parametrize(
    "rows",
    [
        "(x) .1, .2, .7; (y) 0.5, 0.25, 0.25;",
        "(y) 0.5, 0.25, 0.25;\n(x) 1e-1 2E-1 7.0e-1;",
        "default 0.1, 0.2, 0.7; (y) 0.5, 0.25, 0.25;",
        '("y") 0.5, 0.25, 0.25; /* the rest */ default 0.1, 0.2, 0.7; // done\n',
        "property a = b; table 0.1, 0.5, 0.2, 0.25, 0.7, 0.25;",
    ],
)
@pytest.mark.parametrize("scope", ["B | A", "B, A", '"B" "A"', "B|A"])
def test_tables_in_every_form(scope: str, rows: str) -> None:
    network = read(f"{HEAD}probability ( {scope} ) {{ {rows} }}")
    assert network.variable("B").states == ("<5", "5-12", "12 or more")
    np.testing.assert_array_equal(table(network, "B"), [[0.1, 0.5], [0.2, 0.25], [0.7, 0.25]])


def test_a_whole_table_has_the_child_slowest_as_in_pgmpy() -> None:
    text = bif_text("asia")
    start = text.index("probability ( dysp")
    whole = (
        "probability ( dysp | bronc, either ) {\n  table 0.9, 0.8, 0.7, 0.1, 0.1, 0.2, 0.3, 0.9;\n}"
    )
    text = text[:start] + whole + "\n"
    np.testing.assert_array_equal(table(read(text), "dysp"), table(as_pgmpy_reads(text), "dysp"))
    assert table(read(text), "dysp")[0, 0].tolist() == [0.9, 0.8]


def test_the_network_may_have_properties_of_any_kind() -> None:
    assert read(
        f"network {{ property x = {{}}; property y; }} {HEAD[HEAD.index('variable A') :]}"
        "probability (B) { table .5 .25 .25; }"
    ).variables


def test_tables_may_precede_their_variables() -> None:
    lines = bif_text("cancer").split("}\n")
    last = "}\n".join(lines[::-1]).removeprefix("}\n") + "}\n"
    np.testing.assert_array_equal(
        table(read(last), "Cancer"), table(read(bif_text("cancer")), "Cancer")
    )


GOOD = f"{HEAD}probability ( B | A ) {{\n  (x) 0.1, 0.2, 0.7;\n  (y) 0.5, 0.25, 0.25;\n}}\n"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("variable B", "varable B", (5, 1), "'variable' or 'probability', got 'varable'"),
        ("[3]", "[4]", (7, 17), "as declared, '4', got 3"),
        ("[3]", "[999999999]", (7, 17), "as declared, '999999999', got 3"),
        ("type discrete[3]", "type continuous", (7, 3), "'type discrete"),
        ("type discrete[3] { <5 5-12, \"12 or more\" };", "", (8, 1), "the type of 'B'"),
        ("{ <5 5-12", "{ <5 5-12, <5", (7, 17), "as many states"),
        ('5-12, "12 or more"', "<5, <5", (5, 10), "distinct states"),
        ("variable B", "variable A", (5, 10), "distinct variables, got 'A' twice"),
        ("variable B", "variable B\x1b", (5, 10), "control characters"),
        ("( B | A )", "( B | C )", (10, 1), "declared variables, got 'C'"),
        ("( B | A )", "( B | A, A )", (10, 1), "distinct variables in the table of B"),
        ("( B | A )", "( A | B )", (10, 1), "one table of A, got another"),
        ("( B | A )", "( )", (10, 15), "the name of a variable"),
        ("( A )", "( A | B )", (9, 1), "no cycle"),
        ("(y)", "(z)", (12, 4), "a state of A, got 'z'"),
        ("(y)", "(x)", (12, 3), "each configuration of B once"),
        ("(y)", "(y, y)", (12, 3), "states of the 1 parents of B, got 2"),
        ("  (y) 0.5, 0.25, 0.25;\n", "", (10, 1), "2 configurations of the parents of B, got 1"),
        ("(y) 0.5", "(y) 0.5, 0.5", (12, 7), "3 numbers for B, got 4"),
        ("0.5, 0.25", "0.5, often", (12, 12), "a number for B, got 'often'"),
        ("0.5, 0.25", "0.5, nan", (12, 12), "a number for B, got 'nan'"),
        ("0.5, 0.25", "0.5, 1e999", (12, 12), "a number for B, got '1e999'"),
        ("0.5, 0.25", "0.5, 1_0", (12, 12), "a number for B, got '1_0'"),
        ("0.5, 0.25", "0.5, -0.25", (12, 12), "the table of B must hold probabilities"),
        ("0.5, 0.25", "0.6, 0.25", (12, 7), "got a sum of 1.1"),
        ("0.5, 0.25", "0.5, 0.250002", (12, 7), "got a sum of 1.000002"),
        ("0.25, 0.75", "0.25, 0.7", (9, 27), "got a sum of 0.95"),
        ("0.25, 0.75", "0.25, 0.75, 0", (9, 27), "2 numbers for A, got 3"),
        ("0.25;\n}", "0.25\n}", (12, 3), "a row that ends in ';'"),
        ("0.25;\n}", "0.25;\n", (11, 3), "rows and '}'"),
        ("// she\"", "// she", (2, 3), "properties and '}'"),
        ("network", "/* network", (1, 1), "got '/*'"),
    ],
)  # fmt: skip
def test_a_fault_is_reported_with_its_place(
    tmp_path: Path, old: str, new: str, place: tuple[int, int], words: str
) -> None:
    text = GOOD.replace(old, new, 1)
    assert text != GOOD
    require_fault(tmp_path / "rain.bif", text, place, words)


def test_faults_of_several_tables_are_reported_together() -> None:
    with pytest.raises(ModelFileError) as caught:
        read(GOOD.replace("0.75", "0.76").replace("0.7;", "0.8;").replace("0.5,", "9,"))
    assert "sum of 1.01 (normalize=True corrects rounding) at line 9, column 27; " in str(
        caught.value
    )
    assert "sum of 9.5 given A=y at line 12, column 7" in str(caught.value)
    assert (caught.value.line, caught.value.column) == (9, 27)


def test_rows_near_one_are_normalized() -> None:
    network = read(GOOD.replace("0.5, 0.25, 0.25", "0.333333, 0.333333, 0.333333"))
    np.testing.assert_allclose(table(network, "B").sum(axis=0), 1, rtol=1e-15)


def test_a_table_over_forty_parents_is_refused_before_it_is_made() -> None:
    names = [f"v{i}" for i in range(41)]
    text = _default_tables(names)
    with pytest.raises(TooLargeError, match=r"in the table of v40 at line 82, column 1") as caught:
        read(text)
    assert (caught.value.needed, caught.value.budget) == (2**41 + 80, CELLS)


def _default_tables(names: list[str]) -> str:
    lines = []
    for name in names:
        given = f" | {', '.join(names[:40])}" if name == names[-1] else ""
        lines.append(f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}")
        lines.append(f"probability ( {name}{given} ) {{ default 0.5, 0.5; }}")
    return "\n".join(lines)


def test_the_callers_budget_counts(tmp_path: Path) -> None:
    path = tmp_path / "rain.bif"
    path.write_text(GOOD)
    assert len(read_network(path, max_cells=8).variables) == 2
    with pytest.raises(TooLargeError, match=rf"at most 7 cells .* line 10, column 1, in {path}"):
        read_network(path, max_cells=7)


# --- Packed files ---------------------------------------------------------------------------------


def test_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rain.bif.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    assert len(read_network(path).variables) == 2
    assert len(read_model(path).variables) == 2


@pytest.mark.parametrize("cut", [0, 5, 30])
def test_a_file_that_gzip_cannot_unpack_is_reported(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "rain.bif.gz"
    path.write_bytes(gzip.compress(GOOD.encode())[:cut])
    with pytest.raises(ModelFileError, match=str(path)):
        read_network(path)
    path.write_text(GOOD)
    with pytest.raises(ModelFileError, match="packed by gzip"):
        read_network(path)


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bnmind.pgm.formats.model_format.FILE_BYTES", 2**22)
    path = tmp_path / "rain.bif.gz"
    path.write_bytes(gzip.compress(b" " * 2**24))
    with pytest.raises(ModelFileError, match="larger than 4,194,304 bytes"):
        read_network(path)
