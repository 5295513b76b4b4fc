// The picture of a network, in which states are clicked, or chosen with the keyboard.

/** Return the picture as an element. `press` is called with a variable and a state. */
export function drawn(text, variables, evidence, press) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const svg = document.importNode(parsed.documentElement, true);
  svg.setAttribute("role", "group"); // it has buttons in it
  for (const box of svg.querySelectorAll("[data-variable]")) {
    const one = variables.find(({name}) => name === box.dataset.variable);
    if (one) buttons(box, one, evidence[one.name], press);
  }
  const [first] = svg.querySelectorAll(".pick");
  first?.setAttribute("tabindex", "0");
  for (const one of svg.querySelectorAll(".pick")) { // not the picture: it would get the focus, too
    one.addEventListener("focus", () => {
      for (const other of svg.querySelectorAll('.pick[tabindex="0"]')) other.setAttribute("tabindex", "-1");
      one.setAttribute("tabindex", "0");
    });
  }
  svg.addEventListener("keydown", moved);
  return svg;
}

/** Lay a button over each line of a variable that shows one of its states. */
function buttons(box, one, finding, press) {
  const lines = [...box.querySelectorAll("[data-state]")].filter((line) => one.states.includes(line.dataset.state));
  const places = lines.map((line) => Number(line.getAttribute("y")));
  const height = places.length > 1 ? places[1] - places[0] : 20;
  const width = Number(box.querySelector("rect").getAttribute("width"));
  lines.forEach((line, i) => {
    const state = line.dataset.state;
    const button = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    const share = one.posterior[one.states.indexOf(state)];
    const attributes = {
      class: "pick", role: "button", tabindex: "-1", "data-key": `${one.name}\n${state}`, "data-of": one.name,
      "aria-label": `${one.name}: ${state}, ${(100 * share).toFixed(1)} %`, "aria-pressed": String(finding === state),
      x: 4, y: places[i] - 4 - height / 2, width: width - 8, height, rx: 4,
    };
    for (const [name, value] of Object.entries(attributes)) button.setAttribute(name, value);
    button.addEventListener("click", () => press(one.name, state));
    box.append(button);
  });
}

/** Press the state that has the focus, or move to another state. */
function moved(event) {
  const here = event.target;
  if (!here.classList.contains("pick") || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = [...event.currentTarget.querySelectorAll(".pick")];
  const place = all.indexOf(here);
  const firsts = all.filter((one, i) => !i || all[i - 1].dataset.of !== one.dataset.of);
  const own = firsts.findIndex((one) => one.dataset.of === here.dataset.of);
  const next = {
    ArrowDown: () => all[place + 1],
    ArrowUp: () => all[place - 1],
    ArrowRight: () => firsts[own + 1],
    ArrowLeft: () => (firsts[own] === here ? firsts[own - 1] : firsts[own]),
    Home: () => all[0],
    End: () => all.at(-1),
  }[event.key];
  if (next) next()?.focus();
  else if (event.key === "Enter" || event.key === " ") here.dispatchEvent(new MouseEvent("click"));
  else return;
  event.preventDefault();
}
