"""Commands that take their options as one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from bnmind.cli.shared.command import with_options


@dataclass(frozen=True, kw_only=True)
class Options:
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who is greeted.")]
    times: Annotated[int, typer.Option("--times", min=1, help="How often.")] = 1
    loud: Annotated[bool, typer.Option("--loud", help="Whether to shout.")] = False


def app() -> typer.Typer:
    made = typer.Typer(rich_markup_mode=None)

    @made.command()
    @with_options(Options)
    def greet(options: Options) -> None:
        """Greet someone."""
        text = " ".join([f"hello {options.name}"] * options.times)
        typer.echo(text.upper() if options.loud else text)

    return made


def test_fields_become_parameters_with_their_defaults() -> None:
    assert CliRunner().invoke(app(), ["Eve"]).stdout == "hello Eve\n"
    result = CliRunner().invoke(app(), ["--times", "2", "--loud", "Eve"])
    assert result.stdout == "HELLO EVE HELLO EVE\n"


def test_the_help_shows_the_docstring_and_the_fields_in_their_order() -> None:
    text = CliRunner().invoke(app(), ["--help"]).stdout
    places = [text.index(part) for part in ("Greet someone.", "Who is", "How often", "to shout")]
    assert places == sorted(places)


def test_typer_checks_the_values() -> None:
    assert CliRunner().invoke(app(), []).exit_code == 2
    assert CliRunner().invoke(app(), ["Eve", "--times", "0"]).exit_code == 2
