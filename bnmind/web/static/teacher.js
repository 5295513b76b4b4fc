// The class: a table of sessions that follows by itself, and new access codes.

import {ask, at, make, percent} from "./ask.js";
import {when} from "./profile.js";

const STATES = ["going on", "over", "not begun", "expired"];
let doomed = null;  // the session that is to be deleted
let isLost = false; // whether the page says that the last answer did not come

const say = (text, kind = "bad") => at("notice").replaceChildren(...(text ? [make("p", {class: `notice ${kind}`}, text)] : []));

async function refresh() {
  if (document.hidden || at("ask").open) return;
  let got;
  try {
    got = await ask("/api/teacher/sessions", null, {method: "GET"});
  } catch (fault) {
    say(fault.message);
    isLost = true;
    return;
  }
  if (isLost) say("");
  isLost = false;
  at("title").textContent = `The class: ${got.title}`;
  at("tally").replaceChildren(...STATES.map((name) => [name, got.sessions.filter((one) => one.state === name).length])
    .filter(([, number]) => number).map(([name, number]) => make("li", {class: "tag"}, `${number} ${name}`)));
  at("earlier").hidden = !got.earlier;
  at("earlier").textContent = got.earlier;
  at("empty").hidden = got.sessions.length > 0;
  const focused = document.activeElement?.dataset?.key;
  const heading = (text, kind) => make("th", {scope: "col", class: kind}, text);
  at("header").replaceChildren(...(got.sessions.length ? [make("tr", {}, heading("Examinee"), heading("Code"), heading("State"),
    heading("Answers", "amount once"), ...got.skills.map((one) => heading(one.label, "amount")), heading("Last"),
    make("th", {scope: "col", class: "screen"}, make("span", {class: "unseen"}, "Actions")))] : []));
  at("rows").replaceChildren(...got.sessions.map((one) => row(one, got.skills)));
  if (focused) document.querySelector(`[data-key="${focused}"]`)?.focus();
}

function row(one, skills) {
  const name = one.name || (one.code ? "" : `session ${one.id}`);
  return make("tr", {},
    make("th", {scope: "row"}, make("a", {class: "name", href: `/teacher/report?session=${one.id}`, title: name, "data-key": `r${one.id}`, "aria-label": `Report on ${name || one.code}`}, name || "no name")),
    make("td", {}, one.code ? make("code", {}, one.code) : make("span", {class: "muted"}, "none")),
    make("td", {class: "once"}, make("span", {class: `tag ${one.state === "over" ? "good" : one.state === "expired" ? "bad" : ""}`}, one.state)),
    make("td", {class: "amount"}, String(one.n_answered)),
    ...skills.map((skill) => cell(skill, one.posterior?.[skill.skill])),
    make("td", {class: "once"}, one.n_answered ? when(one.last, {isShort: true}) : ""),
    make("td", {class: "screen"},
      make("button", {type: "button", class: "link", "data-key": `d${one.id}`, "aria-label": `Delete ${name || one.code}`, onclick: () => doubt(one, name)}, "Delete")));
}

function cell(skill, levels) {
  if (!levels) return make("td", {class: "amount muted"}, "–");
  if (skill.levels.length === 2) return make("td", {class: "amount"}, percent(levels[skill.levels[1]]));
  const [level, p] = Object.entries(levels).reduce((best, other) => (other[1] > best[1] ? other : best));
  return make("td", {class: "amount"}, `${level} (${percent(p)})`);
}

function doubt(one, name) {
  doomed = one.id;
  at("ask-text").textContent = `The session of ${name || one.code || "this examinee"} has ${one.n_answered} ${one.n_answered === 1 ? "answer" : "answers"}. They cannot be brought back.`;
  at("ask").showModal();
}

at("ask-no").addEventListener("click", () => at("ask").close());
at("ask-yes").addEventListener("click", async () => {
  at("ask").close();
  try {
    await ask(`/api/teacher/sessions/${doomed}/delete`, {});
    say("");
  } catch (fault) { say(fault.message); }
  refresh();
});

at("codes").addEventListener("submit", async (event) => {
  event.preventDefault();
  const names = at("names").value.split("\n").map((name) => name.trim()).filter((name) => name);
  try {
    const got = await ask("/api/teacher/codes", {names, count: Number(at("count").value) || 0});
    at("names").value = "";
    at("count").value = "0";
    say(`${got.codes.length} new ${got.codes.length === 1 ? "code" : "codes"}.`, "");
  } catch (fault) { say(fault.message); }
  refresh();
});
at("separator").addEventListener("change", () => {
  for (const link of document.querySelectorAll(".exports a")) link.search = `?separator=${at("separator").value}`;
});
at("print").addEventListener("click", () => print());
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, 5000);
refresh();
