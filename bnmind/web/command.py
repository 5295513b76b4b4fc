"""``bnmind web``: the pages and the JSON API, served on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bnmind.cli.shared.terminal import tell
from bnmind.errors import BnmindError, InvalidArgumentError, MissingLibraryError

if TYPE_CHECKING:
    from bnmind.web.live import GivenTest
    from bnmind.web.server import Opened
    from bnmind.web.tests import OfferedTest

_OPEN = ("/tests", "/api/tests", "/teacher", "/api/teacher", "/static", "/favicon.ico")
"""Addresses of a test, which access codes and the teacher's own token protect."""


@dataclass(frozen=True, kw_only=True)
class WebOptions:
    """The options of the command.

    Parameters
    ----------
    host
        The address to listen at.
    port
        The port; 0 takes the last one, or a free one.
    trusted_proxy
        The IP address of a proxy in front of the server, which says from where each request
        comes. Repeat the option for several.
    browser
        Open the address in the browser of this machine.
    bank
        The item bank of a test for people to take.
    design
        The design of the test, as for test and simulate.
    responses
        Where to save the answers: an SQLite file, or the address of a database, such as
        postgresql://user@host/name.  [default: BANK-answers.sqlite in this directory]
    codes
        Whether the test needs an access code.  [default: only if other machines can reach the
        pages]
    new_token
        Make a new token of the teacher; the one before is void.
    """

    host: Annotated[str, "ADDRESS"] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65535)] = 0
    trusted_proxy: Annotated[list[str] | None, "ADDRESS"] = None
    browser: Annotated[bool, typer.Option("--open")] = False
    bank: Path | None = None
    design: Path | None = None
    responses: Annotated[str | None, "FILE|URL"] = None
    codes: Annotated[bool | None, typer.Option("--codes/--no-codes")] = None
    new_token: bool = False


def web(options: WebOptions) -> None:
    """Serve pages to play Mastermind, ask networks and take tests, and a JSON API.

    The command prints the address to open in a browser, and serves until Ctrl-C. Pages load
    nothing from the internet. By default only this machine can reach them. With another --host,
    other machines can, and the printed address has a token that every visitor needs; the
    connection is not encrypted.

    The server remembers its port and a key, so that games go on after a restart, at the same
    address.

    With --bank, people take a test of this bank. Every answer is saved before it counts, so a test
    goes on after a crash. The teacher's page makes access codes, shows the class, and exports it.

    Examples
    --------
    bnmind web --open
    bnmind web --port 8080
    bnmind web --host 0.0.0.0
    bnmind web --bank models/banks/fractions.json --design models/designs/fractions.toml --open
    bnmind web --bank BANK.json --host 0.0.0.0 --port 8080 --responses class.sqlite
    """
    if options.bank is None and (
        options.design or options.responses or options.new_token or options.codes is not None
    ):
        raise InvalidArgumentError(
            "--design, --responses, --codes and --new-token need --bank, which names the test", None
        )
    try:
        from bnmind.web.server import opened, serve

        given = None if options.bank is None else _given(options.bank, options.design)
    except ModuleNotFoundError as missing:
        raise MissingLibraryError(
            f'bnmind web needs {missing.name}; install it with: pip install "bnmind[web]"',
            missing.name or "",
        ) from missing

    folder = Path(typer.get_app_dir("bnmind"), "web")
    open_paths = () if given is None else _OPEN
    place = opened(
        options.host,
        options.port,
        folder=folder,
        open_paths=open_paths,
        trusted_proxies=tuple(map(_address, options.trusted_proxy or ())),
    )
    tests = None if given is None else _tests(options, given, place)

    def ready() -> None:
        tell(f"bnmind is at {place.address}")
        first = place.address
        if tests is not None:
            first = place.others("/tests")
            needed = "; it needs an access code" if tests.needs_code else ""
            tell(f"The test is at {first}{needed}.")
            tell(f"The teacher's page is at {place.others('/teacher')}?token={tests.token}")
            tell(f"Answers are saved in {tests.place}.")
            if tests.live().given.stops_by_default:
                from bnmind.adaptive.stopping import default_stop_words

                words = default_stop_words(tests.live().given.bank)
                tell(f"{words}; a design with stop says otherwise.")
            if earlier := tests.live().earlier():
                tell(earlier)
        tell("Ctrl-C stops it.")
        if options.browser:
            import webbrowser

            webbrowser.open_new_tab(first)

    serve(place, ready=ready, tests=tests)


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError as fault:
        raise InvalidArgumentError(
            f"--trusted-proxy: expected an IP address, such as 127.0.0.1, got {text}", text
        ) from fault


def _given(bank: Path, design: Path | None) -> GivenTest:
    import bnmind.web.live  # noqa: F401  # says now if a library is missing
    from bnmind.web.live import read_plan

    return read_plan(bank, design)


def _tests(options: WebOptions, given: GivenTest, place: Opened) -> OfferedTest:
    """Return the test of the options, with its database."""
    from bnmind.web.tests import offered_test

    name = "test" if options.bank is None else options.bank.stem
    responses = options.responses or f"{name}-answers.sqlite"
    url = responses if "://" in responses else f"sqlite:///{Path(responses).absolute()}"
    codes = options.codes
    try:
        return offered_test(
            given,
            url,
            needs_code=place.settings.token is not None if codes is None else codes,
            new_token=options.new_token,
        )
    except BnmindError:
        place.listener.close()
        raise
