"""Banks of GeNIe's diagnostic networks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bnmind.adaptive import ItemBank, Session, read_bank, write_bank
from bnmind.errors import ModelFileError
from bnmind.pgm import NoisyMinimum
from bnmind.pgm.formats.declared import ModelFileWarning

CAR = """<?xml version="1.0" encoding="UTF-8"?>
<smile version="1.0" id="Car" numsamples="10000" discsamples="10000">
  <nodes>
    <cpt id="age" diagtype="observation" ranked="true">
      <state id="old"/><state id="new"/>
      <probabilities>0.3 0.7</probabilities>
    </cpt>
    <cpt id="battery" diagtype="target">
      <state id="flat" fault="true"/><state id="good"/>
      <parents>age</parents>
      <probabilities>0.2 0.8 0.05 0.95</probabilities>
    </cpt>
    <cpt id="starter" diagtype="target">
      <state id="broken" fault="true"/><state id="good"/>
      <probabilities>0.1 0.9</probabilities>
    </cpt>
    <cpt id="radio" diagtype="target">
      <state id="broken" fault="true"/><state id="good"/>
      <probabilities>0.1 0.9</probabilities>
    </cpt>
    <noisymax id="starts" diagtype="observation" ranked="true">
      <state id="no"/><state id="yes"/>
      <parents>battery starter</parents>
      <question>Does the engine
        start?</question>
      <strengths>0 1 0 1</strengths>
      <parameters>0.9 0.1 0 1 0.8 0.2 0 1 0.05 0.95</parameters>
    </noisymax>
    <cpt id="lights" diagtype="observation" ranked="true">
      <state id="dim"/><state id="bright"/>
      <parents>battery</parents>
      <cost>2.5</cost>
      <probabilities>0.9 0.1 0.2 0.8</probabilities>
    </cpt>
    <cpt id="color" diagtype="auxiliary">
      <state id="red"/><state id="blue"/>
      <probabilities>0.5 0.5</probabilities>
    </cpt>
  </nodes>
  <extensions>
    <genie version="1.0" app="GeNIe 4.0" name="A car that does not start">
      <node id="battery"><name>Car battery</name></node>
      <submodel id="s"><node id="lights"><name>Head lights</name></node></submodel>
    </genie>
  </extensions>
</smile>
"""


def written(directory: Path, text: str = CAR) -> Path:
    path = directory / "car.xdsl"
    path.write_text(text, encoding="utf-8")
    return path


def read(path: Path) -> ItemBank:
    with pytest.warns(ModelFileWarning) as caught:
        bank = read_bank(path)
    assert [str(one.message).rsplit(": ", 1)[1] for one in caught] == ["age", "radio"]
    return bank


def test_targets_are_skills_and_ranked_observations_are_items(tmp_path: Path) -> None:
    bank = read(written(tmp_path))
    assert (bank.skills, bank.labels) == (("battery", "starter"), ("Car battery", "starter"))
    assert bank.item_names == ("starts", "lights")
    assert [item.text for item in bank.items] == ["Does the engine start?", "Head lights"]
    assert [item.cost for item in bank.items] == [1.0, 2.5]
    assert bank.title == "A car that does not start"
    assert isinstance(bank.network.cpd("starts"), NoisyMinimum)
    # A noisy-max: it starts if no cause prevents it.
    starts = bank.channel("starts")[:, 1].reshape(2, 2)
    np.testing.assert_allclose(starts, 0.95 * np.outer([0.1, 1], [0.2, 1]))
    session = Session.start(bank)
    session = session.answer("starts", "no")
    assert session.posterior["battery"]["flat"] > 0.2


def test_the_bank_of_a_diagnostic_network_is_a_bank_like_others(tmp_path: Path) -> None:
    bank = read(written(tmp_path))
    for name in ("bank.json", "bank.xdsl"):
        write_bank(bank, tmp_path / name)
        again = read_bank(tmp_path / name)
        assert (again.skills, again.labels, again.items) == (bank.skills, bank.labels, bank.items)


def test_costs_beside_the_nodes_are_read(tmp_path: Path) -> None:
    costs = (
        '<observationcosts><node id="starts"><cost>4</cost></node>'
        '<node id="lights">1 2</node></observationcosts>'
    )
    text = CAR.replace("<cost>2.5</cost>", "").replace("<extensions>", f"{costs}<extensions>")
    with pytest.warns(ModelFileWarning) as caught:
        bank = read_bank(written(tmp_path, text))
    assert "count as 1: lights" in str(caught[-1].message)
    assert [item.cost for item in bank.items] == [4.0, 1.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('diagtype="target"', "", "a file of roles beside the network; got 0 targets and 3"),
        ('diagtype="observation"', "", "got 3 targets and 0 observations"),
        ("2.5</cost>", "much</cost>", "expected the cost of lights, got much"),
    ],
)
@pytest.mark.filterwarnings("ignore::bnmind.pgm.files.ModelFileWarning")
def test_other_networks_need_roles(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = written(tmp_path, CAR.replace(old, new))
    with pytest.raises(ModelFileError, match=message) as caught:
        read_bank(path)
    assert str(path) in str(caught.value)
