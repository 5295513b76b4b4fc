// The teacher's report on one session.

import {ask, at, make} from "./ask.js";
import {profileOf, when} from "./profile.js";

const number = Number(new URLSearchParams(location.search).get("session"));

function show(got) {
  const fits = got.answers.some((one) => one.p_value !== null); // unless the design hides it
  const who = got.name || got.code || `session ${got.id}`;
  at("title").textContent = `${got.title}: ${who}`;
  const code = got.code && got.code !== who ? ` Code ${got.code}.` : "";
  const end = got.stop_reason ? ` It ended because ${got.stop_reason}.` : "";
  at("facts").textContent = `The test is ${got.state}: ${got.n_answered} ${got.n_answered === 1 ? "answer" : "answers"}${got.n_answered ? `, the last ${when(got.last)}` : ""}.${end}${code}`;
  at("profile").replaceChildren(...profileOf(got.profile),
    ...(got.impossible ? [make("p", {class: "notice warn"}, "By the bank, nobody gives all these answers; each of them now counts as an error with a tiny probability.")] : []));
  at("answers").replaceChildren(...got.answers.map((one, place) => {
    const before = place ? new Date(`${got.answers[place - 1].at}Z`) : null;
    const seconds = before ? ((new Date(`${one.at}Z`) - before) / 1000).toFixed(0) : "";
    return make("tr", {}, make("td", {class: "amount"}, String(place + 1)), make("th", {scope: "row"}, one.item), make("td", {}, one.text),
      make("td", {}, one.choice), make("td", {}, one.response), make("td", {class: "amount"}, seconds),
      make("td", {hidden: !fits}, one.words ? make("span", {class: "tag bad"}, one.words) : ""));
  }));
  at("fit-hint").hidden = at("fit").hidden = !fits;
  at("report").hidden = false;
}

at("print").addEventListener("click", () => print());
try {
  show(await ask(`/api/teacher/sessions/${number}`, null, {method: "GET"}));
} catch (fault) {
  at("notice").replaceChildren(make("p", {class: "notice bad"}, fault.message));
}
