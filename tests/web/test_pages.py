"""The pages, the page of the API, and the command that serves them."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import uvicorn

from bnmind.cli.app import app
from bnmind.errors import InvalidArgumentError
from bnmind.web.page import AREAS, STATIC
from bnmind.web.server import key_of, opened, port_of, remember_port
from tests.command_line import ROOT
from tests.web.clients import client

BROWSER = client()


@pytest.mark.parametrize("address", [address for address, _ in AREAS])
def test_pages_are_whole(address: str) -> None:
    class Checker(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.ids: list[str] = []
            self.headings: list[str] = []
            self.open: list[str] = []

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.ids += [str(value) for name, value in attrs if name == "id"]
            self.headings += [tag] if tag in ("h1", "h2", "h3") else []
            if tag not in ("meta", "link", "img", "input", "br"):
                self.open.append(tag)

        def handle_endtag(self, tag: str) -> None:
            if tag != "option":
                while self.open[-1] == "option":
                    self.open.pop()
            assert self.open.pop() == tag

    checker = Checker()
    page = BROWSER.get(address).text
    checker.feed(page)
    assert len(set(checker.ids)) == len(checker.ids)
    assert checker.headings[0] == "h1"
    assert checker.headings.count("h1") == 1
    assert checker.open == []
    assert '<html lang="en">' in page
    for file in re.findall(r"\"/static/([^\"]+)\"", page):
        assert (STATIC / file).is_file()


def test_scripts_find_what_they_look_for() -> None:
    """Every ``at("id")`` of a script is on its page, and every import is there."""
    shared = {"assist": ("pictures",), "play": ("pictures",), "watch": ("pictures",)}
    for name in ("assist", "play", "watch", "networks"):
        scripts = [STATIC / f"{part}.js" for part in (name, *shared.get(name, ()))]
        script = "".join(path.read_text(encoding="utf-8") for path in scripts)
        page = BROWSER.get(f"/{name}").text
        for identity in re.findall(r"\bat\(\"([a-z-]+)\"\)", script):
            assert f'id="{identity}"' in page, identity
    for path in STATIC.glob("*.js"):
        for module in re.findall(r"from \"\./([^\"]+)\"", path.read_text(encoding="utf-8")):
            assert (STATIC / module).is_file()


def test_scripts_never_read_texts_as_pages() -> None:
    for path in STATIC.glob("*.js"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_an_unknown_address_says_so_for_people_and_for_programs() -> None:
    page = BROWSER.get("/nowhere/<b>")
    assert page.status_code == 404
    assert "<b>" not in page.text
    assert BROWSER.get("/api/nowhere").json()["error"]["message"] == "Not Found."
    assert BROWSER.get("/api/suggest").status_code == 405


def test_the_page_of_the_api_describes_all_of_it() -> None:
    page = BROWSER.get("/api").text
    schema = BROWSER.get("/api/openapi.json").json()
    for path in schema["paths"]:
        assert f"<code>{path}</code>" in page
    assert all(path.startswith("/api/") for path in schema["paths"])
    assert "integer 1–12" in page


def test_examples_on_the_page_of_the_api_work() -> None:
    page = BROWSER.get("/api").text
    forms = re.findall(r'data-path="([^"]+)".*?</form>', page, re.DOTALL)
    assert forms
    browser = client()
    for path, text in re.findall(
        r'data-path="([^"]+)">\s*<label.*?<textarea[^>]*>(.*?)</textarea>', page, re.DOTALL
    ):
        question = json.loads(text.replace("&#34;", '"'))
        assert browser.post(path, json=question).status_code == 200, path


# --- The command ----------------------------------------------------------------------------------


def test_the_default_address_is_for_this_machine_only() -> None:
    place = opened("127.0.0.1", 0)
    with place.listener:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", place.address)
        assert place.settings.token is None


def test_other_machines_need_a_token() -> None:
    place = opened("0.0.0.0", 0)
    with place.listener:
        token = place.settings.token
        assert token is not None
        assert len(token) >= 32
        assert place.address.endswith(f"/?token={token}")
        assert token not in repr(place.listener)


def test_the_server_is_at_the_same_address_with_the_same_token_next_time(tmp_path: Path) -> None:
    folder = tmp_path / "bnmind" / "web"
    first = opened("0.0.0.0", 0, folder=folder)
    with first.listener:
        meanwhile = opened("0.0.0.0", 0, folder=folder)  # another port: the first is in use
        meanwhile.listener.close()
        assert meanwhile.address != first.address
    second = opened("0.0.0.0", 0, folder=folder)
    second.listener.close()
    assert second.address == meanwhile.address
    assert second.settings == first.settings
    assert folder.stat().st_mode & 0o077 == 0  # nobody else may read the key
    other = opened("0.0.0.0", 0)
    other.listener.close()
    assert other.settings.token != first.settings.token


@pytest.mark.parametrize("content", ["", "70000", "-1", "x", "²"])
def test_a_broken_memory_is_not_used(tmp_path: Path, content: str) -> None:
    (tmp_path / "port").write_text(content, encoding="utf-8")
    (tmp_path / "key").write_text(content, encoding="utf-8")
    assert port_of(tmp_path) == 0
    assert len(key_of(tmp_path)) == 32
    no_folder = tmp_path / "key" / "below-a-file"
    assert key_of(no_folder) != key_of(no_folder)
    remember_port(no_folder, 8080)


def test_an_address_in_use_is_refused() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InvalidArgumentError, match="choose another"):
            opened("127.0.0.1", other.getsockname()[1])


@pytest.mark.parametrize("host", ["no such host", "999.1.1.1", "\0", "x" * 300])
def test_an_impossible_address_is_refused(host: str) -> None:
    with pytest.raises(InvalidArgumentError, match="cannot listen"):
        opened(host, 0)


def test_the_command_says_where_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    async def answers(self: uvicorn.Server, sockets: object = None) -> None:
        self.should_exit = True

    def run(self: uvicorn.Server, sockets: list[socket.socket]) -> None:
        import asyncio

        asyncio.run(self.startup(sockets=sockets))
        for one in sockets:
            one.close()

    visited: list[str] = []
    monkeypatch.setattr(uvicorn.Server, "startup", answers)
    monkeypatch.setattr(uvicorn.Server, "run", run)
    monkeypatch.setattr("typer.get_app_dir", lambda name: str(tmp_path / name))
    monkeypatch.setattr("webbrowser.open_new_tab", visited.append)
    with pytest.raises(SystemExit):
        app(["web", "--open"], prog_name="bnmind")
    said = capsys.readouterr().out
    assert re.match(r"bnmind is at http://127\.0\.0\.1:\d+/\nCtrl-C stops it\.\n", said)
    assert visited == [said.split()[3]]
    assert f":{port_of(tmp_path / 'bnmind' / 'web')}/" in visited[0]


@pytest.mark.slow
def test_the_server_loads_little_before_it_answers() -> None:
    heavy = {
        "numpy",
        "sqlalchemy",
        "networkx",
        "bnmind.lab",
        "bnmind.adaptive",
        "bnmind.mastermind",
    }
    script = "import sys, bnmind.web.server, bnmind.web.command; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    assert heavy.isdisjoint(loaded)
