"""Questions about networks: the answers are those of the library, and files stay out."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from bnmind.junction import compile_model
from bnmind.pgm.files import read_network
from bnmind.web.networks import Model, opened_network
from tests.web.clients import asked, client, refused

BROWSER = client()
CHAIN = """network c {}
variable rain { type discrete [ 2 ] { no, yes }; }
variable wet { type discrete [ 2 ] { no, yes }; }
probability ( rain ) { table 0.8, 0.2; }
probability ( wet | rain ) { (no) 0.9, 0.1; (yes) 0.0, 1.0; }
"""
MODEL = {"file": "garden.bif", "text": CHAIN}


def test_evidence_moves_the_distributions() -> None:
    before = asked(BROWSER, "/api/network/query", {"model": MODEL})
    assert [one["posterior"] for one in before["variables"]] == [
        pytest.approx([0.8, 0.2]),
        pytest.approx([0.72, 0.28]),
    ]
    assert before["words"] == ""
    after = asked(BROWSER, "/api/network/query", {"model": MODEL, "evidence": {"wet": "yes"}})
    rain, wet = after["variables"]
    assert rain["posterior"] == pytest.approx([0.08 / 0.28, 0.2 / 0.28])
    assert wet["posterior"] == [0, 1]
    assert wet["parents"] == ["rain"]
    assert after["words"] == "The evidence has the probability 28 %."


def test_uncertain_evidence_is_a_likelihood(tmp_path: Path) -> None:
    evidence: dict[str, Any] = {"wet": {"no": 0.2, "yes": 1.0}}
    answer = asked(BROWSER, "/api/network/query", {"model": MODEL, "evidence": evidence})
    path = tmp_path / "garden.bif"
    path.write_text(CHAIN, encoding="utf-8")
    found = compile_model(read_network(path)).posterior(["rain", "wet"], evidence)
    for one in answer["variables"]:
        assert one["posterior"] == pytest.approx([found[one["name"]][s] for s in one["states"]])


def test_what_to_observe_next_and_what_explains_best() -> None:
    ranking = asked(BROWSER, "/api/network/rank", {"model": MODEL, "about": ["rain"]})
    assert [row["question"] for row in ranking["rows"]] == ["wet"]
    assert 0 < ranking["rows"][0]["information"] < ranking["entropy"]
    wet = {"model": MODEL, "evidence": {"wet": "yes"}}
    best = asked(BROWSER, "/api/network/explain", wet)
    assert best["states"] == {"rain": "yes"}
    assert best["probability_given_evidence"] == pytest.approx(0.2 / 0.28)


def test_the_picture_needs_no_inline_style() -> None:
    svg = asked(BROWSER, "/api/network/picture", {"model": MODEL})["svg"]
    assert svg.startswith("<svg ")
    assert "style=" not in svg
    assert "<script" not in svg


def test_names_in_a_picture_are_only_text() -> None:
    evil = CHAIN.replace("rain", '"<script>"').replace("wet", "w")
    answer = BROWSER.post(
        "/api/network/picture", json={"model": {"file": "e.bif", "text": evil}, "evidence": {}}
    )
    assert "<script" not in answer.text


def test_the_networks_that_need_no_file() -> None:
    names = BROWSER.get("/api/network/models").json()
    assert {"asia", "alarm", "mastermind-2"} <= set(names)
    answer = asked(BROWSER, "/api/network/query", {"model": {"name": "asia"}})
    assert len(answer["variables"]) == 8
    page = BROWSER.get("/networks").text
    assert all(f'value="{name}"' in page for name in names)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"model": {"name": "../x"}}, "one of asia"),
        ({"model": {}}, "give the name"),
        ({"model": {"name": "asia", **MODEL}}, "give the name"),
        ({"model": {"file": "/etc/passwd", "text": ""}}, "ending in"),
        ({"model": {"file": "a.bif", "text": "hello"}}, "line 1"),
        ({"model": MODEL, "evidence": {"snow": "yes"}}, "snow"),
        ({"model": MODEL, "evidence": {"wet": "maybe"}}, "state of wet"),
        (
            {"model": MODEL, "evidence": {"rain": "yes", "wet": "no"}},
            "contradict each other: rain = yes, wet = no",
        ),
    ],
)
def test_impossible_questions_are_refused(question: object, words: str) -> None:
    assert words in refused(BROWSER, "/api/network/query", question)


@pytest.mark.parametrize("suffix", [".uai", ".bif", ".json", ".xdsl"])
def test_no_file_of_the_machine_is_read(
    suffix: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "network.uai.json").write_text("{", encoding="utf-8")
    opened_network(Model(name=None, file="a.bif", text=CHAIN))  # what is loaded once, is loaded
    opened: list[str] = []
    real = builtins.open

    def noted(file: Any, *args: Any, **options: Any) -> Any:
        opened.append(str(file))
        return real(file, *args, **options)

    monkeypatch.setattr(builtins, "open", noted)
    text = "BAYES 1 2 1 1 0 2 .5 .5" if suffix == ".uai" else CHAIN
    answer = BROWSER.post(
        "/api/network/query", json={"model": {"file": f"network{suffix}", "text": text}}
    )
    assert answer.status_code in (200, 422)
    assert not [name for name in opened if name.startswith(str(tmp_path)) or "etc" in name]


def test_only_the_last_networks_are_remembered() -> None:
    first = opened_network(Model(name=None, file="0.bif", text=CHAIN))
    assert opened_network(Model(name=None, file="0.bif", text=CHAIN)) is first
    for number in range(1, 14):
        opened_network(Model(name=None, file=f"{number}.bif", text=CHAIN))
    assert opened_network(Model(name=None, file="0.bif", text=CHAIN)) is not first


def test_two_sets_of_evidence_are_drawn_side_by_side() -> None:
    question = {"model": MODEL, "evidence": {"wet": "yes"}}
    alone = asked(BROWSER, "/api/network/picture", question)["svg"]
    both = asked(BROWSER, "/api/network/picture", {**question, "compare": {"wet": "no"}})["svg"]
    assert alone.count('data-share="0.714286"') == both.count('data-share="0.714286"') == 1
    assert "compared" in both
    assert "compared" not in alone
    assert ' data-variable="rain"' in both
    assert both.count(' data-state="') == 4
    assert " style=" not in both
    wrong = {**question, "compare": {"rain": "yes", "wet": "no"}}
    assert "rain = yes" in refused(BROWSER, "/api/network/picture", wrong)
