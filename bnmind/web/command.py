"""``bnmind web``: the pages and the JSON API, served on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bnmind.cli.shared.command import with_options
from bnmind.cli.shared.printable import tell
from bnmind.errors import MissingLibraryError

__all__ = ["WEB_HELP", "web"]

WEB_HELP = """Serve pages on which to play Mastermind and to get help in a game, and a JSON API.

The command prints the address to open in a browser, and serves until Ctrl-C. Pages load nothing
from the internet. By default only this machine can reach them. With another --host, other machines
can, and the printed address has a token that every visitor needs; the connection is not encrypted.

The server remembers its port and a key, so that games go on after a restart, at the same address.

\b
Examples:
  bnmind web --open
  bnmind web --port 8080
  bnmind web --host 0.0.0.0
"""


@dataclass(frozen=True, kw_only=True)
class WebOptions:
    """The options of the command."""

    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="The address to listen at.")
    ] = "127.0.0.1"
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, help="The port; 0 takes the last one, or a free one."
        ),
    ] = 0
    browser: Annotated[
        bool, typer.Option("--open", help="Open the address in the browser of this machine.")
    ] = False


@with_options(WebOptions)
def web(options: WebOptions) -> None:
    """Serve the pages."""
    try:
        from bnmind.web.server import opened, serve
    except ModuleNotFoundError as missing:
        raise MissingLibraryError(
            f"bnmind web needs {missing.name}; install it with: pip install 'bnmind[web]'",
            missing.name or "",
        ) from missing

    folder = Path(typer.get_app_dir("bnmind"), "web")
    place = opened(options.host, options.port, folder=folder)

    def ready() -> None:
        tell(f"bnmind is at {place.address}")
        tell("Ctrl-C stops it.")
        if options.browser:
            import webbrowser

            webbrowser.open_new_tab(place.address)

    serve(place, ready=ready)
