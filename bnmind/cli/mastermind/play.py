"""``bnmind play`` and ``bnmind assist``: games on the terminal, which files keep."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bnmind import lab, mastermind, strategies
from bnmind._messages import counted, many, shown
from bnmind.cli.mastermind import screen, setting
from bnmind.cli.shared.dialogue import Command, ask, ask_end
from bnmind.cli.shared.terminal import Report, interruptible, one_line, show, tell, working
from bnmind.errors import BnmindError, InvalidArgumentError, TooLargeError
from bnmind.lab.mastermind import advice as advising
from bnmind.lab.mastermind.words import chance, noise_clause, noise_in_words

if TYPE_CHECKING:
    from bnmind.lab.mastermind import games, saved_games
    from bnmind.mastermind import Board, Posterior, Prior, Reply, Turn

MOST_TURNS = 10_000
"""The number of turns for which the luck is drawn."""


# --- bnmind play ----------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class PlayOptions(setting.GameOptions):
    """The options of the command.

    Parameters
    ----------
    noise
        How replies are falsified: exact, false:P, independent:P or file:PATH. [default:
        false:0.2, or as saved]
    ending
        How the game ends; see below. You are the breaker. [default: revealed, or as saved]
    """

    save: Path = Path("bnmind-play.json")
    ending: setting.EndingName | None = None


def play(options: PlayOptions) -> None:
    """Guess a code that the computer hides.

    The noise falsifies some replies: one in five, unless --noise says otherwise (--noise exact:
    none). By default the computer always reports a win truthfully. With another --ending it does
    not report wins: at the end you name the code, such as =1234. Instead of a guess, type ? for a
    hint, u to take a guess back, q to give up and see the code, or h for more.

    The command saves the game after every guess, in bnmind-play.json of the current directory or
    in the file of --save. After Ctrl-C or a crash, run the same command again to go on. At the end
    it shows which replies were false, and how much each guess lost against the best one.

    Examples
    --------
    bnmind play
    bnmind play --explain
    bnmind play --noise exact --pegs 3 --colors 4
    bnmind play --new --seed 7
    bnmind play --prior two-color --max-guesses 6
    bnmind play --ending declared --noise false:0.2
    """
    import numpy as np

    from bnmind.lab.mastermind import games, saved_games

    saved, content = options.saved(saved_games.read_play)
    chosen = saved or saved_games.SavedPlay(
        board=options.board,
        noise="false:0.2" if options.noise is None else options.noise,
        prior=options.prior_name or setting.UNIFORM,
        ending="revealed" if options.ending is None else options.ending,
        max_guesses=options.max_guesses,
        seed=secrets.randbelow(10**9) if options.seed is None else options.seed,
    )
    board = chosen.board
    channel = mastermind.parse_noise(board, chosen.noise)
    prior = setting.prior_of(board, chosen.prior)
    ending = _ending(chosen.ending, chosen.max_guesses)
    maker = lab.CodeMaker.from_seed(
        channel.revealed() if ending.reveals else channel,
        chosen.seed,
        turns=ending.limit,
        prior=prior,
    )
    found = ending.reveals and maker.secret in chosen.guesses
    if found or len(chosen.guesses) > ending.limit:
        raise InvalidArgumentError(
            f"the game in {options.save} has guesses after its end; --new begins a new game",
            str(options.save),
        )
    show(
        f"A code of {counted(board.pegs, 'peg')}, {screen.colors_of(board)}"
        f"{'' if board.repeats else ', none twice'};"
        f"{'' if prior is None else f' prior {prior.name},'} seed {chosen.seed}."
    )
    show(noise_in_words(channel.name))
    naming = "" if ending.reveals else " = and a code to name it,"
    show(f"Type a guess, ? for a hint,{naming} u to undo, q to give up, h for more.")
    if chosen.max_guesses is not None:
        show(f"You have {counted(chosen.max_guesses, 'guess', 'guesses')}.")
    if saved is not None:
        guesses = counted(len(saved.guesses), "guess", "guesses")
        show(f"Resumed from {options.save} after {guesses}.")
    if options.explain:
        screen.explain_replies(board)
    game = _Hidden(
        board=board,
        path=options.save,
        content=content,
        rng=np.random.default_rng(chosen.seed),
        explain=options.explain,
        setting=chosen,
        ending=ending,
        game=games.HiddenGame(maker, chosen.guesses, undone=chosen.undone, hints=chosen.hints),
        ignored=chosen.ignored,
    )
    game.show_rows()
    if not chosen.guesses:
        tell("")
    game.run()


def _ending(text: str, max_guesses: int | None) -> lab.Ending:
    """Return the ending that a text describes, for a player who decides when to name the code.

    Raises
    ------
    InvalidArgumentError
        If the ending has a number, which only strategies need, or lacks a limit of guesses.
    TooLargeError
        If the limit of guesses is too large.
    """
    if max_guesses is not None and max_guesses > MOST_TURNS:
        raise TooLargeError(
            f"expected --max-guesses of at most {MOST_TURNS:,}, got {many(max_guesses)}",
            needed=max_guesses,
            budget=MOST_TURNS,
        )
    ending = setting.ending_of(text, max_guesses, most=MOST_TURNS)
    if isinstance(ending, lab.Declared) and text.strip() != "declared":
        raise InvalidArgumentError(
            f"expected the ending declared without a number, got {shown(text)}: you decide when to "
            f"name the code",
            text,
        )
    return ending


@dataclass(frozen=True)
class _Named:
    """The code that the player names at the end of a game that does not reveal it."""

    code: tuple[int, ...]


@dataclass(kw_only=True)
class _Hidden(screen.Game):
    """A game of the player against the computer."""

    setting: saved_games.SavedPlay
    """The game as it was at the start of the command."""
    ending: lab.Ending
    game: games.HiddenGame
    ignored: tuple[int, ...]
    """The numbers of the rows that hints leave out of account."""

    words = ("?", "u", "codes", "colors", "if", "ignore", "x", "h", "q")
    meanings: ClassVar = {
        "?": "a hint: the next guess, and why",
        "u": "take the last guess back; it gets the same reply again",
        "ignore": "hints leave row 2 out of account; again to use it",
        "q": "give up, and see the code",
    }

    @property
    def rows(self) -> saved_games.GameRows:
        """The rows that the player sees."""
        from bnmind.lab.mastermind import saved_games

        return saved_games.GameRows(self.game.turns, self.ignored)

    def save(self, *, over: bool = False) -> None:
        """Save the game, unless another program has changed the file in the meantime."""
        game = replace(
            self.setting,
            guesses=self.game.guesses,
            ignored=self.ignored,
            undone=self.game.undone,
            hints=self.game.hints,
            over=over,
        )
        from bnmind.lab.mastermind import saved_games

        self.content = saved_games.write_play(self.path, game, before=self.content)

    def show_rows(self) -> None:
        """Print the guesses and replies so far."""
        remarks = []
        for number, turn in enumerate(self.game.turns, start=1):
            is_win = turn.reply == self.board.winning
            lie = self.ending.reveals and is_win and self.game.guesses_left
            remark = "the game goes on, so this is false" if lie else ""
            remarks.append("ignored" if number in self.ignored else remark)
        if remarks:
            tell("")
        screen.show_board(self.board, self.game.turns, remarks)

    def ask(self) -> tuple[int, ...] | _Named | screen.Action:
        """Return a guess, the code that the player names, or a command."""
        board = self.board
        if self.game.is_over and self.ending.reveals:
            show("That was the last guess.")
            return Command.QUIT
        if self.game.is_over:
            return ask(
                "That was the last guess. The code: ",
                lambda text: _Named(board.parse(text.removeprefix("="))),
                commands={"q": Command.QUIT},
                end=Command.LEAVE,
            )

        def read(text: str) -> tuple[int, ...] | _Named | screen.Action:
            if text.startswith("=") and not self.ending.reveals:
                return _Named(board.parse(text[1:]))
            return screen.read_command(text, board, self.words) or board.parse(text)

        question = f"Guess {len(self.game.guesses) + 1}: "
        return ask(question, read, commands={}, end=Command.LEAVE)

    def act(self, entry: tuple[int, ...] | _Named | screen.Action) -> bool:
        """Do what the player enters; return whether the game goes on."""
        if entry is Command.LEAVE:
            return False
        if entry is Command.QUIT or isinstance(entry, _Named):
            return self._finish(entry)
        if isinstance(entry, tuple):
            self.game = self.game.guess(entry)
            if self.game.is_won:
                return self._finish()
            self.save()
            self.show_rows()
            return True
        try:
            if entry is not Command.HINT:
                return super().act(entry)
            screen.show_position(self.position(self.rows), explain=self.explain, label="Hint")
        except TooLargeError as error:
            raise BnmindError(f"no hint: {error}") from error
        self.game = self.game.with_hint()
        self.save()
        return True

    def revise(self, action: screen.Action) -> None:
        """Take a guess back, or leave a row out of account."""
        if isinstance(action, screen.Change):
            self.ignored = action.rows(self.rows).ignored
        elif not self.game.guesses:
            raise BnmindError("nothing to undo")
        else:
            show(f"  undone: {self.board.format(self.game.guesses[-1])}")
            self.game = self.game.undo()
            left = len(self.game.turns)
            self.ignored = tuple(row for row in self.ignored if row <= left)
        self.save()
        self.show_rows()

    def _start(self) -> Posterior:
        """Return the belief before the first guess."""
        begin = advising.start if self.ending.reveals else strategies.start_posterior
        return begin(self.game.maker.channel, self.game.maker.prior)

    def belief(self, rows: saved_games.GameRows | None = None) -> Posterior:
        """Return the belief after the rows that are trusted, of the game or of others."""
        what, trusted = advising.choosing(self.board), (rows or self.rows).trusted
        return working(what, lambda _: advising.belief_after(self._start(), trusted))

    def position(self, rows: saved_games.GameRows) -> screen.Position:
        """Return a position with advice."""
        belief = self.belief(rows)
        left = self.game.guesses_left if self.ending.limit < MOST_TURNS else None

        situation = strategies.Situation(guesses_left=left)

        def advised(_: object) -> advising.Advice:
            return advising.advise(belief, self.rng, situation=situation)

        return screen.Position(rows, belief, working(advising.choosing(self.board), advised))

    def _finish(self, entry: _Named | Command | None = None) -> bool:
        """Save the end; print the code, the false replies, and the loss of each guess."""
        game, secret = self.game, self.game.maker.secret
        if game.guesses or game.undone or game.hints:
            self.save(over=True)
        tell("")
        turns: tuple[Turn, ...] = game.turns
        if game.is_won:
            turns = (*turns, mastermind.Turn(game.guesses[-1], self.board.winning))
        if isinstance(entry, _Named):
            right = "right" if entry.code == secret else "wrong"
            show(f"{self.board.format(entry.code)} is {right}.")
        noisy = not game.maker.channel.is_exact
        screen.show_solution(self.board, turns, secret, won=game.is_won, noisy=noisy)
        helped = [
            counted(game.undone, "guess taken back", "guesses taken back") if game.undone else "",
            counted(game.hints, "hint") if game.hints else "",
        ]
        if any(helped):
            show(f"With {' and '.join(filter(None, helped))}.")
        uniform = game.maker.prior is None
        screen.show_regret(self._start(), turns, won=game.is_won, uniform=uniform)
        show(f"The same game again: --seed {game.maker.seed}")
        self.over = True
        return False


# --- bnmind assist --------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class AssistOptions(setting.GameOptions):
    """The options of the command.

    Parameters
    ----------
    noise
        How replies are falsified: exact, false:P, independent:P, file:PATH or unknown.
        [default: exact, or as saved]
    """

    save: Path = Path("bnmind-game.json")
    history: setting.History = None
    strategy: setting.Player = "entropy"


def assist(options: AssistOptions) -> None:
    """Get help against a code-maker, reply by reply.

    The command proposes a guess: press Enter to accept it, or type another one. Then type the
    reply, such as 1b2w or 12. 1b2w in place of a guess is the reply to the proposal. At any
    question, u undoes and q quits. Instead of a guess you may also edit or ignore an earlier row,
    change the noise, or ask "what if"; h lists how. The command saves the game after every change,
    in bnmind-game.json of the current directory or in the file of --save. Run the same command
    again to resume the game.

    With --noise unknown, the command learns from the replies how often they are false.

    Examples
    --------
    bnmind assist
    bnmind assist --pegs 5 --colors 8 --noise false:0.2 --save friday.json
    bnmind assist --noise unknown --explain
    bnmind assist --new --history "1123 1b1w, 2345 0b2w"
    """
    import numpy as np

    from bnmind.lab.mastermind import saved_games

    typed = f"; typed in the game, noise {options.noise} changes it"
    saved, content = options.saved(saved_games.read_game, typed)
    if saved is None and content is not None and not options.new:
        show(f"The game in {options.save} is over; a new one begins.")
    board, noise, prior_name = options.board, options.noise or "exact", options.prior_name
    if saved is not None:
        board, noise, prior_name = saved.board, saved.noise, saved.prior
    prior_name = prior_name or setting.UNIFORM
    prior = setting.prior_of(board, prior_name)
    turns = _turns(options, board, saved)
    rows = saved_games.GameRows(turns, () if saved is None else saved.ignored)
    # A finished game is not saved as unfinished, so these turns belong to an unfinished game.
    advising.ending(setting.channel_of(board, noise), turns, goes_on=True)
    states = working(
        "replaying the turns", lambda report: _replayed(board, noise, prior, rows, report)
    )
    game = _Assisted(
        board=board,
        path=options.save,
        content=content,
        rng=np.random.default_rng(options.seed),
        explain=options.explain,
        prior=prior,
        prior_name=prior_name,
        max_guesses=options.max_guesses,
        strategy=None
        if options.strategy == "entropy"
        else strategies.strategy_by_name(options.strategy),
        states=states,
    )
    replies = counted(len(turns), "reply", "replies")
    place = (
        f"Resumed from {options.save} after {replies}." if saved else f"Saved in {options.save}."
    )
    chosen = "" if prior is None else f", prior {prior_name}"
    show(f"Board {board}, {screen.colors_of(board)}{chosen}. {place}")
    show(noise_in_words(noise))
    show("Enter takes what is proposed, u undoes, q quits, h lists what else you can type.")
    if turns:
        game.save(states[-1])
    game.run()


def _turns(
    options: AssistOptions, board: Board, saved: saved_games.SavedGame | None
) -> tuple[Turn, ...]:
    """Return the turns of --history, or those of the saved game, which must begin with them."""
    history = ", ".join(options.history or ())
    turns = mastermind.parse_history(board, history)
    if saved is None:
        return turns
    if turns != saved.turns[: len(turns)]:
        raise InvalidArgumentError(
            f"the game in {options.save} has the history "
            f"{mastermind.format_history(board, saved.turns) or 'none'}; "
            f"it does not begin with {mastermind.format_history(board, turns)};"
            " --new begins a new game",
            history,
        )
    return saved.turns


@dataclass(frozen=True)
class _State:
    """A state of the game, to which the player can return."""

    rows: saved_games.GameRows
    noise: str
    """The noise that is assumed."""
    belief: Posterior
    """The belief after the rows that are trusted."""
    memory: object = None
    """What the strategy remembers of its last proposal."""


def _replayed(
    board: Board, noise: str, prior: Prior | None, rows: saved_games.GameRows, report: Report
) -> list[_State]:
    """Return the states before the first row and after each of the rows."""
    n = len(rows.turns)
    states = [_State(rows.first(0), noise, setting.started(board, noise, prior))]
    for number in range(1, n + 1):
        report(number - 1, n)
        last, now = states[-1], rows.first(number)
        more = now.trusted[len(last.rows.trusted) :]
        states.append(_State(now, noise, advising.belief_after(last.belief, more)))
    return states


_REPLY = re.compile(r"\d+ *(?:[bB] *\d+ *[wW]|[aA] *\d+ *[bB])")
"""A reply where a guess is asked for: that to the proposal."""

_ROW = re.compile(rf"(.*\S)\s+({_REPLY.pattern})")
"""A guess and its reply in one line."""


@dataclass(frozen=True)
class _Typed:
    """A guess that was typed, and its reply if that was, too."""

    guess: tuple[int, ...]
    reply: str = ""


@dataclass(kw_only=True)
class _Assisted(screen.Game):
    """A game of the player against somebody else."""

    prior: Prior | None
    """The distribution from which the code was drawn; uniform if None."""
    prior_name: str
    max_guesses: int | None
    strategy: strategies.Strategy | None
    """The strategy that proposes guesses; None for the least expected entropy."""
    states: list[_State]
    shown: tuple[_State, screen.Position] | None = None
    """The state that was printed last, and its position."""

    meanings: ClassVar = {"?": "explain this position in plain words"}

    @property
    def state(self) -> _State:
        """The state of the game."""
        return self.states[-1]

    @property
    def rows(self) -> saved_games.GameRows:
        """The rows of the game."""
        return self.state.rows

    def save(self, state: _State, *, over: bool = False) -> None:
        """Save a state, unless another program has changed the file in the meantime."""
        from bnmind.lab.mastermind import saved_games

        game = saved_games.SavedGame(
            board=self.board,
            noise=state.noise,
            turns=state.rows.turns,
            ignored=state.rows.ignored,
            over=over,
            prior=self.prior_name,
        )
        self.content = saved_games.write_game(self.path, game, before=self.content)
        self.over = over

    def ask(self) -> _Typed | screen.Action:
        """Return the guess, or the command that ends or changes the game."""
        advice, board = self._now().advice, self.board
        if self._is_at_limit(self.state):
            tell(f"\nNo guess is left: --max-guesses is {self.max_guesses}.")
            return ask_end("u")

        def read(text: str) -> _Typed | screen.Action:
            if advice and _REPLY.fullmatch(text):
                return _Typed(board.parse(advice.guess), text)
            action = screen.read_command(text, board, self.words)
            if action is not None:
                return action
            if row := _ROW.fullmatch(text):
                return _Typed(board.parse(row[1]), row[2])
            return _Typed(board.parse(text or (advice.guess if advice else "")))

        proposal = f" [{advice.guess}]" if advice else ""
        return ask(f"Guess{proposal}: ", read, commands={})

    def _now(self) -> screen.Position:
        """Return the position of the state, which is printed when it is new."""
        if self.shown is None or self.shown[0] is not self.state:
            advice: advising.Advice | None = None
            if not self._is_at_limit(self.state):
                try:
                    advice = self._advice(self.state)
                except TooLargeError as error:
                    show(f"No proposal: {error}")
            self.shown = self.state, screen.Position(self.rows, self.state.belief, advice)
            tell("")
            screen.show_position(self.shown[1], explain=self.explain)
        return self.shown[1]

    def _is_at_limit(self, state: _State) -> bool:
        return self.max_guesses is not None and len(state.rows.turns) >= self.max_guesses

    def _advice(self, state: _State) -> advising.Advice:
        situation = setting.situation_of(self.max_guesses, len(state.rows.turns), state.memory)
        return working(
            advising.choosing(self.board),
            lambda _: advising.advise(
                state.belief,
                self.rng,
                strategy=self.strategy,
                situation=situation,
                prior=self.prior,
            ),
        )

    def act(self, entry: _Typed | screen.Action) -> bool:
        """Do what the player enters; return whether the game goes on."""
        if entry is Command.QUIT:
            return False
        if isinstance(entry, _Typed):
            return self._turn(entry)
        if entry is Command.HINT:
            screen.show_position(self._now(), explain=True)
            return True
        return super().act(entry)

    def show_explained(self) -> None:
        """Print the position again, in plain words or without."""
        screen.show_position(self._now(), explain=self.explain)

    def belief(self) -> Posterior:
        """Return the belief after the rows that are trusted."""
        return self.state.belief

    def position(self, rows: saved_games.GameRows) -> screen.Position:
        """Return a position with advice, for the rows of the game or others."""
        state = self.state if rows == self.rows else self._revised(rows, self.state.noise)
        now = self._now()
        if state is self.state and now.advice:
            return now
        return screen.Position(rows, state.belief, self._advice(state))

    def _turn(self, typed: _Typed) -> bool:
        """Take a guess and the reply to it; return whether the game goes on."""
        position, state = self._now(), self.state
        if not typed.reply:
            self._compare(position, typed.guess)
        result = self._ask_reply(typed)
        if isinstance(result, Command):
            return result is not Command.QUIT
        after, reply = result
        memory = position.advice.memory if position.advice else None
        rows = state.rows.added(mastermind.Turn(typed.guess, reply))
        following = _State(rows, state.noise, after or state.belief, memory)
        if after is not None:
            self.states.append(following)
            self.save(following)
            return True
        self._show_win(following)
        self.save(following, over=True)
        if ask_end("u") is not Command.UNDO:
            return False
        self.save(state)
        self._say_undone(following)
        return True

    def _compare(self, position: screen.Position, guess: tuple[int, ...]) -> None:
        """Print what a guess of the player should tell, if another one was proposed."""
        advice, code, belief = position.advice, self.board.format(guess), self.state.belief
        if advice is None or code == advice.guess:
            return
        own = interruptible(lambda: strategies.describe_guess(belief, guess))
        show(
            f"  {code} should tell {own.information:.2f} bits, {advice.guess} would"
            f" {advice.information:.2f}"
        )
        if self.explain:
            likely = interruptible(lambda: advising.winning_probability(belief, guess))
            show(f"  {code} {chance(likely)}")

    def _ask_reply(self, typed: _Typed) -> tuple[Posterior | None, Reply] | Command:
        """Return the belief after the reply, or None if the reply won; and the reply."""
        board, belief, guess = self.board, self.state.belief, typed.guess
        leave = {"u": Command.UNDO, "q": Command.QUIT}

        def read(text: str) -> tuple[Posterior | None, Reply] | Command:
            reply = mastermind.Reply.parse(text, pegs=board.pegs)
            if reply == board.winning:
                over: bool | Command = True
                if not advising.winning_report_ends(setting.channel_of(board, self.state.noise)):
                    over = ask("Is the game over? [y/n] ", _yes_or_no, commands=leave)
                if isinstance(over, Command):
                    return over
                if over:
                    # It raises if the earlier replies exclude the guess.
                    advising.found(belief, mastermind.Turn(guess, reply))
                    return None, reply
            return interruptible(lambda: belief.update(guess, reply)), reply

        if typed.reply:
            try:
                return read(typed.reply)
            except BnmindError as fault:
                show(f"  {one_line(fault)}")
        commands = {**leave, "h": Command.HELP}
        while True:
            answer = ask(f"Reply to {board.format(guess)}: ", read, commands=commands)
            if answer is not Command.HELP:
                return answer
            screen.explain_replies(board)
            show("u takes the guess back, q quits.")

    def revise(self, action: screen.Action) -> None:
        """Change earlier rows or the noise, or take the last change back; save the game."""
        if action is Command.UNDO:
            self._undo()
            return
        rows, noise = self.rows, self.state.noise
        if isinstance(action, screen.Change):
            rows = action.rows(rows)
        elif isinstance(action, screen.SetNoise):
            noise = action.noise
        state = self._revised(rows, noise)
        if noise != self.state.noise:
            show(f"From now on, bnmind assumes that {noise_clause(noise)}.")
        self.save(state)
        self.states.append(state)

    def _revised(self, rows: saved_games.GameRows, noise: str) -> _State:
        """Return the state with other rows or other noise.

        Raises
        ------
        InvalidArgumentError
            If a row ends the game: a win is entered as the last guess.
        """
        if advising.winning_report_ends(setting.channel_of(self.board, noise)):
            for row, turn in enumerate(rows.turns, start=1):
                if turn.reply == self.board.winning:
                    raise InvalidArgumentError(
                        f"the reply {turn.reply} in row {row} would end the game; enter it as the"
                        " reply to your last guess",
                        turn,
                    )
        belief = working(
            "replaying the turns",
            lambda _: advising.belief_after(
                setting.started(self.board, noise, self.prior), rows.trusted
            ),
        )
        return _State(rows, noise, belief, self.state.memory)

    def _undo(self) -> None:
        """Take the last change back, if there is one, and save the game without it."""
        if len(self.states) == 1:
            raise BnmindError("nothing to undo")
        self.save(self.states[-2])
        self._say_undone(self.states.pop())

    def _say_undone(self, before: _State) -> None:
        """Say which change was taken back."""
        changed = "the last change"
        if before.noise != self.state.noise:
            changed = f"noise {before.noise}; it is {self.state.noise} again"
        elif len(before.rows.turns) > len(self.rows.turns):
            turn = before.rows.turns[-1]
            changed = f"{self.board.format(turn.guess)} {turn.reply}"
        show(f"  undone: {changed}")

    def _show_win(self, state: _State) -> None:
        """Print the code that was found, which replies were false, and what each guess lost."""
        turns = state.rows.turns
        tell("")
        noisy = not setting.channel_of(self.board, state.noise).is_exact
        screen.show_solution(self.board, turns, turns[-1].guess, won=True, noisy=noisy)
        first = setting.started(self.board, state.noise, self.prior)
        screen.show_regret(first, state.rows.trusted, won=True, uniform=self.prior is None)


def _yes_or_no(text: str) -> bool:
    answer = text.lower()
    if answer not in ("y", "yes", "n", "no"):
        raise InvalidArgumentError(f"expected y or n, got {shown(text)}", text)
    return answer.startswith("y")
