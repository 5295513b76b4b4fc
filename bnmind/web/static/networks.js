// A network: evidence by clicks, and what follows. The evidence and an opened file stay in this tab.

import {ask, at, make, meter, percent} from "./ask.js";
import {remember, remembered} from "./network_memory.js";
import {drawn, Frame} from "./network_picture.js";
import {save} from "./shapes.js";

let model = {name: at("model").value};
let evidence = {};
let known = null;    // the last posterior
let kept = null;     // the posteriors to compare with, {name: [share, …]}, and their evidence
let weighed = null;  // the variable whose likelihood is being entered
let picture = null;  // the last picture, as text
let asking = null, ranking = null, drawing = null, restoring = null;

const question = () => ({model, evidence});

async function refresh({told = null} = {}) {
  asking?.abort();
  const mine = asking = new AbortController();
  at("network").classList.add("thinking");
  try {
    const got = await ask("/api/network/query", question(), {signal: mine.signal});
    if (asking !== mine) return;
    const other = known?.title !== got.title || known.variables.length !== got.variables.length;
    known = got;
    before = null;
    at("fault").replaceChildren(told ?? "");
    at("network-title").textContent = got.title;
    at("opened").hidden = Boolean(model.name);
    at("opened").textContent = model.name ? "" : `${model.file} (a file of yours)`;
    at("model").value = model.name ?? "";
    at("as-picture").disabled = !got.drawn;
    if (!got.drawn) view("list");
    if (other) showTargets();
    showVariables(); showEvidence(); showRanking(); at("explanation").replaceChildren();
    note();
    if (!at("picture").hidden) await showPicture(mine.signal);
  } catch (fault) {
    if (asking !== mine || fault.name === "AbortError") return;
    if (before !== null) { // the network could not be opened: the one before stays
      [model, before] = [before, null];
      at("file").value = "";
      refresh({told: make("p", {class: "notice bad"}, fault.message)});
      return;
    }
    at("fault").replaceChildren(make("p", {class: "notice bad"}, fault.message,
      latest !== null && latest in evidence ? make("span", {}, " ", make("button", {type: "button", class: "link", onclick: () => observe(latest, undefined)}, "Take the last finding back"), ".") : null));
    at("explanation").replaceChildren();
    at("ranking").replaceChildren();
    showEvidence({impossible: true});
  }
  at("network").classList.remove("thinking");
}

let latest = null;
let before = null;   // the network that was shown when another one is opened

/** Make a state, a likelihood or nothing the finding of a variable. */
function observe(name, finding) {
  const {[name]: _, ...others} = evidence;
  evidence = finding === undefined ? others : {...others, [name]: finding};
  latest = name; weighed = null;
  refresh();
}

const press = (name, state) => observe(name, evidence[name] === state ? undefined : state);

function showVariables() {
  const focused = document.activeElement?.dataset?.key;
  const wanted = at("search").value.trim().toLowerCase();
  const shown = known.variables.filter((one) => one.name.toLowerCase().includes(wanted));
  at("variables").replaceChildren(...shown.map(card));
  if (focused) [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === focused)?.focus();
}

function card(one) {
  const finding = evidence[one.name];
  const before = kept?.shares[one.name];
  const states = one.states.map((state, i) => {
    const p = one.posterior[i];
    const bar = meter(p);
    if (before) bar.append(make("b", {class: "was", share: before[i]}));
    const moved = before && Math.abs(before[i] - p) >= 0.0005 ? ` (was ${percent(before[i])})` : "";
    return make("button", {
      type: "button", class: "state", "data-key": `${one.name}\n${state}`, "aria-pressed": String(finding === state),
      onclick: () => press(one.name, state),
    }, make("span", {class: "state-name"}, state), bar, make("span", {class: "share"}, percent(p), moved ? make("small", {}, moved) : null));
  });
  const kind = typeof finding === "string" ? "variable certain" : finding ? "variable likely" : "variable";
  return make("section", {class: kind, "aria-label": one.name},
    make("div", {class: "head"}, make("h3", {title: one.parents.length ? `depends on ${one.parents.join(", ")}` : "depends on nothing"}, one.name),
      make("button", {type: "button", class: "link", "data-key": `${one.name}\n?`, "aria-expanded": String(weighed === one.name), onclick: () => { weighed = weighed === one.name ? null : one.name; showVariables(); }},
        finding && typeof finding !== "string" ? "uncertain" : "uncertain …")),
    ...states, weighed === one.name ? likelihood(one, finding) : null);
}

/** Return the form of uncertain evidence: how probable the observation is in each state. */
function likelihood(one, finding) {
  const inputs = one.states.map((state) => make("input", {
    type: "number", min: "0", step: "any", name: state, "aria-label": `Weight of ${state}`,
    value: finding && typeof finding !== "string" ? finding[state] : "1",
  }));
  return make("form", {class: "likelihood", onsubmit: (event) => {
    event.preventDefault();
    observe(one.name, Object.fromEntries(one.states.map((state, i) => [state, Number(inputs[i].value) || 0])));
  }}, make("p", {class: "hint"}, "How probable is what you saw, if the state is …"),
  ...one.states.map((state, i) => make("label", {}, make("span", {}, state), inputs[i])),
  make("div", {class: "buttons"}, make("button", {type: "submit", class: "main"}, "Use"),
    finding ? make("button", {type: "button", class: "quiet", onclick: () => observe(one.name, undefined)}, "Remove") : null));
}

function showEvidence({impossible = false} = {}) {
  const findings = Object.entries(evidence);
  at("clear").disabled = !findings.length;
  at("keep").setAttribute("aria-pressed", String(Boolean(kept)));
  at("swap").hidden = !kept;
  at("keep").textContent = kept ? "Stop comparing" : "Compare from here";
  const chips = findings.map(([name, finding]) => {
    const what = typeof finding === "string" ? finding : `≈ ${Object.entries(finding).map(([state, w]) => `${state} ${w}`).join(", ")}`;
    return make("button", {type: "button", "aria-label": `Remove ${name} ${what}`, onclick: () => observe(name, undefined)}, `${name} = ${what} ✕`);
  });
  at("evidence").replaceChildren(
    findings.length ? make("div", {class: "chips"}, ...chips) : make("p", {class: "muted"}, "Nothing is observed yet."),
    known?.words && !impossible ? make("p", {class: "why"}, known.words) : "",
    kept ? make("p", {class: "hint"}, `Compared with ${kept.words}. ${kept.told} In the list a mark shows where each bar was; in the picture the upper bars are those compared.`) : "");
}

function showTargets() {
  const before = at("about").value;
  at("about").replaceChildren(...known.variables.map((one) => make("option", {value: one.name}, one.name)));
  // A variable without parents that others depend on is often what one wants to know.
  const parents = new Set(known.variables.flatMap((one) => one.parents));
  const causes = known.variables.filter((one) => parents.has(one.name) && one.parents.length);
  const guess = known.variables.some((one) => one.name === before) ? before : (causes[0] ?? known.variables[0]).name;
  at("about").value = guess;
  at("about-too").replaceChildren(make("option", {value: ""}, "nothing else"), ...known.variables.map((one) => make("option", {value: one.name}, one.name)));
}

async function showRanking() {
  const about = [...new Set([at("about").value, at("about-too").value])].filter(Boolean);
  const targets = about.filter((name) => typeof evidence[name] !== "string");
  ranking?.abort();
  const mine = ranking = new AbortController();
  if (!targets.length) {
    at("ranking").replaceChildren(make("p", {class: "muted"}, `${about.join(" and ")} ${about.length > 1 ? "are" : "is"} observed already.`));
    return;
  }
  try {
    const got = await ask("/api/network/rank", {...question(), about: targets}, {signal: mine.signal});
    if (ranking !== mine) return;
    const rows = got.rows.filter((row) => row.information >= 0.0005).slice(0, 8);
    const most = Math.max(...rows.map((row) => row.information), 1e-9);
    at("ranking").replaceChildren(
      make("p", {class: "hint"}, `${got.entropy.toFixed(3)} bits of ${targets.join(" and ")} are unknown.`),
      rows.length ? make("ol", {class: "ranked"}, ...rows.map((row) => make("li", {},
        make("button", {type: "button", class: "link", onclick: () => find(row.question)}, row.question), meter(row.information / most),
        make("span", {}, `${row.information.toFixed(3)} bits`)))) : make("p", {class: "muted"}, "No observation would tell anything more."));
  } catch (fault) {
    if (ranking === mine && fault.name !== "AbortError") at("ranking").replaceChildren(make("p", {class: "notice bad"}, fault.message));
  }
}

/** Show a variable in the list. */
function find(name) {
  view("list");
  at("search").value = "";
  showVariables();
  const place = [...at("variables").children].find((one) => one.getAttribute("aria-label") === name);
  place?.scrollIntoView({block: "center"});
  place?.querySelector(".state")?.focus();
}

// --- The picture ---------------------------------------------------------------------------------

function view(name) {
  at("list").hidden = name !== "list";
  at("picture").hidden = name !== "picture";
  at("as-list").setAttribute("aria-pressed", String(name === "list"));
  at("as-picture").setAttribute("aria-pressed", String(name === "picture"));
}

async function showPicture(signal) {
  const mine = drawing = {};
  const got = await ask("/api/network/picture", {...question(), compare: kept?.evidence ?? null}, {signal});
  if (drawing !== mine) return; // another picture is on its way
  picture = got.svg;
  const focused = at("canvas").contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const svg = drawn(picture, known.variables, evidence, press);
  frame.show(svg);
  const same = [...svg.querySelectorAll(".pick")].find((one) => one.dataset.key === focused);
  (same ?? (focused && [...svg.querySelectorAll(".pick")].find((one) => one.dataset.of === focused.split("\n")[0])))?.focus();
}

const frame = new Frame(at("canvas"));
at("larger").addEventListener("click", () => frame.zoom(1.4));
at("smaller").addEventListener("click", () => frame.zoom(1 / 1.4));
at("fit").addEventListener("click", () => frame.fit());
at("as-list").addEventListener("click", () => { view("list"); note(); });
async function redraw() {
  try { await showPicture(); } catch (fault) { at("fault").replaceChildren(make("p", {class: "notice bad"}, fault.message)); }
}

at("as-picture").addEventListener("click", () => { view("picture"); redraw(); note(); });
at("download").addEventListener("click", () => save(picture, "network.svg"));

// --- The rest ------------------------------------------------------------------------------------

at("explain").addEventListener("click", async () => {
  at("explanation").replaceChildren(make("p", {class: "muted"}, "Thinking …"));
  try {
    const got = await ask("/api/network/explain", question());
    const states = Object.entries(got.states);
    at("explanation").replaceChildren(make("p", {class: "hint"}, got.words),
      make("div", {class: "scrolls tall", tabindex: "0", role: "region", "aria-label": "Most probable explanation"},
        make("table", {class: "fields-table"}, make("tbody", {}, ...states.map(([name, state]) =>
          make("tr", {}, make("th", {scope: "row"}, name), make("td", {}, state)))))));
  } catch (fault) {
    at("explanation").replaceChildren(make("p", {class: "notice bad"}, fault.message));
  }
});
/** Return evidence and what follows from it, to compare with later. */
function following(some, got) {
  const words = Object.entries(some).map(([name, finding]) => `${name} = ${typeof finding === "string" ? finding : "uncertain"}`).join(", ");
  return {evidence: some, shares: Object.fromEntries(got.variables.map((one) => [one.name, one.posterior])), words: words || "no evidence", told: got.words};
}

const present = () => following(evidence, known);

at("keep").addEventListener("click", () => {
  kept = kept ? null : present();
  showVariables(); showEvidence(); note();
  if (!at("picture").hidden) redraw();
});
at("swap").addEventListener("click", () => {
  const other = kept;
  kept = present();
  evidence = other.evidence; latest = null; weighed = null;
  refresh();
});
at("clear").addEventListener("click", () => { evidence = {}; refresh(); });
for (const id of ["about", "about-too"]) at(id).addEventListener("change", () => { showRanking(); note(); });
at("search").addEventListener("input", showVariables);
at("choice").addEventListener("submit", (event) => event.preventDefault());
at("model").addEventListener("change", () => { if (at("model").value) { at("file").value = ""; open({name: at("model").value}); } });
at("file").addEventListener("change", async () => {
  const file = at("file").files[0];
  if (!file) return;
  if (file.size > 900000) {
    at("fault").replaceChildren(make("p", {class: "notice bad"}, "Open a file of at most 900 kB; bnmind query reads larger ones."));
    return;
  }
  open({file: file.name, text: await file.text()});
});

function open(next) {
  if (known) before = model;
  model = next; evidence = {}; kept = null; weighed = null; latest = null;
  refresh();
}

/** Let a reload of this page show the same. */
function note() {
  const about = [at("about").value, at("about-too").value];
  remember({model, evidence, compare: kept?.evidence ?? null, about, view: at("picture").hidden ? "list" : "picture"});
}

/** Show what was there before a reload, or what the address asks for. */
async function restore() {
  const was = remembered();
  const mine = restoring = {};
  if (was) {
    try {
      const [got, other] = await Promise.all([was.evidence, was.compare].map((some) =>
        (some ? ask("/api/network/query", {model: was.model, evidence: some}) : null)));
      if (restoring !== mine) return null; // Back was pressed again
      model = was.model; evidence = was.evidence; known = got; latest = null; weighed = null;
      kept = other && following(was.compare, other);
      showTargets();
      const isThere = (name) => known.variables.some((one) => one.name === name);
      if (isThere(was.about[0])) at("about").value = was.about[0];
      if (isThere(was.about[1])) at("about-too").value = was.about[1];
      view(was.view === "picture" && got.drawn ? "picture" : "list");
    } catch (fault) {
      return refresh({told: make("p", {class: "notice bad"}, fault.isFinal ? `The address asks for something impossible. ${fault.message}` : fault.message)});
    }
  }
  return refresh();
}

addEventListener("popstate", restore);
restore();
