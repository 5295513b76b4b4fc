// A game against the server, which keeps the secret.

import {ask, askTwice, at, Fault, make, meter} from "./ask.js";
import {belief, doubt, proposal} from "./advice.js";
import {colorsOf, pegs, replied, Slots, textOf} from "./pegs.js";
import {hidePictures, showPictures} from "./pictures.js";
import {inWords, settingOf, showSetting} from "./setting.js";

const slots = new Slots(at("slots"), {changed: () => { at("add").disabled = !slots.complete; }});
let game = null;
let hinted = null; // the last hint, while it is about this turn

function show(next) {
  const before = game;
  game = next;
  const begun = Boolean(game.board);
  at("entry").hidden = !begun || game.over;
  at("undo").disabled = !begun || !game.rows.length;
  at("hint").disabled = !begun || game.over;
  at("give-up").disabled = !begun || game.over;
  at("setup").open = !begun;
  at("change").hidden = !begun;
  at("table").hidden = !begun;
  if (!begun) return;
  const setting = {...game.board, noise: game.noise, prior: game.prior};
  at("setting-words").textContent = inWords(setting);
  if (!before?.board) showSetting(at("setting"), setting);
  at("entry-title").textContent = `Guess ${game.rows.length + 1}`;
  slots.show(game.board);
  at("add").disabled = true;
  forget();
  showRows();
  if (game.over && game.rows.length) { showPictures(question(), null); judge(); }
  const parts = [];
  if (game.over) {
    parts.push(make("div", {class: "big"}, make("strong", {}, game.won ? "Found!" : "The code was"), pegs(colorsOf(game.secret)),
      make("button", {type: "button", class: "main", onclick: () => begin(setting)}, "Play again"),
      make("a", {href: `/watch#${encodeURIComponent(JSON.stringify({setting, secret: game.secret}))}`}, "Watch strategies find it")));
  }
  if (game.words) parts.push(make("p", {}, game.words));
  if (game.over && (game.hints || game.undone)) parts.push(make("p", {class: "hint"}, `Hints: ${game.hints}. Guesses taken back: ${game.undone}.`));
  at("state").replaceChildren(...parts);
}

function showRows() {
  at("rows").classList.toggle("long", game.board.pegs > 5);
  at("rows").replaceChildren(...game.rows.map((row, i) => {
    const told = hinted?.rows[i] && !row.won ? doubt(hinted.rows[i]) : null;
    const note = row.won ? make("span", {class: "tag good"}, "the code")
      : row.false ? make("span", {class: "tag bad"}, `false; it was ${row.true}`)
      : game.over && game.noise !== "exact" ? make("span", {class: "tag"}, "true") : null;
    return make("li", {class: row.false ? "row much" : "row"}, make("div", {class: "line"},
      make("span", {class: "number"}, String(i + 1)), pegs(colorsOf(row.guess)), replied(row.reply, game.board.pegs),
      make("div", {class: "actions"}, note), told?.element));
  }));
}

/** Show how much each guess of a game that is over could have told. */
async function judge() {
  const judged = game;
  at("advice-title").textContent = "Your guesses in retrospect";
  at("advice").replaceChildren(make("p", {class: "muted"}, "Judging the guesses …"));
  let parts;
  try {
    const got = await askTwice("/api/play/review", null, {method: "GET"});
    parts = [make("p", {class: "why"}, make("strong", {}, got.words)), retrospect(got.rows),
      make("p", {class: "hint"}, "In bits, given all that was known before the guess. A bit is what one fair yes-or-no question tells.")];
  } catch (fault) {
    parts = [make("p", {class: "notice"}, fault.message)];
  }
  if (game === judged) at("advice").replaceChildren(...parts);
}

function retrospect(rows) {
  const most = Math.max(...rows.map((row) => row.best_information), 1e-9);
  return make("ol", {class: "retrospect"}, ...rows.map((row, i) => {
    const lost = row.regret >= 0.005;
    const bar = meter(row.information / most);
    bar.append(make("b", {class: "was", share: row.best_information / most}));
    return make("li", {},
      make("div", {class: "line"}, make("span", {class: "number"}, String(i + 1)), pegs(colorsOf(row.guess), {small: true}), bar,
        make("span", {class: "share"}, row.information.toFixed(2))),
      make("p", {class: "hint"},
        row.chance > 1 - 1e-9 ? "The code was known." : lost ? `Lost ${row.regret.toFixed(2)}: ` : "The most informative guess. ",
        lost ? pegs(colorsOf(row.best), {small: true}) : null,
        lost ? ` should have told ${row.best_information.toFixed(2)}. ` : null,
        row.chance > 1 - 1e-9 ? null : row.told < -0.005 ? `The reply misled by ${(-row.told).toFixed(2)}.` : `The reply told ${row.told.toFixed(2)}.`));
  }));
}

function forget() {
  hinted = null;
  at("advice-title").textContent = "Hint";
  at("advice").replaceChildren(make("p", {class: "muted"}, game.over ? "The game is over." : "Ask for a hint, and bnmind proposes a guess and says which replies it doubts."));
  at("belief").replaceChildren();
  hidePictures();
}

/** Return the game as the API knows it elsewhere. */
function question() {
  const {pegs, colors, repeats} = game.board;
  const turns = game.rows.map(({guess, reply}) => ({guess, reply}));
  return {pegs, colors, repeats, noise: game.noise, prior: game.prior, turns, goes_on: !game.won};
}

/** Send a question, and show the game that comes back. */
async function send(path, body) {
  try {
    show(await ask(path, body));
    return true;
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    at(path === "/api/play" ? "fault" : "state").replaceChildren(make("p", {class: "notice bad"}, fault.message));
    return false;
  }
}

async function begin(setting) {
  at("fault").replaceChildren();
  if (await send("/api/play", {...setting})) { at("setup").open = false; slots.focus(); }
}

at("setting").addEventListener("submit", (event) => { event.preventDefault(); begin(settingOf(at("setting"))); });
at("entry").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!slots.complete) return;
  at("add").disabled = true;
  if (!await send("/api/play/guess", {guess: textOf(slots.code)})) at("add").disabled = !slots.complete;
  else if (!game.over) slots.focus();
});
at("slots").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && slots.complete) { event.preventDefault(); at("entry").requestSubmit(); }
});
at("undo").addEventListener("click", () => send("/api/play/undo"));
at("give-up").addEventListener("click", () => at("ask").showModal());
at("ask-no").addEventListener("click", () => at("ask").close());
at("ask-yes").addEventListener("click", () => { at("ask").close(); send("/api/play/give-up"); });
at("hint").addEventListener("click", async () => {
  at("hint").disabled = true;
  at("advice").replaceChildren(make("p", {class: "muted"}, "Thinking …"));
  const turn = game.rows.length;
  try {
    const got = await ask("/api/play/hint");
    if (game.rows.length !== turn || game.over) return;
    hinted = got;
    at("advice").replaceChildren(...proposal(got, (guess) => { slots.show(game.board, guess); at("add").disabled = false; slots.focus(); }));
    at("belief").replaceChildren(...belief(got));
    showRows();
    showPictures(question(), got.guess);
    if (matchMedia("(max-width: 58rem)").matches) at("hint-card").scrollIntoView({block: "start"});
  } catch (fault) {
    at("advice").replaceChildren(make("p", {class: "notice bad"}, fault.message));
  } finally {
    at("hint").disabled = game.over;
  }
});

(async () => {
  try {
    show(await ask("/api/play", null, {method: "GET"}));
  } catch (fault) {
    at("fault").replaceChildren(make("p", {class: "notice bad"}, fault.message));
  }
})();
