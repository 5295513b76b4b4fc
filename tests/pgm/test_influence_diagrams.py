"""Influence diagrams are refused by the names of their nodes, or read without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm import Network
from bnmind.pgm.files import read, read_model, read_network, read_with_report
from bnmind.pgm.formats.declared import ModelFileWarning

XDSL = """<smile version="1.0" id="venture"><nodes>
<cpt id="Economy"><state id="Up"/><state id="Down"/><probabilities>0.2 0.8</probabilities></cpt>
<cpt id="Success"><state id="no"/><state id="yes"/><parents>Economy Invest</parents>
  <probabilities>0.1 0.9 1 0 0.6 0.4 1 0</probabilities></cpt>
<decision id="Invest"><state id="now"/><state id="never"/></decision>
<decision id="Dine"><state id="out"/><state id="in"/><parents>Success</parents></decision>
<utility id="Gain"><parents>Success</parents><utilities>-5000 10000</utilities></utility>
<utility id="Food"><parents>Dine</parents><utilities>3 1</utilities></utility>
<mau id="All"><parents>Gain Food</parents><weights>1 2</weights></mau>
</nodes></smile>
"""
NET = """net {}
node Economy { states = ("Up" "Down"); }
node Success { states = ("no" "yes"); }
decision Invest { states = ("now" "never"); }
decision Dine { states = ("out" "in"); }
utility Gain { label = "money"; }
utility Food { }
utility All { }
potential (Economy) { data = (0.2 0.8); }
potential (Success | Economy Invest) { data = (((0.1 0.9)(1 0))((0.6 0.4)(1 0))); }
potential (Dine | Success) { }
potential (Gain | Success) { data = (-5000 10000); }
potential (Food | Dine) { data = (3 1); }
"""
DNE = """bnet venture {
node Economy { kind = NATURE; states = (Up, Down); probs = (0.2, 0.8); };
node Success { kind = NATURE; states = (no, yes); parents = (Economy, Invest);
  probs = (((0.1, 0.9), (1, 0)), ((0.6, 0.4), (1, 0))); };
node Invest { kind = DECISION; states = (now, never); };
node Dine { kind = DECISION; states = (out, in); parents = (Success); };
node Gain { kind = UTILITY; discrete = FALSE; measure = RATIO; chance = DETERMIN;
  parents = (Success); functable = (-5000, 10000); };
node Food { kind = UTILITY; parents = (Dine); functable = (3, 1); };
node All { kind = UTILITY; parents = (); functable = (1); };
};
"""
XMLBIF = """<BIF VERSION="0.3"><NETWORK><NAME>venture</NAME>
<VARIABLE><NAME>Economy</NAME><OUTCOME>Up</OUTCOME><OUTCOME>Down</OUTCOME></VARIABLE>
<VARIABLE><NAME>Success</NAME><OUTCOME>no</OUTCOME><OUTCOME>yes</OUTCOME></VARIABLE>
<VARIABLE TYPE="decision"><NAME>Invest</NAME><OUTCOME>now</OUTCOME><OUTCOME>never</OUTCOME>
</VARIABLE>
<VARIABLE TYPE="decision"><NAME>Dine</NAME><OUTCOME>out</OUTCOME><OUTCOME>in</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>Gain</NAME><OUTCOME>0</OUTCOME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>Food</NAME></VARIABLE>
<VARIABLE TYPE="utility"><NAME>All</NAME></VARIABLE>
<DEFINITION><FOR>Economy</FOR><TABLE>0.2 0.8</TABLE></DEFINITION>
<DEFINITION><FOR>Success</FOR><GIVEN>Economy</GIVEN><GIVEN>Invest</GIVEN>
<TABLE>0.1 0.9 1 0 0.6 0.4 1 0</TABLE></DEFINITION>
<DEFINITION><FOR>Gain</FOR><GIVEN>Success</GIVEN><TABLE>-5000 10000</TABLE></DEFINITION>
</NETWORK></BIF>
"""
FILES = {"v.xdsl": XDSL, "v.net": NET, "v.dne": DNE, "v.xmlbif": XMLBIF, "v.bifxml": XMLBIF}


@pytest.fixture(params=FILES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name = str(request.param)
    path = tmp_path / name
    path.write_text(FILES[name])
    return path


def test_the_error_names_every_decision_and_utility(path: Path) -> None:
    for reads in (read, read_network, read_model, read_with_report):
        with pytest.raises(ModelFileError, match=r"at line \d+, column \d+") as caught:
            reads(path)
        for name, kind in (("Invest", "decision"), ("Dine", "decision"), ("All", "utility")):
            assert f"'{name}' is a {kind} node" in str(caught.value)
        assert "(drop_decisions=True reads its chance nodes)" in str(caught.value)


def test_the_chance_nodes_can_be_read_alone(path: Path) -> None:
    report = read_with_report(path, drop_decisions=True)
    network = report.model
    assert isinstance(network, Network)
    assert {v.name for v in network.variables} == {"Economy", "Success", "Invest"}
    assert network.cpd("Invest").to_factor().values.tolist() == [0.5, 0.5]
    found = network.query("Success", evidence={"Invest": "now"})["Success"]["yes"]
    assert found == pytest.approx(0.2 * 0.9 + 0.8 * 0.4)
    (note,) = report.notes
    assert "'Gain' is a utility node" in note
    assert note.endswith("uniform until they are set: Invest")
    with pytest.warns(ModelFileWarning, match="uniform until they are set: Invest"):
        assert read_model(path, drop_decisions=True).variables


def test_other_networks_are_read_as_before() -> None:
    path = "models/diagnosis/asia.xdsl"
    assert repr(read(path, drop_decisions=True)) == repr(read(path))


def test_influence_diagrams_of_pyagrum_are_refused(tmp_path: Path) -> None:
    gum = pytest.importorskip("pyagrum")
    diagram = gum.fastID("rain->$cost<-*umbrella")
    with pytest.raises(InvalidModelError, match="expected a pyAgrum BayesNet, got InfluenceDia"):
        Network.from_pyagrum(diagram)
    path = tmp_path / "theirs.bifxml"
    diagram.saveBIFXML(str(path))
    with pytest.raises(ModelFileError, match="'umbrella' is a decision node"):
        read(path)
    assert [v.name for v in read_with_report(path, drop_decisions=True).model.variables] == ["rain"]
