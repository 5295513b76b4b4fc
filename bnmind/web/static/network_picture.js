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
    button.addEventListener("click", () => { if (!button.closest(".dragged")) press(one.name, state); });
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

// --- Its size and its place ------------------------------------------------------------------------

/** Let a picture in an element fit, be made larger and smaller, and be moved. */
export class Frame {
  constructor(place) {
    this.place = place;
    this.scale = null; // null: the whole picture is in view
    place.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }, {passive: false});
    place.addEventListener("pointerdown", (event) => this.drag(event));
    addEventListener("resize", () => { if (place.firstElementChild && this.scale === null) this.fit(); });
  }

  /** Show another picture at the same place. */
  show(svg) {
    const {scrollLeft, scrollTop} = this.place;
    this.place.replaceChildren(svg);
    this.size();
    [this.place.scrollLeft, this.place.scrollTop] = [scrollLeft, scrollTop];
  }

  fit() {
    this.scale = null;
    this.size();
  }

  /** Make the picture larger by a factor; its middle stays in the middle. */
  zoom(factor) {
    const {place} = this, before = this.size();
    const middle = [(place.scrollLeft + place.clientWidth / 2) / before, (place.scrollTop + place.clientHeight / 2) / before];
    this.scale = Math.min(4, Math.max(this.whole(), before * factor));
    const now = this.size();
    place.scrollLeft = middle[0] * now - place.clientWidth / 2;
    place.scrollTop = middle[1] * now - place.clientHeight / 2;
  }

  /** Return the scale at which the whole picture is in view. */
  whole() {
    const box = this.place.firstElementChild.viewBox.baseVal;
    const most = Number.parseFloat(getComputedStyle(this.place).maxHeight) || innerHeight;
    return Math.min(1, this.place.clientWidth / box.width, most / box.height);
  }

  size() {
    const svg = this.place.firstElementChild;
    const now = this.place.clientWidth ? this.scale ?? this.whole() : 1;
    svg.setAttribute("width", svg.viewBox.baseVal.width * now);
    svg.setAttribute("height", svg.viewBox.baseVal.height * now);
    return now;
  }

  /** Move the picture with the mouse; a finger scrolls it anyway. */
  drag(event) {
    if (event.pointerType !== "mouse" || event.button !== 0) return;
    const {place} = this, {clientX, clientY} = event, {scrollLeft, scrollTop} = place;
    const move = (to) => {
      if (Math.hypot(to.clientX - clientX, to.clientY - clientY) < 4 && !place.classList.contains("dragged")) return;
      place.classList.add("dragged");
      place.scrollLeft = scrollLeft + clientX - to.clientX;
      place.scrollTop = scrollTop + clientY - to.clientY;
    };
    const end = () => {
      removeEventListener("pointermove", move);
      // The click that follows is no choice of a state.
      setTimeout(() => place.classList.remove("dragged"));
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end, {once: true});
  }
}
