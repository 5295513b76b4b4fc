// Help in a game that is played elsewhere. The game lives in this page and in the browser's storage.

import {ask, at, make, percent} from "./ask.js";
import {belief, doubt, proposal} from "./advice.js";
import {colorsOf, countsOf, pegs, replied, Slots, textOf} from "./pegs.js";
import {hidePictures, showPictures} from "./pictures.js";
import {inWords, settingOf, showSetting} from "./setting.js";

const KEY = "bnmind assist";
const slots = new Slots(at("slots"), {changed: () => { proposed = false; refreshEntry(); tellOwn(); }});

let game = stored() ?? {setting: settingOf(at("setting")), rows: [], goesOn: false};
let past = [];       // earlier states of the game, for undo
let edited = null;   // the row that is being edited
let opened = null;   // the row whose what-if panel is open
let answer = null;   // the last advice
let proposed = true; // whether the slots still hold what bnmind proposes
let asking = null;
let weighing = null;

function stored() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    return kept?.setting?.noise && Array.isArray(kept.rows) ? kept : null;
  } catch { return null; }
}

function keep() {
  try { localStorage.setItem(KEY, JSON.stringify(game)); } catch { /* private windows may refuse */ }
}

/** Change the game; what it was can be restored. */
function change(next) {
  past = [...past.slice(-99), game];
  game = {...game, ...next};
  edited = null; opened = null;
  keep(); refresh();
}

const used = () => game.rows.map((row, i) => ({row, i})).filter(({row}) => !row.off);
const turns = () => used().map(({row}) => ({guess: textOf(row.guess), reply: row.reply}));
const question = () => ({...game.setting, turns: turns(), goes_on: game.goesOn});

async function refresh() {
  at("rows").classList.toggle("long", game.setting.pegs > 5);
  showRows(); refreshEntry(true); showTools();
  asking?.abort();
  const mine = asking = new AbortController();
  const card = at("advice").parentElement;
  card.setAttribute("aria-busy", "true");
  card.classList.add("thinking");
  try {
    const got = await ask("/api/suggest", question(), {signal: mine.signal});
    if (asking !== mine) return;
    answer = got;
    at("advice-title").textContent = got.found ? "The code" : "Next guess";
    at("advice").replaceChildren(...proposal(got, got.found ? null : use));
    at("belief").replaceChildren(...belief(got));
    if (proposed && edited === null && !got.found) slots.show(game.setting, colorsOf(got.guess));
    showRows(); refreshEntry(); tellOwn();
    picture(got.found ? null : got.guess);
  } catch (fault) {
    if (asking !== mine || fault.name === "AbortError") return;
    answer = null;
    at("own").textContent = "";
    at("advice-title").textContent = "No advice";
    at("advice").replaceChildren(make("p", {class: "notice bad"}, fault.message), ...ways());
    at("belief").replaceChildren();
    hidePictures();
    showRows(); refreshEntry();
  }
  card.removeAttribute("aria-busy");
  card.classList.remove("thinking");
}

/** Return what to try when there is no advice. */
function ways() {
  if (!game.rows.length) return [];
  const open = () => { at("setup").open = true; at("setup").scrollIntoView({block: "start"}); };
  return [make("p", {}, "Check the rows, or ", make("button", {type: "button", class: "link", onclick: open}, "tell bnmind that replies may be wrong"), ".")];
}

function use(guess) {
  proposed = true;
  slots.show(game.setting, guess);
  refreshEntry(); tellOwn();
  at("entry").scrollIntoView({block: "nearest"});
  slots.focus();
}

function showTools() {
  at("undo").disabled = !past.length;
  at("new").disabled = !game.rows.length;
  at("setting-words").textContent = inWords(game.setting);
  const n = game.setting.pegs;
  at("text").value = game.rows.filter((row) => !row.off).map((row) => {
    const code = game.setting.colors <= 10 ? row.guess.map((color) => color % 10).join("") : textOf(row.guess);
    return `${code} ${row.reply}`;
  }).join(", ");
  const last = used().at(-1)?.row;
  at("goes-on").hidden = !(last && last.reply === `${n}b0w` && !game.goesOn && game.setting.noise.startsWith("independent"));
}

function showRows() {
  const focused = document.activeElement?.dataset?.act;
  const places = new Map(used().map(({i}, place) => [i, place]));
  at("rows").replaceChildren(...game.rows.map((row, i) => {
    const told = places.has(i) && answer?.rows.length === places.size ? answer.rows[places.get(i)] : null;
    const doubted = told && textOf(colorsOf(told.guess)) === textOf(row.guess) ? doubt(told) : null;
    const some = answer && (answer.contradictions === null || answer.contradictions > 0);
    const act = (name, words, press, more = {}) => make("button", {type: "button", "data-act": `${name} ${i}`, onclick: press, ...more}, words);
    const own = ["row", row.off ? "off" : "", edited === i ? "edited" : "", doubted && some ? doubted.kind : ""];
    return make("li", {class: own.filter(Boolean).join(" ")},
      make("div", {class: "line"},
        make("span", {class: "number"}, String(i + 1)),
        pegs(row.guess), replied(row.reply, game.setting.pegs),
        make("div", {class: "actions"},
          row.off
            ? act("restore", "Use again", () => change({rows: replace(i, {...row, off: false})}))
            : act("what", "What if …", () => toggle(i), {"aria-expanded": String(opened === i), "aria-label": `What if row ${i + 1} …`}),
          act("edit", "Edit", () => edit(i), {"aria-label": `Edit row ${i + 1}`}),
          act("delete", "Delete", () => change({rows: game.rows.filter((_, k) => k !== i), goesOn: false}), {"aria-label": `Delete row ${i + 1}`})),
        row.off ? make("div", {class: "doubt"}, make("span", {class: "tag"}, "ignored")) : doubted && some ? doubted.element : null),
      opened === i && told ? whatIf(i, places.get(i), told) : null);
  }));
  if (focused) document.querySelector(`[data-act="${focused}"]`)?.focus();
}

const replace = (i, row) => game.rows.map((old, k) => (k === i ? row : old));

function toggle(i) {
  opened = opened === i ? null : i;
  showRows();
}

function edit(i) {
  edited = i; opened = null; proposed = false;
  slots.show(game.setting, game.rows[i].guess);
  showRows(); refreshEntry(true); tellOwn();
  check(...countsOf(game.rows[i].reply));
  at("entry").scrollIntoView({block: "nearest", behavior: "smooth"});
  slots.focus();
}

/** Return the panel that shows the same game with one row different. */
function whatIf(i, place, told) {
  const row = game.rows[i];
  const result = make("div", {"aria-live": "polite"});
  const chips = make("div", {class: "chips"});
  const options = told.true_replies.filter((one) => one.reply !== row.reply)
    .map((one) => ({reply: one.reply, words: `was ${one.reply} (${one.words})`}));
  const buttons = [{reply: null, words: "is ignored"}, ...options].map((option) =>
    make("button", {type: "button", "aria-pressed": "false", onclick: (event) => choose(option.reply, event.currentTarget)}, option.words));
  const asReported = told.true_replies.find((one) => one.reply === row.reply);
  chips.append(...buttons);
  const other = make("form", {class: "buttons", onsubmit: (event) => {
    event.preventDefault();
    const typed = new FormData(event.currentTarget).get("reply").trim();
    if (typed) choose(typed, null);
  }}, make("label", {class: "field"}, make("span", {}, "or was"),
    make("input", {name: "reply", class: "reply-text", placeholder: "1b1w", size: "6", autocomplete: "off"})),
  make("button", {type: "submit", class: "quiet"}, "Show"));

  async function choose(reply, button) {
    for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
    result.replaceChildren(make("p", {class: "muted"}, "Thinking …"));
    try {
      const then = await ask("/api/what-if", {...question(), row: place, instead: reply});
      const shown = reply === null ? null : then.rows[place].reply;
      result.replaceChildren(versus(then, place, shown), make("button", {type: "button", class: "quiet", onclick: () =>
        change({rows: replace(i, shown === null ? {...row, off: true} : {...row, reply: shown})})},
      shown === null ? "Ignore this row" : `Change it to ${shown}`));
    } catch (fault) {
      result.replaceChildren(make("p", {class: "notice bad"}, fault.message));
    }
  }

  return make("div", {class: "what-if"},
    make("h3", {}, `What if row ${i + 1} …`),
    asReported || told.probability_wrong > 0 ? make("p", {class: "hint"}, `Judging by all rows, ${row.reply} is right with probability ${percent(1 - told.probability_wrong)}.`) : null,
    chips, other, result);
}

/** Return the belief now and then, side by side. */
function versus(then, place, shown) {
  const doubts = (one, skip) => {
    const rows = one.rows.map((row, k) => ({row, number: skip !== null && k >= skip ? k + 1 : k}))
      .filter(({row}) => row.probability_wrong >= 0.005)
      .sort((a, b) => b.row.probability_wrong - a.row.probability_wrong).slice(0, 3);
    return rows.length ? rows.map(({row, number}) => `row ${used()[number].i + 1} ${row.words}`).join(", ") : "none";
  };
  const line = (name, now, later) => [make("span", {class: "label"}, name), make("span", {}, now), make("span", {}, later)];
  const code = (one) => pegs(colorsOf(one.most_probable[0].code), {small: true});
  return make("div", {class: "versus"},
    make("span", {class: "label"}), make("span", {class: "head-now"}, "now"), make("span", {class: "head-now"}, "then"),
    ...line("Unknown", `${answer.entropy.toFixed(2)} bits`, `${then.entropy.toFixed(2)} bits`),
    ...line("Most probable", make("span", {}, code(answer), ` ${percent(answer.most_probable[0].probability)}`), make("span", {}, code(then), ` ${percent(then.most_probable[0].probability)}`)),
    ...line("Doubtful", doubts(answer, null), doubts(then, shown === null ? place : null)),
    ...line("Next guess", pegs(colorsOf(answer.guess), {small: true}), pegs(colorsOf(then.guess), {small: true})));
}

let pictured = "";

/** Let the pictures show the game with a guess marked, once. */
function picture(guess) {
  const wanted = JSON.stringify([question(), guess]);
  if (wanted === pictured && !at("pictures").hidden) return;
  pictured = wanted;
  showPictures(question(), guess);
}

/** Tell what the guess in the slots should tell: the proposal, or one of the player's own. */
async function tellOwn() {
  weighing?.abort();
  weighing = null;
  at("own").textContent = "";
  if (!answer || answer.found || edited !== null || !slots.complete) return;
  if (textOf(slots.code) === textOf(colorsOf(answer.guess))) {
    at("own").textContent = `bnmind proposes this guess. ${answer.words.chance}`;
    picture(answer.guess);
    return;
  }
  const mine = weighing = new AbortController();
  try {
    const own = await ask("/api/guess", {...question(), guess: textOf(slots.code)}, {signal: mine.signal});
    if (weighing !== mine) return;
    at("own").textContent = `Your guess ${own.words.chance}. It should tell ${own.information.toFixed(2)} bits; the proposal should tell ${answer.information.toFixed(2)}.`;
    picture(textOf(slots.code));
  } catch (fault) {
    if (weighing !== mine || fault.name === "AbortError") return;
    at("own").textContent = `Nothing is known about your guess now. ${fault.message}`;
  }
}

// --- The entry ---------------------------------------------------------------------------------

function refreshEntry(again = false) {
  const n = game.setting.pegs;
  const over = answer?.found && edited === null;
  at("entry").hidden = Boolean(over);
  if (again) {
    if (slots.board === null || slots.code.length !== n || slots.board.colors !== game.setting.colors) slots.show(game.setting);
    slots.board = game.setting;
    at("reply").replaceChildren(counts("black", n, "Black: right color, right position"), counts("white", n, "White: right color, wrong position"));
    at("entry-title").textContent = edited === null ? `Guess ${game.rows.length + 1}` : `Row ${edited + 1}`;
    at("add").textContent = edited === null ? "Add this row" : "Save this row";
    at("cancel").hidden = edited === null;
  }
  at("add").disabled = !(slots.complete && reply() !== null);
}

function counts(name, n, words) {
  return make("fieldset", {class: "counts"}, make("legend", {}, words), make("div", {},
    ...Array.from({length: n + 1}, (_, k) => make("label", {},
      make("input", {type: "radio", name, value: k, onchange: () => refreshEntry()}), make("span", {}, String(k))))));
}

function check(black, white) {
  for (const [name, value] of [["black", black], ["white", white]]) {
    const input = at("entry").querySelector(`input[name="${name}"][value="${value}"]`);
    if (input) input.checked = true;
  }
  refreshEntry();
}

/** Return the reply that is chosen; a color that was not counted is 0 if the other one was. */
function reply() {
  const fields = new FormData(at("entry"));
  const black = fields.get("black"), white = fields.get("white");
  return black === null && white === null ? null : `${black ?? 0}b${white ?? 0}w`;
}

at("entry").addEventListener("submit", (event) => {
  event.preventDefault();
  if (!slots.complete || reply() === null) return;
  const row = {guess: [...slots.code], reply: reply(), off: false};
  const rows = edited === null ? [...game.rows, row] : replace(edited, row);
  proposed = true;
  change({rows, goesOn: false});
});
at("cancel").addEventListener("click", () => { edited = null; proposed = true; refresh(); });
at("undo").addEventListener("click", () => {
  game = past.at(-1); past = past.slice(0, -1);
  edited = null; opened = null; proposed = true;
  showSetting(at("setting"), game.setting);
  keep(); refresh();
});
at("new").addEventListener("click", () => { proposed = true; change({rows: [], goesOn: false}); });
at("goes-on-button").addEventListener("click", () => change({goesOn: true}));
at("setting").addEventListener("submit", (event) => event.preventDefault());
at("setting").addEventListener("change", () => {
  const setting = settingOf(at("setting"));
  const same = ["pegs", "colors", "repeats"].every((name) => setting[name] === game.setting[name]);
  proposed = true;
  if (!same) slots.show(setting);
  change({setting, rows: same ? game.rows : [], goesOn: false});
});
at("use-text").addEventListener("click", async () => {
  try {
    const read = await ask("/api/history", {...game.setting, text: at("text").value});
    proposed = true;
    change({rows: read.turns.map((turn) => ({guess: colorsOf(turn.guess), reply: turn.reply, off: false})), goesOn: false});
  } catch (fault) {
    at("advice").replaceChildren(make("p", {class: "notice bad"}, fault.message));
    at("advice").scrollIntoView({block: "nearest"});
  }
});

showSetting(at("setting"), game.setting);
slots.show(game.setting);
refresh();
