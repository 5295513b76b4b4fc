"""The dialogue of ``bnmind assist``: guesses, replies, and changes of earlier rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from bnmind._messages import shown
from bnmind.cli.mastermind.after_game import show_regret
from bnmind.cli.mastermind.assist_game import AssistState, AssistTable, channel_of, started
from bnmind.cli.mastermind.commands import (
    COMMAND_LINES,
    Action,
    Codes,
    Colors,
    Drop,
    Edit,
    Explain,
    Ignore,
    SetNoise,
    WhatIf,
    read_command,
    show_help,
)
from bnmind.cli.mastermind.position import (
    Position,
    explain_replies,
    rows_if,
    show_codes_left,
    show_colors,
    show_position,
    show_solution,
    show_what_if,
)
from bnmind.cli.mastermind.setting import situation_of
from bnmind.cli.shared.dialogue import Command, ask
from bnmind.cli.shared.terminal import INTERRUPTED, Report, interruptible, one_line, working
from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError

if TYPE_CHECKING:
    from bnmind.lab.mastermind.advice import Advice
    from bnmind.lab.mastermind.live.game_rows import GameRows
    from bnmind.mastermind import Board, Posterior, Reply

__all__ = ["converse"]

_REPLY = re.compile(r"\d+ *(?:[bB] *\d+ *[wW]|[aA] *\d+ *[bB])")
"""A reply where a guess is asked for: that to the proposal."""

_ROW = re.compile(rf"(.*\S)\s+({_REPLY.pattern})")
"""A guess and its reply in one line."""

_AT_REPLY = {"u": Command.UNDO, "q": Command.QUIT, "h": Command.HELP}
_AT_END = {"u": Command.UNDO, "q": Command.QUIT}


@dataclass(frozen=True)
class _Typed:
    """A row that was typed where a guess is asked for."""

    guess: tuple[int, ...]
    reply: str


def converse(table: AssistTable, states: tuple[AssistState, ...]) -> None:
    """Propose guesses and ask for replies, until the game is over or the player leaves."""
    over = False
    shown: tuple[AssistState, Position] | None = None
    try:
        while True:
            if shown is None or shown[0] is not states[-1]:
                shown = (states[-1], _shown(table, states[-1]))
            position = shown[1]
            if _is_at_limit(table, states[-1]):
                table.console.print(f"\nNo guess is left: --max-guesses is {table.max_guesses}.")
                answer: tuple[int, ...] | Action = _ask_end(table)
                typed = ""
            else:
                answer, typed, table = _ask_guess(table, states[-1], position)
            if answer is Command.QUIT:
                return _farewell(table, states[-1])
            if not isinstance(answer, tuple):
                table, states = _changed(table, states, answer)
                continue
            result = _ask_reply(table, states[-1], answer, typed)
            if result is Command.QUIT:
                return _farewell(table, states[-1])
            if isinstance(result, Command):
                continue
            after, reply = result
            memory = position.advice.memory if position.advice else None
            state = _with_turn(states[-1], answer, reply, after, memory)
            if after is not None:
                states = (*states, state)
                table = table.save(state)
                continue
            _show_win(table, state)
            table, over = table.save(state, over=True), True
            if _ask_end(table) is Command.UNDO:
                table, over = table.save(states[-1]), False
                _say_undone(table, state, states[-1])
                continue
            return None
    except KeyboardInterrupt:
        table.console.print()
        if not over:
            _farewell(table, states[-1])
        raise typer.Exit(INTERRUPTED) from None


def _is_at_limit(table: AssistTable, state: AssistState) -> bool:
    return table.max_guesses is not None and len(state.rows.turns) >= table.max_guesses


def _with_turn(
    state: AssistState,
    guess: tuple[int, ...],
    reply: Reply,
    after: Posterior | None,
    memory: object,
) -> AssistState:
    from bnmind.mastermind import Turn

    return AssistState(
        state.rows.added(Turn(guess, reply)), state.noise, after or state.belief, memory
    )


def _shown(table: AssistTable, state: AssistState) -> Position:
    """Print a state, and return its position."""
    advice: Advice | None = None
    if not _is_at_limit(table, state):
        try:
            advice = _advice(table, state)
        except TooLargeError as error:
            table.console.print(f"No proposal: {error}", soft_wrap=True)
    position = Position(state.rows, state.belief, advice)
    table.console.print()
    show_position(table.console, position, explain=table.explain)
    return position


def _advice(table: AssistTable, state: AssistState) -> Advice:
    from bnmind.lab.mastermind.advice import advise, choosing

    situation = situation_of(table.max_guesses, len(state.rows.turns), state.memory)
    return working(
        choosing(table.board),
        lambda _: advise(
            state.belief,
            table.rng,
            strategy=table.strategy,
            situation=situation,
            prior=table.prior,
        ),
    )


def _ask_guess(
    table: AssistTable, state: AssistState, position: Position
) -> tuple[tuple[int, ...] | Action, str, AssistTable]:
    """Return the guess, or the command that ends or changes the game; and a reply typed ahead."""
    board, advice = table.board, position.advice

    def read(text: str) -> tuple[int, ...] | str | _Typed | Action:
        if advice and _REPLY.fullmatch(text):
            return text
        action = read_command(text, board, COMMAND_LINES)
        if action is None and (row := _ROW.fullmatch(text)):
            return _Typed(board.parse(row[1]), row[2])
        return board.parse(text or (advice.guess if advice else "")) if action is None else action

    proposal = f" [{advice.guess}]" if advice else ""
    while True:
        answer = ask(table.console, f"Guess{proposal}: ", read, commands={})
        if isinstance(answer, _Typed):
            return answer.guess, answer.reply, table
        if isinstance(answer, tuple):
            _compare(table, state, position, answer)
            return answer, "", table
        if isinstance(answer, str):
            return board.parse(advice.guess if advice else ""), answer, table
        if answer is Command.HELP:
            show_help(table.console, COMMAND_LINES, {"?": "explain this position in plain words"})
        elif answer is Command.HINT:
            show_position(table.console, position, explain=True)
        elif isinstance(answer, Codes):
            show_codes_left(table.console, state.belief)
        elif isinstance(answer, Colors):
            show_colors(table.console, state.belief)
        elif isinstance(answer, WhatIf):
            _what_if(table, state, position, answer)
        elif isinstance(answer, Explain):
            table = replace(table, explain=not table.explain)
            show_position(table.console, position, explain=table.explain)
        else:
            return answer, "", table


def _compare(
    table: AssistTable, state: AssistState, position: Position, guess: tuple[int, ...]
) -> None:
    """Print what a guess of the player should tell, if another one was proposed."""
    from bnmind.lab.mastermind.explanation import winning_probability
    from bnmind.lab.mastermind.live.words import chance
    from bnmind.strategies import describe_guess

    advice, board = position.advice, table.board
    if advice is None or board.format(guess) == advice.guess:
        return
    own = interruptible(lambda: describe_guess(state.belief, guess))
    table.console.print(
        f"  {board.format(guess)} should tell {own.information:.2f} bits, "
        f"{advice.guess} would {advice.information:.2f}"
    )
    if table.explain:
        likely = interruptible(lambda: winning_probability(state.belief, guess))
        table.console.print(f"  {board.format(guess)} {chance(likely)}")


def _what_if(table: AssistTable, state: AssistState, position: Position, question: WhatIf) -> None:
    """Print the position beside the one in which a row is different."""
    try:
        other = rows_if(state.rows, question)
        _require_open(table.board, other, state.noise)
        then = _revised(table, state, other, state.noise)
        now = position if position.advice else replace(position, advice=_advice(table, state))
        changed = Position(other, then.belief, _advice(table, then))
    except BnmindError as error:
        table.console.print(f"  {one_line(error)}", soft_wrap=True)
        return
    show_what_if(table.console, now, changed, question, explain=table.explain)


def _changed(
    table: AssistTable, states: tuple[AssistState, ...], action: Action
) -> tuple[AssistTable, tuple[AssistState, ...]]:
    """Return the states after a change, which is saved; or as they were, having said why."""
    if action is Command.UNDO:
        return _undone(table, states)
    last = states[-1]
    rows, noise = last.rows, last.noise
    try:
        if isinstance(action, Edit):
            rows = _edited(rows, action)
        elif isinstance(action, Ignore):
            rows = rows.toggled(action.row)
        elif isinstance(action, Drop):
            rows = rows.without(action.row)
        elif isinstance(action, SetNoise):
            noise = action.noise
        _require_open(table.board, rows, noise)
        state = _revised(table, last, rows, noise)
    except BnmindError as error:
        table.console.print(f"  {one_line(error)}", soft_wrap=True)
        return table, states
    if noise != last.noise:
        from bnmind.lab.mastermind.noise_words import noise_clause

        table.console.print(f"From now on, bnmind assumes that {noise_clause(noise)}.")
    return table.save(state), (*states, state)


def _edited(rows: GameRows, edit: Edit) -> GameRows:
    from bnmind.mastermind import Turn

    return rows.edited(edit.row, Turn(edit.guess or rows.turn(edit.row).guess, edit.reply))


def _require_open(board: Board, rows: GameRows, noise: str) -> None:
    """Raise if a row ends the game: a win is entered as the last guess."""
    from bnmind.lab.mastermind.advice import winning_report_ends

    if winning_report_ends(channel_of(board, noise)):
        for row, turn in enumerate(rows.turns, start=1):
            if turn.reply == board.winning:
                raise InvalidArgumentError(
                    f"the reply {turn.reply} in row {row} would end the game; enter it as the reply"
                    " to your last guess",
                    turn,
                )


def _revised(table: AssistTable, last: AssistState, rows: GameRows, noise: str) -> AssistState:
    """Return the state with other rows or other noise."""
    from bnmind.lab.mastermind.advice import belief_after

    def believed(_: Report) -> Posterior:
        return belief_after(started(table.board, noise, table.prior), rows.trusted)

    return AssistState(rows, noise, working("replaying the turns", believed), last.memory)


def _undone(
    table: AssistTable, states: tuple[AssistState, ...]
) -> tuple[AssistTable, tuple[AssistState, ...]]:
    """Take the last change back, if there is one, and save the game without it."""
    if len(states) == 1:
        table.console.print("  nothing to undo")
        return table, states
    table = table.save(states[-2])
    _say_undone(table, states[-1], states[-2])
    return table, states[:-1]


def _say_undone(table: AssistTable, before: AssistState, after: AssistState) -> None:
    """Say which change was taken back."""
    changed = "the last change"
    if before.noise != after.noise:
        changed = f"noise {before.noise}; it is {after.noise} again"
    elif len(before.rows.turns) > len(after.rows.turns):
        turn = before.rows.turns[-1]
        changed = f"{table.board.format(turn.guess)} {turn.reply}"
    table.console.print(f"  undone: {changed}")


def _ask_reply(
    table: AssistTable, state: AssistState, guess: tuple[int, ...], typed: str = ""
) -> tuple[Posterior | None, Reply] | Command:
    """Return the belief after the reply, or None if the reply won; and the reply."""
    from bnmind.lab.mastermind.advice import found, winning_report_ends
    from bnmind.mastermind import Reply, Turn

    board, belief = table.board, state.belief

    def read(text: str) -> tuple[Posterior | None, Reply] | Command:
        reply = Reply.parse(text, pegs=board.pegs)
        if reply != board.winning:
            return interruptible(lambda: belief.update(guess, reply)), reply
        if not winning_report_ends(channel_of(board, state.noise)):
            over = ask(table.console, "Is the game over? [y/n] ", _yes_or_no, commands=_AT_END)
            if isinstance(over, Command):
                return over
            if not over:
                return interruptible(lambda: belief.update(guess, reply)), reply
        found(belief, Turn(guess, reply))  # raises if the earlier replies exclude it
        return None, reply

    if typed:
        try:
            return read(typed)
        except BnmindError as fault:
            table.console.print(f"  {one_line(fault)}", soft_wrap=True)
    while True:
        answer = ask(table.console, f"Reply to {board.format(guess)}: ", read, commands=_AT_REPLY)
        if answer is not Command.HELP:
            return answer
        explain_replies(table.console, board)
        table.console.print("u takes the guess back, q quits.")


def _yes_or_no(text: str) -> bool:
    answer = text.lower()
    if answer not in ("y", "yes", "n", "no"):
        raise InvalidArgumentError(f"expected y or n, got {shown(text)}", text)
    return answer.startswith("y")


def _show_win(table: AssistTable, state: AssistState) -> None:
    """Print the code that was found, which replies were false, and what each guess lost."""
    rows = state.rows
    table.console.print()
    noisy = not channel_of(table.board, state.noise).is_exact
    code = rows.turns[-1].guess
    show_solution(table.console, table.board, rows.turns, code, won=True, noisy=noisy)
    first = started(table.board, state.noise, table.prior)
    turns = rows.trusted
    try:
        show_regret(table.console, first, turns, won=True, uniform=table.prior is None)
    except BnmindError as error:
        table.console.print(f"No regret: {one_line(error)}", soft_wrap=True)


def _ask_end(table: AssistTable) -> Command:
    def read(text: str) -> Command:
        if text:
            raise BnmindError(f"expected Enter or u, got {shown(text)}")
        return Command.QUIT

    return ask(table.console, "Enter ends, u undoes: ", read, commands=_AT_END)


def _farewell(table: AssistTable, state: AssistState) -> None:
    if state.rows.turns:
        table.console.print(f"Saved in {table.path}; the same command resumes the game.")
