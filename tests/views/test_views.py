"""Views: all that is believed is in the picture and in the table, and nothing else gets in."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind._messages import visible
from bnmind.adaptive import Design, ItemBank, Session
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction import compile_plan
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from bnmind.views import BeliefView, belief_view, network_view, side_by_side
from bnmind.views.draw import columns_of, percent, scaled, shorten, text_width
from bnmind.views.view import MOST_DRAWN, bar
from tests.networks import networks
from tests.test_imports import loaded_by

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {f"{SVG}{tag}" for tag in ("svg", "g", "title", "rect", "path", "text")}
ATTRIBUTES = {
    *("width", "height", "viewBox", "role", "aria-label", "x", "y", "rx", "d", "transform"),
    *("font-family", "font-size", "font-weight", "text-anchor", "style", "opacity"),
    *("fill", "stroke", "stroke-width", "stroke-dasharray", "data-share"),
    *("data-variable", "data-state"),
}
RAIN, WET = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))


def lawn() -> Network:
    return Network(
        (
            TabularCPD(RAIN, (), np.array([0.8, 0.2])),
            TabularCPD(WET, (RAIN,), np.array([[0.9, 0.1], [0.1, 0.9]])),
        )
    )


def believed(findings: Mapping[str, str]) -> BeliefView:
    network = lawn()
    asked = [[v.name] for v in network.variables if v.name not in findings]
    plan = compile_plan(network, evidence=findings, targets=asked)
    return belief_view(network, plan.run(findings), evidence=findings)


def parsed(svg: str) -> Element:
    """Return the picture, having checked that it is harmless in any page."""
    root = ElementTree.fromstring(svg)
    for element in root.iter():
        assert element.tag in TAGS
        assert set(element.attrib) <= ATTRIBUTES
    return root


def boxes(root: Element) -> dict[str, Element]:
    """Return the groups of the boxes by the first line of their tooltips, the name."""
    found = {}
    for group in root.iter(f"{SVG}g"):
        title = group.find(f"{SVG}title")
        if title is not None and title.text is not None:
            found[re.split(r" = |, |\n", title.text)[0]] = group
    return found


def texts(element: Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def shares(box: Element) -> Iterator[tuple[float, float]]:
    """Yield what each bar says, and its width as a share of the track behind it."""
    track = np.nan
    for rect in list(box.iter(f"{SVG}rect"))[1:]:
        if "data-share" in rect.attrib:
            yield float(rect.attrib["data-share"]), float(rect.attrib["width"]) / track
        else:
            track = float(rect.attrib["width"])


def distribution(rng: np.random.Generator, size: int) -> Floats:
    values: Floats = rng.dirichlet(np.full(size, 0.5))
    return values


@st.composite
def views(draw: st.DrawFn) -> BeliefView:
    """Beliefs on any network: on all or some variables, given any evidence."""
    network = draw(networks())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    marginals: dict[str, Floats] = {}
    evidence: dict[str, str | Floats] = {}
    for v in network.variables:
        kind = draw(st.sampled_from(["belief", "belief", "observed", "uncertain", "silent"]))
        if kind in ("belief", "uncertain"):
            marginals[v.name] = distribution(rng, v.n_states)
        if kind == "observed":
            evidence[v.name] = draw(st.sampled_from(v.states))
        if kind == "uncertain":
            evidence[v.name] = rng.random(v.n_states)
    return belief_view(network, marginals, evidence=evidence)


@given(views())
def test_every_variable_and_state_is_in_the_picture(view: BeliefView) -> None:
    root = parsed(view.svg())
    found = boxes(root)
    assert set(found) == {v.name for v in view.network.variables}
    for v in view.network.variables:
        shown, values = texts(found[v.name]), view.marginals.get(v.name)
        assert v.name in shown
        if values is None:
            assert not list(shares(found[v.name]))
            continue
        assert set(v.states) <= set(shown)
        assert {percent(p) for p in values.tolist()} <= set(shown)
        for said, width in shares(found[v.name]):
            assert width == pytest.approx(said, abs=0.01)
        drawn = [said for said, _ in shares(found[v.name])]
        np.testing.assert_allclose(drawn, values[values > 0], rtol=1e-5)
    arcs = sum(len(cpd.parents) for cpd in view.network.potentials if not isinstance(cpd, Factor))
    assert len(list(root.iter(f"{SVG}path"))) == 2 * arcs
    assert view.svg() == view.svg()


@given(views())
def test_evidence_is_marked_by_more_than_color(view: BeliefView) -> None:
    for name, box in boxes(parsed(view.svg())).items():
        rect = box.find(f"{SVG}rect")
        assert rect is not None
        pen = float(rect.attrib["stroke-width"])
        finding = view.evidence.get(name)
        if isinstance(finding, str):
            assert pen > 2
            assert "stroke-dasharray" not in rect.attrib
            assert f"= {finding}" in texts(box)
            bold = [t.text for t in box.iter(f"{SVG}text") if t.get("font-weight") == "700"]
            assert bold == [f"= {finding}", finding]
        elif finding is not None:
            assert pen > 1
            assert "stroke-dasharray" in rect.attrib
            assert "≈" in texts(box)
        else:
            assert pen == 1


def other_belief(view: BeliefView, seed: int) -> BeliefView:
    rng = np.random.default_rng(seed)
    marginals = {v.name: distribution(rng, v.n_states) for v in view.network.variables}
    return belief_view(view.network, marginals)


@given(views(), st.integers(0, 9))
def test_side_by_side_shows_both(view: BeliefView, seed: int) -> None:
    other = other_belief(view, seed)
    both = side_by_side(view, other, titles=("one", "two"))
    root = parsed(both.svg())
    assert {"one", "two"} <= set(texts(root))
    for name, box in boxes(root).items():
        beliefs = [b.marginals[name] for b in (view, other) if name in b.marginals]
        said = [p for row in np.stack(beliefs, axis=1).tolist() for p in row if p > 0]
        np.testing.assert_allclose([p for p, _ in shares(box)], said, rtol=1e-5)
        for p, width in shares(box):
            assert width == pytest.approx(p, abs=0.01)
        finding = view.evidence.get(name)
        if isinstance(finding, str):
            assert f"= {finding} (one)" in [text.replace("  ", " ") for text in texts(box)]
        elif len(beliefs) == 2:
            moved = float(np.abs(beliefs[0] - beliefs[1]).sum() / 2)
            assert (f"Δ {percent(moved)}" in texts(box)) == (moved >= 0.0005)


def test_unchanged_boxes_are_pale() -> None:
    network = lawn()
    same = {"rain": [0.5, 0.5]}
    first = belief_view(network, {**same, "wet": [0.5, 0.5]})
    second = belief_view(network, {**same, "wet": [0.4, 0.6]})
    found = boxes(parsed(side_by_side(first, second).svg()))
    assert "opacity" in found["rain"].attrib
    assert "opacity" not in found["wet"].attrib
    assert "Δ 10.0%" in texts(found["wet"])


HOSTILE = (
    "<script>alert(1)</script>",
    '"><svg onload="x">',
    "]]>&amp;",
    "\x00\x1b[2J",
    "\u202eturned",
    "日本語",
    "",
    "-->",
)


any_text = st.text(st.characters(codec="utf-8"))


@given(st.lists(st.sampled_from(HOSTILE) | any_text, min_size=2, unique=True, max_size=6))
def test_names_are_shown_as_the_texts_they_are(states: list[str]) -> None:
    variable = Variable("X", tuple(states))
    certain = np.eye(len(states))[0]
    network = Network((TabularCPD(variable, (), certain),))
    view = belief_view(network, {}, evidence={"X": states[0]})
    both = side_by_side(view, view, titles=(states[0], states[1]))
    for svg in (view.svg(), network_view(network).svg(), both.svg()):
        assert svg.encode()
        root = parsed(svg)
        said = "\n".join(title.text or "" for title in root.iter(f"{SVG}title"))
        for state in states:
            assert visible(state) in said.replace("\r", "\n")
    for text in (view.text(), both.text(), network_view(network).text()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text)


def test_long_names_are_shortened_and_complete_in_the_tooltip() -> None:
    name = "alignment_error_rate_of_the_instruction_fetch_unit_2"
    variable = Variable(name, ("a state with a name that is much too long", "no"))
    svg = belief_view(
        Network((TabularCPD(variable, (), np.array([0.25, 0.75])),)), {name: [0.25, 0.75]}
    ).svg()
    root = parsed(svg)
    shown = texts(boxes(root)[name])
    assert shown[0].startswith("alignment")
    assert shown[0].endswith("it_2")
    assert "…" in shown[1]
    assert f"{name}\n{variable.states[0]}: 25.0%\nno: 75.0%" in {
        title.text for title in root.iter(f"{SVG}title")
    }
    assert float(root.attrib["width"]) < 300


def test_of_many_states_the_most_probable_are_shown_in_their_order() -> None:
    variable = Variable.of_integers("X", range(30))
    values = np.array([(i * 7) % 30 + 1.0 for i in range(30)])
    values /= values.sum()
    view = belief_view(Network((TabularCPD(variable, (), values),)), {"X": values})
    box = boxes(parsed(view.svg(max_states=5)))["X"]
    assert texts(box)[1::2] == ["4", "8", "17", "21", "… 26 more"]
    kept = values[[4, 8, 17, 21]]
    drawn = [share for share, _ in shares(box)]
    np.testing.assert_allclose(drawn, [*kept, 1 - kept.sum()], rtol=1e-5)
    observed = belief_view(view.network, {}, evidence={"X": "29"})
    assert "= 29" in texts(boxes(parsed(observed.svg(max_states=5)))["X"])


@given(views(), st.integers(20, 140), st.booleans())
def test_tables_fit_and_show_every_state(view: BeliefView, width: int, pair: bool) -> None:
    shown = side_by_side(view, other_belief(view, 1)) if pair else view
    text = shown.text(width=width)
    lines = text.splitlines()
    assert all(columns_of(line) <= max(width, 40) for line in lines)
    assert lines == [line.rstrip() for line in lines]
    rows = 2 * pair // 2
    for v in view.network.variables:
        if pair or v.name in view.marginals:
            finding = view.evidence.get(v.name)
            rows += 1 if isinstance(finding, str) and not pair else v.n_states
    assert len(lines) == rows
    marks = sum(isinstance(finding, str) for finding in view.evidence.values())
    assert sum(" = " in line for line in lines) == marks


def test_a_table() -> None:
    assert believed({"wet": "yes"}).text(width=40).splitlines() == [
        "rain   no   █████▉               30.77 %",
        "       yes  █████████████▏       69.23 %",
        "wet  = yes  ███████████████████ 100    %",
    ]
    assert believed({}).text(width=40, names=["wet"]).splitlines() == [
        "wet  no   ██████████████████▌       74 %",
        "     yes  ██████▌                   26 %",
    ]
    assert str(believed({})) == believed({}).text(width=80)


def test_a_pair_of_beliefs_as_a_table() -> None:
    both = side_by_side(believed({}), believed({"wet": "yes"}))
    assert both.text(width=50).splitlines() == [
        "           before             after",
        "rain no    ████████▊   80 %   ███▍         30.77 %",
        "     yes   ██▎         20 %   ███████▋     69.23 %",
        "wet  no    ████████▏   74 %                 0    %",
        "     yes   ██▉         26 % = ███████████ 100    %",
    ]


@given(st.floats(0, 1), st.integers(1, 30))
def test_bars_are_as_long_as_their_share(share: float, columns: int) -> None:
    drawn = bar(share, columns)
    assert len(drawn) == columns
    eighths = sum(8 if c == "█" else " ▏▎▍▌▋▊▉".index(c) for c in drawn)
    assert eighths == max(round(8 * columns * share), share > 0)


def test_a_posterior_with_joint_targets_is_shown_variable_by_variable() -> None:
    network = lawn()
    posterior = compile_plan(network, targets=[["rain", "wet"]]).run()
    view = belief_view(network, posterior)
    np.testing.assert_allclose(view.marginals["wet"], [0.74, 0.26], atol=1e-12)
    factors = {name: posterior.joint(name) for name in ("rain", "wet")}
    assert belief_view(network, factors).svg() == view.svg()


@pytest.mark.parametrize("seen", [True, 1, 1.0, np.int64(1), "True"])
def test_a_finding_is_read_as_a_query_reads_it(seen: object) -> None:
    smoker, ill = Variable("Smoker", ("False", "True")), Variable("ill", ("no", "yes"))
    tables = (np.array([0.7, 0.3]), np.array([0.9, 0.1]))
    network = Network((TabularCPD(smoker, (), tables[0]), TabularCPD(ill, (), tables[1])))
    view = belief_view(network, {"ill": [0.9, 0.1]}, evidence={"Smoker": seen, "ill": None})
    assert dict(view.evidence) == {"Smoker": "True"}
    text = belief_view(network, {"ill": [0.9, 0.1]}, evidence={"Smoker": "True"}).text()
    assert view.text() == text
    assert "Smoker = True" in text
    assert "≈" not in view.svg()
    assert "≈" not in side_by_side(view, view).svg()


def test_views_are_values() -> None:
    view = believed({"wet": "yes"})
    copy = pickle.loads(pickle.dumps(view))
    assert copy.svg() == view.svg()
    assert not copy.marginals["rain"].flags.writeable
    both = side_by_side(view, copy)
    assert pickle.loads(pickle.dumps(both)).svg() == both.svg()
    assert repr(view) == "BeliefView(2 of 2 variables, evidence on 1)"
    assert view._repr_svg_() == scaled(view.svg())
    assert both._repr_svg_() == scaled(both.svg())


@pytest.mark.parametrize(
    ("marginals", "evidence", "words"),
    [
        ({"rain": [0.5, 0.6]}, {}, ["rain", "sum to one"]),
        ({"rain": [-0.5, 1.5]}, {}, ["rain", "sum to one"]),
        ({"rain": [1.0], "wet": [np.nan, 1]}, {}, ["2 probabilities of rain", "wet"]),
        ({"rain": [0.5, 0.5]}, {"rain": "yes"}, ["certain of 'yes'"]),
        ({}, {"rain": [0.1]}, ["likelihood"]),
    ],
)
def test_impossible_beliefs_raise(
    marginals: Mapping[str, list[float]], evidence: Mapping[str, object], words: list[str]
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        belief_view(lawn(), marginals, evidence=evidence)
    assert all(word in str(caught.value) for word in words)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="variable"):
        belief_view(lawn(), {"snow": [0.5, 0.5]})
    with pytest.raises(UnknownNameError, match="state of rain"):
        belief_view(lawn(), {}, evidence={"rain": "maybe"})
    with pytest.raises(UnknownNameError, match="variable"):
        believed({}).text(names=["snow"])


def test_beliefs_on_different_networks_are_not_compared() -> None:
    apart = Network(
        (TabularCPD(RAIN, (), np.array([0.5, 0.5])), TabularCPD(WET, (), np.array([0.5, 0.5])))
    )
    with pytest.raises(InvalidArgumentError, match="they differ at wet"):
        side_by_side(believed({}), belief_view(apart, {}))
    with pytest.raises(InvalidArgumentError, match="titles to be 2 values, each text, got"):
        side_by_side(believed({}), believed({}), titles=["one"])


def test_products_of_factors_have_tables_and_networks_among_them_pictures() -> None:
    network = lawn()
    model = FactorModel(network.potentials)
    marginals = {"rain": [0.8, 0.2], "wet": [0.74, 0.26]}
    assert belief_view(model, marginals).svg() == belief_view(network, marginals).svg()
    product = belief_view(FactorModel((Factor((RAIN,), np.ones(2)),)), {"rain": [0.5, 0.5]})
    assert len(product.text().splitlines()) == 2
    with pytest.raises(InvalidArgumentError, match="Bayesian network to draw"):
        product.svg()


@given(networks())
def test_a_network_by_itself_shows_states_and_no_numbers(network: Network) -> None:
    root = parsed(network._repr_svg_())
    assert network._repr_svg_() == scaled(network_view(network).svg())
    for v in network.variables:
        assert texts(boxes(root)[v.name]) == [v.name, *v.states]
    lines = network_view(network).text(width=300).splitlines()
    assert [line.split() for line in lines[1:]] == [
        [cpd.variable.name, *cpd.variable.states, *(v.name for v in cpd.parents)]
        for cpd in network.cpds
    ]


def chain(n: int) -> Network:
    variables = [Variable(f"X{i}", ("no", "yes")) for i in range(n)]
    cpds = [TabularCPD(variables[0], (), np.array([0.5, 0.5]))]
    for parent, child in pairwise(variables):
        cpds.append(TabularCPD(child, (parent,), np.full((2, 2), 0.5)))
    return Network(tuple(cpds))


def test_a_large_network_is_summed_up_in_a_box() -> None:
    assert len(boxes(parsed(chain(MOST_DRAWN)._repr_svg_()))) == MOST_DRAWN
    root = parsed(chain(MOST_DRAWN + 1)._repr_svg_())
    assert texts(root)[:2] == ["Bayesian network", "101 variables, 100 arcs"]
    assert len(boxes(parsed(network_view(chain(300)).svg()))) == 300


def test_networks_load_views_only_when_they_are_shown() -> None:
    script = "import bnmind.pgm, sys\nassert not any('views' in name for name in sys.modules)"
    assert "bnmind" in loaded_by(script)


@given(st.text(), st.floats(20, 200))
def test_shortened_texts_fit(text: str, room: float) -> None:
    short = shorten(visible(text), room, 11.0)
    assert text_width(short, 11.0) <= room
    assert "…" in short or short == visible(text)


def test_the_posterior_of_a_session_is_shown_on_its_network() -> None:
    bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], skill_names=["S", "T"])
    session = Session.start(Design(bank)).answer("item_1", 1)
    view = belief_view(bank.network, session.posterior)
    assert view.marginals["S"].tolist() == list(session.posterior["S"].values())
    assert "S" in view.text()
    with pytest.raises(UnknownNameError, match="state of S among 0, 1; got 'junk'"):
        belief_view(bank.network, {"S": {"junk": 1.0}})


def test_a_picture_of_some_variables_says_what_it_leaves_out() -> None:
    network = long_chain(150)
    names = network.neighborhood("X70")
    root = parsed(network_view(network).svg(names=names))
    found = boxes(root)
    assert set(found) == set(names)
    outside = [v for v in network.parents("X69") if v not in names]
    assert f"parents not shown: {', '.join(outside)}" in "".join(found["X69"].itertext())
    assert "1↑" in texts(found["X69"])
    assert "not shown" not in "".join(found["X70"].itertext())
    assert "3 of the 150 variables" in root.attrib["aria-label"]
    view = belief_view(network, {"X70": [0.4, 0.6]}, evidence={"X69": "1"})
    assert set(boxes(parsed(view.svg(names=["X69", "X70"])))) == {"X69", "X70"}
    with pytest.raises(UnknownNameError, match="X700"):
        view.svg(names=["X700"])
    with pytest.raises(InvalidArgumentError, match="at least one variable to draw"):
        view.svg(names=[])


def long_chain(n: int) -> Network:
    variables = [Variable(f"X{i}", ("0", "1")) for i in range(n)]
    step = np.array([[0.7, 0.2], [0.3, 0.8]])
    rest = (TabularCPD(v, (u,), step) for u, v in pairwise(variables))
    return Network((TabularCPD(variables[0], (), np.array([0.4, 0.6])), *rest))
