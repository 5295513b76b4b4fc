// A picture of a network; a click on a state, or Enter on it, tells Python, which answers with a picture.

// Where the focus is, a letter is a command of JupyterLab otherwise: "a" would insert a cell.
const ALONE = ["data-lm-suppress-shortcuts", "true"];

function statesOf(box) {
  return [...box.querySelectorAll("[data-state]")];
}

function make(tag, attributes, text = "") {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

function render({ model, el }) {
  const picture = make("div", { class: "bnmind-picture" });
  const said = make("p", { role: "status" });
  const clear = make("button", { type: "button" }, "Clear the evidence");
  clear.addEventListener("click", () => send({ clear: true }));
  clear.setAttribute(...ALONE);

  function send(question) {
    said.textContent = "Computing …";
    model.send(question);
  }

  function draw() {
    const focused = picture.querySelector(":focus")?.getAttribute("aria-label");
    const parsed = new DOMParser().parseFromString(model.get("svg"), "image/svg+xml");
    const svg = document.importNode(parsed.documentElement, true);
    svg.setAttribute("role", "group");
    svg.style.maxWidth = "100%";
    svg.style.height = "auto";
    const evidence = model.get("evidence");
    for (const box of svg.querySelectorAll("[data-variable]")) {
      const variable = box.dataset.variable;
      for (const text of statesOf(box)) {
        const state = text.dataset.state;
        text.setAttribute("role", "button");
        text.setAttribute("tabindex", "0");
        text.setAttribute(...ALONE);
        text.setAttribute("aria-label", `${variable} = ${state}`);
        text.setAttribute("aria-pressed", String(evidence[variable] === state));
        text.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          send({ variable, state });
        });
      }
      box.style.cursor = "pointer";
      box.addEventListener("click", (event) => {
        const hit = statesOf(box).find((text) => {
          const { top, bottom } = text.getBoundingClientRect();
          return event.clientY >= top - 2 && event.clientY <= bottom + 2;
        });
        if (hit) send({ variable, state: hit.dataset.state });
      });
    }
    picture.replaceChildren(svg);
    if (focused) {
      [...picture.querySelectorAll("[aria-label]")]
        .find((one) => one.getAttribute("aria-label") === focused)?.focus();
    }
  }

  function tell() {
    said.textContent = model.get("message");
  }

  model.on("change:svg", draw);
  model.on("change:message", tell);
  model.on("msg:custom", tell);
  el.replaceChildren(picture, said, clear);
  draw();
  tell();
}

export default { render };
