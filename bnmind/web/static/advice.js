// What bnmind advises, in pegs, words and bars.

import {make, meter, percent} from "./ask.js";
import {colorsOf, letter, peg, pegs} from "./pegs.js";

/** Return the proposed guess and the reasons for it. */
export function proposal(answer, use) {
  const guess = colorsOf(answer.guess);
  const parts = [
    make("div", {class: "proposal"}, pegs(guess),
      use ? make("button", {type: "button", class: "quiet", onclick: () => use(guess)}, "Use it") : null),
  ];
  if (answer.words.contradiction) parts.push(make("p", {class: "notice warn"}, answer.words.contradiction));
  if (answer.found) return [...parts, make("p", {class: "why"}, make("strong", {}, answer.words.knowledge))];
  parts.push(make("p", {class: "why"}, make("strong", {}, answer.words.chance)));
  parts.push(make("p", {class: "why"}, answer.words.information));
  if (answer.noise.words) parts.push(make("p", {class: "why"}, answer.noise.words));
  if (answer.note) parts.push(make("p", {class: "notice"}, answer.note));
  return parts;
}

/** Return what is known about the code: the bits, the probable codes, the colors by position. */
export function belief(answer) {
  if (answer.found) return [];
  const all = Math.log2(answer.n_codes);
  const unknown = all > 0 ? Math.min(1, answer.entropy / all) : 0;
  const parts = [
    make("h3", {}, "What is known"),
    make("p", {class: "why"}, answer.words.knowledge),
    make("div", {class: "gauge"}, meter(unknown),
      make("small", {}, `${answer.entropy.toFixed(2)} of ${all.toFixed(2)} bits are still unknown.`)),
  ];
  if (!answer.rows.length) return [make("div", {class: "known"}, ...parts)];
  parts.push(make("h3", {}, "Most probable codes"), probable(answer.most_probable.slice(0, 8)));
  if (answer.positions) parts.push(make("h3", {}, "Color by position"), positions(answer.positions));
  if (answer.noise.levels.length) parts.push(make("h3", {}, "How often replies are false"), levels(answer.noise.levels));
  return [make("div", {class: "known"}, ...parts)];
}

/** Return the probability of each noise level. */
function levels(some) {
  return make("ol", {class: "probable levels"}, ...some.map((one) => make("li", {},
    make("span", {}, `${Math.round(100 * one.level)} %`), meter(one.probability), make("span", {}, percent(one.probability)))));
}

export function probable(some) {
  const most = Math.max(...some.map((one) => one.probability), 1e-9);
  return make("ol", {class: "probable"}, ...some.map((one) => make("li", {},
    pegs(colorsOf(one.code), {small: true}), meter(one.probability / most), make("span", {}, percent(one.probability)))));
}

export function positions(shares) {
  const colors = shares[0].map((_, color) => color);
  const heading = make("tr", {}, make("th", {class: "corner", scope: "col"}, make("span", {class: "unseen"}, "color")),
    ...shares.map((_, position) => make("th", {scope: "col"}, String(position + 1))));
  const rows = colors.map((color) => make("tr", {},
    make("th", {scope: "row"}, peg(color + 1, {small: true}), make("span", {class: "unseen"}, letter(color + 1))),
    ...shares.map((share) => make("td", {class: share[color] > 0 ? "" : "zero"},
      make("i", {share: share[color]}), make("span", {}, percent(share[color]))))));
  return make("div", {class: "scrolls", tabindex: "0", role: "region", "aria-label": "Probability of each color by position"},
    make("table", {class: shares.length > 6 ? "cells broad" : "cells"}, make("thead", {}, heading), make("tbody", {}, ...rows)));
}

/** Return the doubt about a row, and its class. */
export function doubt(row) {
  const p = row.probability_wrong;
  const kind = p >= 0.5 ? "much" : p >= 0.15 ? "some" : "";
  return {kind, element: make("div", {class: `doubt ${kind}`}, meter(p), make("span", {}, `chance of being wrong: ${row.words}`))};
}
