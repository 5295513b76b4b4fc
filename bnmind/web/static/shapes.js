// Lines and bars as SVG. Their colors are classes of the style sheet.

const SPACE = "http://www.w3.org/2000/svg";
const LEFT = 34, RIGHT = 14, TOP = 22, BOTTOM = 34;

/** Return an SVG element; strings become text. */
export function shape(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children.filter((child) => child !== null));
  return element;
}

function frame(place, height, label) {
  const width = Math.max(260, Math.min(1080, Math.round(place.clientWidth || 460)));
  return {width, height, svg: shape("svg", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart"})};
}

const round = (x) => Math.round(10 * x) / 10;
const text = (x, y, words, anchor = "middle", kind = "tick") => shape("text", {x: round(x), y: round(y), "text-anchor": anchor, class: kind}, words);

/** Return about n round numbers from 0 to most. */
function ticks(most, n) {
  const rough = most / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough - 1e-9);
  return Array.from({length: Math.floor(most / step + 1e-9) + 1}, (_, i) => i * step);
}

/**
 * Draw the entropy by turn of one or more players: [{name, entropies}], where all is the entropy of
 * all codes and last the number of guesses that the picture has room for.
 */
export function drawEntropies(place, players, {all, last = 0}) {
  const told = players.map(({name, entropies}) => `${name ? `${name}: ` : ""}${entropies.map((one) => one.toFixed(2)).join(", ")} bits`);
  const {svg, width, height} = frame(place, 210, `Entropy by turn. ${told.join(". ")}`);
  const turns = Math.max(4, last, ...players.map((one) => one.entropies.length - 1));
  const x = (turn) => LEFT + (width - LEFT - RIGHT) * turn / turns;
  const y = (bits) => TOP + (height - TOP - BOTTOM) * (1 - bits / all);
  for (const bits of ticks(all, 4)) {
    svg.append(shape("line", {x1: LEFT, x2: width - RIGHT, y1: round(y(bits)), y2: round(y(bits)), class: "grid"}), text(LEFT - 6, y(bits) + 4, String(round(bits)), "end"));
  }
  for (const turn of ticks(turns, Math.min(turns, 8)).filter(Number.isInteger)) svg.append(text(x(turn), height - BOTTOM + 16, String(turn)));
  svg.append(text((LEFT + width - RIGHT) / 2, height - 4, "replies"), text(4, 11, "bits", "start"));
  players.forEach(({entropies}, i) => {
    const points = entropies.map((bits, turn) => [round(x(turn)), round(y(bits))]);
    svg.append(shape("polyline", {points: points.map((one) => one.join(",")).join(" "), class: `line s${i + 1}`}));
    for (const [turn, [cx, cy]] of points.entries()) {
      svg.append(shape("circle", {cx, cy, r: turn === points.length - 1 ? 5 : 3.2, class: `dot s${i + 1}`},
        shape("title", {}, `${players[i].name ? `${players[i].name}, ` : ""}after ${turn}: ${entropies[turn].toFixed(2)} bits`)));
    }
  });
  place.replaceChildren(svg);
}

/** Draw how many guesses have how much expected information, and mark one guess. */
export function drawInformation(place, told) {
  if (told.best < 1e-6) {
    place.replaceChildren(Object.assign(document.createElement("p"), {className: "muted", textContent: "The code is known: no guess tells anything more."}));
    return;
  }
  const what = told.is_sample ? "random guesses" : "guesses";
  const {svg, width, height} = frame(place, 210, `Expected information of ${told.n_guesses} ${what}, from 0 to ${told.best.toFixed(2)} bits. ${told.words}`);
  const most = Math.max(...told.guesses, 1), ground = height - BOTTOM;
  const high = told.edges.at(-1);
  const x = (bits) => LEFT + (width - LEFT - RIGHT) * bits / high;
  const tall = (n) => (n ? Math.max(2, (ground - TOP - 6) * n / most) : 0);
  for (const n of ticks(most, 3).filter(Number.isInteger)) {
    const y = round(ground - (ground - TOP - 6) * n / most);
    svg.append(shape("line", {x1: LEFT, x2: width - RIGHT, y1: y, y2: y, class: "grid"}), text(LEFT - 6, y + 4, n >= 10000 ? `${round(n / 1000)}k` : String(n), "end"));
  }
  told.guesses.forEach((n, i) => {
    const left = x(told.edges[i]), right = x(told.edges[i + 1]);
    const holds = told.chosen !== null && told.chosen >= told.edges[i] && (told.chosen < told.edges[i + 1] || i === told.guesses.length - 1);
    svg.append(shape("rect", {x: round(left + 0.5), y: round(ground - tall(n)), width: round(Math.max(1, right - left - 1)), height: round(tall(n)), rx: 1.5, class: holds ? "column here" : "column"},
      shape("title", {}, `${told.edges[i].toFixed(2)} to ${told.edges[i + 1].toFixed(2)} bits: ${n} ${what}`)));
  });
  for (const bits of ticks(high, 5)) svg.append(text(x(bits), ground + 16, String(round(bits))));
  svg.append(text((LEFT + width - RIGHT) / 2, height - 4, "bits"));
  if (told.chosen !== null) {
    const at = round(x(told.chosen));
    svg.append(shape("line", {x1: at, x2: at, y1: TOP, y2: ground, class: "mark"}), shape("path", {d: `M${at - 5} ${TOP - 8}h10l-5 8z`, class: "mark-head"}),
      text(at < width / 2 ? at + 9 : at - 9, TOP - 1, `this guess: ${told.chosen.toFixed(2)}`, at < width / 2 ? "start" : "end", "tick strong"));
  }
  place.replaceChildren(svg);
}

/** Show a picture that the server has drawn. */
export function showPicture(place, source) {
  const parsed = new DOMParser().parseFromString(source, "image/svg+xml");
  place.replaceChildren(document.importNode(parsed.documentElement, true));
  place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
}

/** Let the browser save a text as a file. */
export function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
