"""A picture in a notebook in which clicks set evidence: its Python side."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from bnmind.errors import InvalidArgumentError, MissingLibraryError, UnknownNameError
from bnmind.junction import compile_model, compile_plan
from bnmind.pgm import Network, TabularCPD, Variable
from bnmind.views import clickable
from bnmind.views.view import EvidencePicture, _widget_class

RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
NETWORK = Network(
    (
        TabularCPD(RAIN, (), np.array([0.8, 0.2])),
        TabularCPD(
            WET, (RAIN,), np.array([[1.0, 0.1], [0.0, 0.9]])
        ),  # it is never wet without rain
    )
)


def _picture(**evidence: str) -> EvidencePicture:
    return EvidencePicture(compile_model(NETWORK), NETWORK, evidence)


def test_clicks_set_change_and_take_back_evidence() -> None:
    start = _picture()
    wet = start.clicked("wet", "no")
    assert (dict(wet.evidence or {}), dict(start.evidence or {})) == ({"wet": "no"}, {})
    assert dict(wet.clicked("wet", "yes").evidence or {}) == {"wet": "yes"}
    assert dict(wet.clicked("wet", "no").evidence or {}) == {}
    plan = compile_plan(NETWORK, evidence=["wet"], targets=[["rain"]])
    expected = plan.run({"wet": "no"}).marginals["rain"]
    assert wet.view.marginals["rain"] == pytest.approx(expected)
    assert wet.message == "Evidence: wet = no. Its probability is 0.82."
    assert "Click a state" in start.message


def test_all_variables_can_be_observed() -> None:
    assert "0.18" in _picture(rain="yes", wet="yes").message


@pytest.mark.parametrize(("variable", "state"), [("snow", "no"), ("rain", "maybe")])
def test_what_is_not_there_cannot_be_clicked(variable: str, state: str) -> None:
    with pytest.raises(UnknownNameError):
        _picture().clicked(variable, state)


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _widget_class.cache_clear()
    with pytest.raises(MissingLibraryError, match=r"bnmind\[notebook\]"):
        clickable(NETWORK)


@pytest.fixture(scope="module")
def made() -> Any:
    pytest.importorskip("anywidget")
    _widget_class.cache_clear()
    return clickable(NETWORK)


@pytest.fixture
def widget(made: Any) -> Any:
    made.receive({"clear": True})
    return made


def test_a_message_of_the_browser_is_a_click(widget: Any) -> None:
    before = widget.svg
    widget.receive({"variable": "wet", "state": "yes"})
    assert widget.evidence == {"wet": "yes"}
    assert widget.picture.view.marginals["rain"].tolist() == [0, 1]
    assert widget.svg != before
    assert 'data-variable="wet"' in widget.svg
    widget.receive({"clear": True})
    assert (widget.evidence, widget.svg) == ({}, before)


def test_evidence_that_contradicts_is_named_and_stays_out(widget: Any) -> None:
    widget.receive({"variable": "rain", "state": "no"})
    widget.receive({"variable": "wet", "state": "yes"})
    assert widget.evidence == {"rain": "no"}
    assert "contradict each other: rain = no, wet = yes." in widget.message


@pytest.mark.parametrize("content", [{}, None, {"variable": "wet"}, {"variable": 1, "state": []}])
def test_odd_messages_change_nothing(content: Any, widget: Any) -> None:
    widget.receive(content)
    assert widget.evidence == {}
    assert "cannot be clicked" in widget.message


def test_evidence_can_be_set_in_python(widget: Any) -> None:
    widget.evidence = {"wet": "no"}
    assert widget.picture.evidence == {"wet": "no"}
    with pytest.raises(UnknownNameError):
        widget.evidence = {"wet": "maybe"}
    assert widget.evidence == {"wet": "no"}


def test_bad_arguments_are_refused_before_a_widget_is_made() -> None:
    with pytest.raises(InvalidArgumentError):
        clickable("network")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError):
        clickable(NETWORK, {"snow": "no"})
