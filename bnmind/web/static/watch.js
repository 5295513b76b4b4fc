// Strategies side by side. The server plays each game at once; this page shows it step by step.

import {ask, at, Fault, make, meter} from "./ask.js";
import {positions, probable} from "./advice.js";
import {colorsOf, pegs, replied} from "./pegs.js";
import {hidePictures, showPictures} from "./pictures.js";
import {inWords, settingOf, showSetting} from "./setting.js";
import {drawEntropies} from "./shapes.js";

const MOST = 4;
const KEY = "bnmind watch";

let strategies = [];
let names = ["entropy", "knuth", "map"];
let setting = settingOf(at("setting"));
let seed = luck();
let secret = null;
let games = [];      // for each player: a game, a sentence about what went wrong, or null
let turn = 0;
let timer = null;
let looking = 0;
let asking = null;

function luck() { return crypto.getRandomValues(new Uint32Array(1))[0] % 1000000; }

const played = () => games.filter((game) => game?.rows);
const longest = () => Math.max(0, ...played().map((game) => game.rows.length));

/** Let the server play all games anew. */
async function start() {
  pause();
  asking?.abort();
  const mine = asking = new AbortController();
  at("setting-words").textContent = `${inWords(setting)}; game ${seed}`;
  at("seed").value = String(seed);
  at("fault").replaceChildren();
  games = names.map(() => null);
  turn = 0;
  show();
  await Promise.all(names.map(async (strategy, i) => {
    try {
      const game = await ask("/api/watch", {...setting, strategy, seed, secret}, {signal: mine.signal});
      if (asking === mine) games[i] = game;
    } catch (fault) {
      if (fault.name === "AbortError") return;
      if (!(fault instanceof Fault)) throw fault;
      if (asking === mine) games[i] = fault.message;
    }
    if (asking === mine) show();
  }));
  if (asking === mine && played().length) {
    try { localStorage.setItem(KEY, JSON.stringify({names, setting})); } catch { /* private windows may refuse */ }
  }
  if (asking !== mine || !games.every((game) => typeof game === "string" && game === games[0])) return;
  at("fault").replaceChildren(make("p", {class: "notice bad"}, games[0]));
  at("boards").replaceChildren();
}

function play() {
  if (turn >= longest()) turn = 0;
  timer = setInterval(() => { if (turn < longest()) go(turn + 1); if (turn >= longest()) { pause(); controls(); } }, Number(at("speed").value));
  go(turn + 1);
}

function pause() {
  clearInterval(timer);
  timer = null;
}

function go(next) {
  turn = Math.max(0, Math.min(longest(), next));
  show();
}

function show() {
  controls(); showBoards(); showEntropies(); look();
}

function controls() {
  const ready = games.length > 0 && games.every(Boolean) && longest() > 0;
  at("run").textContent = timer ? "Pause" : "Play";
  at("run").disabled = !ready;
  for (const id of ["first", "back"]) at(id).disabled = !ready || turn === 0;
  for (const id of ["step", "last"]) at(id).disabled = !ready || turn >= longest();
  at("turn").textContent = ready ? `Guess ${turn} of ${longest()}` : games.some((game) => game === null) ? "The server plays …" : "";
  at("add-player").disabled = names.length >= MOST;
}

function showChoices() {
  at("choices").replaceChildren(...names.map((name, i) => make("div", {class: "player"},
    make("label", {class: "field"}, make("span", {}, make("i", {class: `swatch s${i + 1}`, "aria-hidden": "true"}), ` Player ${i + 1}`),
      make("select", {id: `player-${i}`, onchange: (event) => { names = names.map((old, k) => (k === i ? event.target.value : old)); showChoices(); start(); at(`player-${i}`).focus(); }},
        ...strategies.map((one) => make("option", {value: one.name, selected: one.name === name}, one.name)))),
    names.length > 1 ? make("button", {type: "button", class: "link", "aria-label": `Remove player ${i + 1}, ${name}`, onclick: () => { names = names.filter((_, k) => k !== i); showChoices(); start(); at("add-player").focus(); }}, "Remove") : null)));
}

function showBoards() {
  const found = played()[0]?.secret;
  at("secret-shown").replaceChildren(...(found ? [make("span", {}, "The secret: "), pegs(colorsOf(found))] : []));
  at("boards").classList.toggle("long", setting.pegs > 5);
  at("boards").replaceChildren(...names.map((name, i) => {
    const game = games[i];
    const about = strategies.find((one) => one.name === name)?.about ?? "";
    const head = [make("h3", {}, make("i", {class: `swatch s${i + 1}`, "aria-hidden": "true"}), ` ${name}`), make("p", {class: "hint"}, about)];
    if (!game) return make("section", {class: "card thinking", "aria-label": `Player ${i + 1}: ${name}`}, ...head, make("p", {class: "muted"}, "Playing …"));
    if (typeof game === "string") return make("section", {class: "card", "aria-label": `Player ${i + 1}: ${name}`}, ...head, make("p", {class: "notice bad"}, game));
    const rows = game.rows.slice(0, turn);
    const left = rows.at(-1)?.entropy ?? game.entropy;
    const done = turn >= game.rows.length;
    return make("section", {class: done && game.won ? "card done" : "card", "aria-label": `Player ${i + 1}: ${name}`}, ...head,
      make("ol", {class: "rows"}, ...rows.map((row, k) => make("li", {class: row.false ? "row much" : "row"},
        make("span", {class: "number"}, String(k + 1)), pegs(colorsOf(row.guess), {small: true}), replied(row.reply, setting.pegs),
        make("span", {class: "bits"}, `${row.entropy.toFixed(2)} bits left`),
        row.won ? make("span", {class: "tag good"}, "the code") : row.false ? make("span", {class: "tag bad", title: `The reply was false; the true one is ${row.true}.`}, `true: ${row.true}`) : null))),
      make("div", {class: "gauge"}, meter(game.entropy ? left / game.entropy : 0),
        make("small", {}, `${left.toFixed(2)} of ${game.entropy.toFixed(2)} bits left`)),
      make("p", {class: "outcome"}, done ? make("span", {class: game.won ? "tag good" : "tag bad"}, game.words) : make("span", {class: "muted"}, turn ? "Still looking." : "Not begun.")));
  }));
}

function showEntropies() {
  const shown = names.map((name, i) => ({name, game: games[i]})).map(({name, game}) =>
    ({name, entropies: game?.rows ? [game.entropy, ...game.rows.slice(0, turn).map((row) => row.entropy)] : []}));
  at("compared").hidden = !played().length;
  if (!played().length) return;
  at("legend").replaceChildren(...names.map((name, i) => make("li", {}, make("i", {class: `swatch s${i + 1}`, "aria-hidden": "true"}), ` ${name}`)));
  drawEntropies(at("all-entropies"), shown, {all: Math.max(1, ...played().map((game) => game.entropy)), last: longest()});
}

/** Show nothing of what a player can know: the page says why. */
function forget() {
  for (const id of ["look-positions", "look-probable"]) at(id).replaceChildren(make("p", {class: "muted"}, "Not known now."));
}

/** Show what one player can know now, and the guess that comes next. */
async function look() {
  const options = names.map((name, i) => ({name, i})).filter(({i}) => games[i]?.rows);
  at("looked").hidden = !options.length;
  if (!options.length) { hidePictures(); return; }
  const shown = options.some(({i}) => i === looking) ? looking : options[0].i;
  const wanted = options.map(({name, i}) => `${i}:${name}`).join();
  if (at("look").dataset.of !== wanted) {
    at("look").dataset.of = wanted;
    at("look").replaceChildren(...options.map(({name, i}) => make("option", {value: i}, `${i + 1}: ${name}`)));
  }
  at("look").value = String(shown);
  const game = games[shown];
  const rows = game.rows.slice(0, turn);
  const next = game.rows[turn]?.guess ?? null;
  at("look-words").textContent = `The exact belief of somebody who has seen the same replies as the player ${names[shown]}, and knows the noise.${next ? " The player's next guess is marked." : ""}`;
  const turns = rows.map(({guess, reply}) => ({guess, reply}));
  const won = rows.at(-1)?.won ?? false;
  const known = await showPictures({...setting, turns, goes_on: !won}, next, {entropy: false, failed: forget, again: look});
  if (!known) return;
  at("look-positions").replaceChildren(known.positions ? positions(known.positions) : make("p", {}, "The code is found."));
  at("look-probable").replaceChildren(probable(known.most_probable.slice(0, 8)));
}

at("run").addEventListener("click", () => { if (timer) { pause(); controls(); } else play(); });
at("step").addEventListener("click", () => { pause(); go(turn + 1); });
at("back").addEventListener("click", () => { pause(); go(turn - 1); });
at("first").addEventListener("click", () => { pause(); go(0); });
at("last").addEventListener("click", () => { pause(); go(longest()); });
at("speed").addEventListener("change", () => { if (timer) { pause(); play(); } });
at("look").addEventListener("change", () => { looking = Number(at("look").value); look(); });
at("again").addEventListener("click", () => { seed = luck(); secret = null; at("secret").value = ""; start(); });
at("add-player").addEventListener("click", () => {
  const unused = strategies.find((one) => !names.includes(one.name)) ?? strategies[0];
  names = [...names, unused.name].slice(0, MOST);
  showChoices(); start();
  at(`player-${names.length - 1}`).focus();
});
at("setting").addEventListener("submit", (event) => {
  event.preventDefault();
  setting = settingOf(at("setting"));
  secret = at("secret").value.trim() || null;
  const wanted = at("seed").value === "" ? NaN : Number(at("seed").value);
  seed = Number.isSafeInteger(wanted) && wanted >= 0 ? wanted : luck();
  at("setup").open = false;
  start();
});
addEventListener("resize", showEntropies);

/** Take over the game that a link describes, such as that of the page Play. */
function fromAddress() {
  try {
    const given = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const {pegs, colors, repeats, noise, prior} = given.setting;
    setting = {pegs: Number(pegs), colors: Number(colors), repeats: Boolean(repeats), noise: String(noise), prior: String(prior)};
    secret = String(given.secret);
    history.replaceState(null, "", location.pathname);
  } catch { /* the address describes no game */ }
}

(async () => {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY));
    if (kept?.setting?.noise && Array.isArray(kept.names)) ({names, setting} = kept);
  } catch { /* nothing is kept */ }
  fromAddress();
  showSetting(at("setting"), setting);
  at("secret").value = secret ?? "";
  try {
    strategies = await ask("/api/watch/strategies", null, {method: "GET"});
    names = names.filter((name) => strategies.some((one) => one.name === name)).slice(0, MOST);
    if (!names.length) names = ["entropy"];
    showChoices();
    await start();
  } catch (fault) {
    at("fault").replaceChildren(make("p", {class: "notice bad"}, fault.message));
  }
})();
