// The pictures of a belief: entropy by turn, information of all guesses, Vomlel's network.

import {ask, askTwice, at, make} from "./ask.js";
import {drawEntropies, drawInformation, save, showPicture} from "./shapes.js";

const STAGES = {
  1: "The full network: the guess T, the code H, and the counts that make the reply. Boxes of the guess are marked.",
  2: "The guess is inserted, so T and G are gone.",
  3: "The table of C is replaced by products with an auxiliary variable B. Lines join variables of one table.",
};

let stage = 1;
let current = null;  // the game and the guess that are shown
let drawn = null;    // for what the network was drawn
let last = null;     // the last answer, to draw again when the width changes
let sources = null;  // the pictures of the stage, as text
let asking = null, staging = null;

/**
 * Show the pictures of a game; the guess may be null. Return what is known, or null if it does not
 * come: a newer question has overtaken this one, or there is a fault. The page says which fault,
 * and offers to try again; `failed` is called before.
 */
export async function showPictures(game, guess, {entropy = true, failed = () => {}, again = null} = {}) {
  asking?.abort();
  const mine = asking = new AbortController();
  current = {...game, guess};
  let known;
  try {
    known = await askTwice("/api/known", current, {signal: mine.signal});
    if (asking !== mine) return null;
  } catch (fault) {
    if (asking !== mine || fault.name === "AbortError") return null; // a newer question is on its way
    failed();
    showFault(fault, again ?? (() => showPictures(game, guess, {entropy, failed})));
    return null;
  }
  at("pictures-fault").replaceChildren();
  last = known;
  at("entropy-panel").hidden = !entropy;
  at("stage").hidden = !guess || !known.has_network;
  at("pictures").hidden = !entropy && (known.information?.chosen ?? null) === null;
  draw();
  if (at("stage").open) showStage();
  return known;
}

function draw() {
  if (!at("entropy-panel").hidden) drawEntropies(at("entropy-picture"), [{name: "", entropies: last.entropies}], {all: Math.log2(last.n_codes)});
  const marked = last.information && last.information.chosen !== null;
  at("information-panel").hidden = !marked;
  if (!marked) return;
  drawInformation(at("information-picture"), last.information);
  if (last.information.words) at("information-picture").append(make("p", {class: "hint"}, last.information.words));
}

/** Say in place of the pictures why there are none. */
function showFault(fault, again) {
  staging?.abort();
  last = drawn = null;
  for (const id of ["entropy-panel", "information-panel", "stage"]) at(id).hidden = true;
  at("pictures-fault").replaceChildren(make("p", {class: "notice bad"}, `There are no pictures now. ${fault.message} `,
    make("button", {type: "button", class: "link", onclick: again}, "Try again"), "."));
  at("pictures").hidden = false;
}

export function hidePictures() {
  asking?.abort(); staging?.abort();
  asking = staging = current = last = drawn = null;
  at("pictures-fault").replaceChildren();
  at("pictures").hidden = true;
}

async function showStage() {
  if (!current?.guess || at("stage").hidden) return;
  const wanted = JSON.stringify([current, stage]);
  if (drawn === wanted) return;
  for (const button of at("stage").querySelectorAll("[data-stage]")) button.setAttribute("aria-pressed", String(Number(button.dataset.stage) === stage));
  at("stage-words").textContent = `${STAGES[stage]} State 1 is the color A, and so on; a box tells its numbers when you point at it.`;
  staging?.abort();
  const mine = staging = new AbortController();
  try {
    const got = await ask("/api/stage", {...current, stage}, {signal: mine.signal});
    if (staging !== mine) return;
    drawn = wanted;
    sources = got;
    at("save-stage").disabled = at("save-tree").disabled = false;
    at("stage-fault").replaceChildren();
    showPicture(at("stage-picture"), got.svg);
    showPicture(at("tree-picture"), got.tree_svg);
    at("clique-words").textContent = got.words;
    at("cliques").replaceChildren(...got.cliques.map((one) =>
      make("tr", {}, make("td", {}, one.variables.join(", ")), make("td", {class: "share"}, one.words))));
  } catch (fault) {
    if (staging !== mine || fault.name === "AbortError") return;
    drawn = sources = null;
    at("save-stage").disabled = at("save-tree").disabled = true;
    at("stage-fault").replaceChildren(make("p", {class: "notice bad"}, fault.message));
    for (const id of ["stage-picture", "tree-picture", "cliques"]) at(id).replaceChildren();
    at("clique-words").textContent = "";
  }
}

at("stage").addEventListener("toggle", () => { if (at("stage").open) showStage(); });
for (const button of at("stage").querySelectorAll("[data-stage]")) {
  button.addEventListener("click", () => { stage = Number(button.dataset.stage); showStage(); });
}
at("save-stage").addEventListener("click", () => save(sources.svg, `vomlel-stage-${sources.stage}.svg`));
at("save-tree").addEventListener("click", () => save(sources.tree_svg, `vomlel-stage-${sources.stage}-tree.svg`));
addEventListener("resize", () => { if (last && !at("pictures").hidden) draw(); });
