// The access codes of a class, to be printed and cut.

import {ask, at, make} from "./ask.js";

let all = [];

function show() {
  const some = all.filter((one) => one.code && (!at("fresh").checked || one.state === "not begun"));
  at("empty").hidden = some.length > 0;
  at("codes").replaceChildren(...some.map((one) => make("li", {},
    make("strong", {}, one.name || "Name: ____________"),
    make("span", {class: "big-code"}, one.code),
    make("span", {class: "muted"}, at("address").value))));
}

at("address").value = `${location.origin}/tests`;
at("address").addEventListener("input", show);
at("fresh").addEventListener("change", show);
at("print").addEventListener("click", () => print());
try {
  const got = await ask("/api/teacher/sessions", null, {method: "GET"});
  at("title").textContent = `Access codes: ${got.title}`;
  all = got.sessions;
  show();
} catch (fault) {
  at("notice").replaceChildren(make("p", {class: "notice bad"}, fault.message));
}
