// "Send" on the page of the API.

import {waiting} from "./ask.js";

for (const form of document.querySelectorAll(".try")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const answer = form.querySelector(".answer");
    const {method} = form.dataset;
    let {path} = form.dataset;
    for (const input of form.querySelectorAll(".place")) path = path.replace(`{${input.dataset.name}}`, encodeURIComponent(input.value));
    const options = {method, headers: {}};
    if (method === "POST") {
      options.headers["Content-Type"] = "application/json";
      options.body = form.querySelector("textarea")?.value ?? "{}";
    }
    answer.hidden = false;
    answer.textContent = "…";
    const long = waiting();
    try {
      const got = await fetch(path, {...options, signal: long.signal});
      const text = await got.text();
      let shown = text;
      try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch { /* as it is */ }
      answer.textContent = `${got.status}\n${shown}`;
    } catch {
      answer.textContent = long.canceled() ? "Canceled; the server has stopped it." : "The server does not answer.";
    } finally {
      long.end();
    }
  });
}
