// A test: this page shows one question at a time and sends the answer. All else is on the server.

import {ask, at, make, meter} from "./ask.js";
import {profileOf, when} from "./profile.js";

const KEPT = "bnmind-test";
let about = null;   // the test
let key = null;     // the secret of the session
let state = null;   // the last state
let busy = false;

const path = (rest = "") => `/api/tests/${encodeURIComponent(key)}${rest}`;
const say = (text, kind = "bad") => at("notice").replaceChildren(...(text ? [make("p", {class: `notice ${kind}`}, text)] : []));

function stored(change) {
  // A browser may refuse to keep anything; then the access code still leads back.
  try {
    if (change === undefined) return localStorage.getItem(KEPT);
    if (change === null) localStorage.removeItem(KEPT); else localStorage.setItem(KEPT, change);
  } catch { /* not kept */ }
  return null;
}

async function start() {
  try {
    about = await ask("/api/tests", null, {method: "GET"});
  } catch (fault) {
    say(fault.message);
    return;
  }
  at("title").textContent = about.title || "Take a test";
  const skills = about.skills.length === 1 ? "one skill" : `${about.skills.length} skills`;
  at("lead").textContent = about.is_demonstration
    ? "A demonstration. Each question is chosen by your answers so far, and the page says why. Its answers are kept until the server stops."
    : `A test of ${skills}, with at most ${about.most_items} ${about.most_items === 1 ? "question" : "questions"}. Each is chosen by your answers so far. Every answer is saved at once.`;
  key = stored();
  if (key === null) { enter(); return; }
  try {
    show(await ask(path(), null, {method: "GET"}));
  } catch (fault) {
    if (fault.status === 404 || fault.status === 410) { leave(); say(fault.message, "warn"); } else say(fault.message);
  }
}

function enter() {
  at("entry").hidden = false;
  at("code-field").hidden = about.is_demonstration;
  at("code").required = about.needs_code;
  at("name-field").hidden = about.needs_code;
  at("entry-hint").textContent = about.is_demonstration ? "" : about.needs_code
    ? "Your teacher has given you the code. With the same code you can go on later, here or on another computer."
    : "With an access code you can go on later on another computer. Without one, go on in this browser.";
}

function leave() {
  stored(null);
  key = state = null;
  for (const id of ["table", "report", "away"]) at(id).hidden = true;
  say("");
  at("entry").reset();
  enter();
}

at("entry").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (busy) return;
  busy = true;
  say("");
  try {
    const got = await ask("/api/tests", {code: at("code").value.trim(), name: at("name").value.trim()});
    key = got.session;
    stored(key);
    show(got, {moved: true});
  } catch (fault) {
    say(fault.message);
    at("code").focus();
  }
  busy = false;
});

function show(next, {moved = false} = {}) {
  state = next;
  at("entry").hidden = true;
  at("away").hidden = state.over;
  at("table").hidden = state.over;
  at("report").hidden = !state.over;
  if (state.over) { report(moved); return; }
  const question = state.question;
  at("question-title").textContent = `Question ${state.number + 1}${state.name ? ` · ${state.name}` : ""}`;
  at("text").textContent = question.text;
  at("picture").hidden = !question.picture;
  if (question.picture) at("picture").src = question.picture;
  at("choices").replaceChildren(...question.choices.map((text, place) => make("label", {class: "choice"},
    make("input", {type: "radio", name: "choice", value: String(place), onchange: ready}), make("span", {}, text))));
  at("question-hint").textContent = question.marks_itself
    ? "Solve it on paper, compare with the solution, then say how it went."
    : question.choices.length <= 9 ? "Click an answer, or type its number." : "";
  ready();
  at("reasons").replaceChildren();
  at("known").hidden = !state.profile;
  at("table").classList.toggle("alone", !state.profile);
  at("why-part").hidden = !state.shows.during;
  if (state.profile) at("profile").replaceChildren(...profileOf(state.profile));
  if (moved) at("question-title").focus({preventScroll: false});
}

const chosen = () => at("choices").querySelector("input:checked");
function ready() { at("answer").disabled = !chosen(); }

at("question").addEventListener("submit", async (event) => {
  event.preventDefault();
  const radio = chosen();
  if (!radio || busy) return;
  busy = true;
  say("");
  at("saved").textContent = "Saving …";
  at("question").classList.add("thinking");
  try {
    show(await ask(path("/answer"), {number: state.number, item: state.question.item, choice: Number(radio.value)}), {moved: true});
    at("saved").textContent = "Saved.";
  } catch (fault) {
    at("saved").textContent = "";
    await unsaved(fault);
  }
  at("question").classList.remove("thinking");
  busy = false;
});

/** Say that an answer did not count, and show what the server asks now. */
async function unsaved(fault) {
  if (fault.status === 409) {
    try {
      show(await ask(path(), null, {method: "GET"}), {moved: true});
      say(`${fault.message} Perhaps the test is open in another window. This is where it stands.`, "warn");
    } catch (other) { say(other.message); }
    return;
  }
  if (fault.status === 404 || fault.status === 410) leave();
  say(fault.status === undefined ? `${fault.message} Your answer may not be saved yet: press Answer again when the server is back.` : fault.message);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("table").hidden || busy) return;
  if (/^[1-9]$/.test(event.key)) {
    const radio = at("choices").querySelectorAll("input")[Number(event.key) - 1];
    if (radio) { radio.checked = true; radio.focus(); ready(); }
  }
});

at("why").addEventListener("click", async () => {
  try {
    const got = await ask(path("/why"), null, {method: "GET"});
    const most = Math.max(...got.by_skill.map((row) => row.information), 1e-9);
    const rows = got.by_skill.filter((row) => row.information >= 0.005);
    at("reasons").replaceChildren(
      ...got.words.map((text) => make("p", {class: "why"}, text)),
      make("ol", {class: "ranked"}, ...rows.map((row) => make("li", {},
        make("span", {}, row.label), meter(row.information / most), make("span", {}, `${row.information.toFixed(2)} bits`)))),
      make("p", {class: "hint"}, "A bit is what one fair yes-or-no question tells."));
  } catch (fault) {
    at("reasons").replaceChildren(make("p", {class: "notice bad"}, fault.message));
  }
});

async function report(moved) {
  const given = `${state.number === 1 ? "One question" : `${state.number} questions`}. Thank you!`;
  if (!state.shows.report) {
    at("result").replaceChildren(make("p", {}, given), make("p", {class: "muted"}, "Your answers are saved. Your teacher has the results."));
  } else {
    try {
      const got = await ask(path("/report"), null, {method: "GET"});
      at("result").replaceChildren(
        make("p", {}, `${got.name ? `${got.name}, ` : ""}${when(got.last)}. ${given}`),
        make("h3", {}, "What the answers say about your skills"),
        ...profileOf(got.profile),
        got.profile.ability ? "" : make("p", {class: "hint"}, "The percentages say how probable it is, by your answers, that you have each skill. They are no grades."));
    } catch (fault) {
      at("result").replaceChildren(make("p", {class: "notice bad"}, fault.message));
    }
  }
  if (moved) at("report-title").focus();
}

at("print").addEventListener("click", () => print());
at("leave").addEventListener("click", leave);
at("other").addEventListener("click", leave);
start();
