// Pegs: codes as colored letters, replies as key pegs, and the form in which a guess is made.

import {make} from "./ask.js";

export const letter = (color) => String.fromCharCode(64 + color);

/** Return the colors of a code as the API writes it: 1123, of ten colors with 0 as the tenth, or 1 1 12 3. */
export const colorsOf = (text) =>
  (text.includes(" ") ? text.split(" ") : [...text]).map((word) => Number(word) || 10);

/** Return a code as the API reads it. */
export const textOf = (code) => code.join(" ");

export function peg(color, {small = false} = {}) {
  const size = small ? " small" : "";
  if (!color) return make("i", {class: `peg hole${size}`, "aria-hidden": "true"});
  return make("i", {class: `peg c${color}${size}`, "aria-hidden": "true"}, letter(color));
}

/** Return a code as pegs; a screen reader hears its letters. */
export function pegs(code, {small = false} = {}) {
  const spelled = code.map((color) => (color ? letter(color) : "empty")).join(" ");
  return make("span", {class: small ? "code small" : "code", role: "img", "aria-label": spelled},
    ...code.map((color) => peg(color, {small})));
}

export function countsOf(reply) {
  const [, black, white] = /^(\d+)b(\d+)w$/.exec(reply);
  return [Number(black), Number(white)];
}

/** Return a reply as key pegs and as text. */
export function replied(reply, n) {
  const [black, white] = countsOf(reply);
  const none = Math.max(0, n - black - white);
  const keys = [
    ...Array.from({length: black}, () => make("i", {class: "black"})),
    ...Array.from({length: white}, () => make("i", {class: "white"})),
    ...Array.from({length: none}, () => make("i", {class: "none"})),
  ];
  return make("span", {class: "replied", title: `${black} black: right color, right position. ${white} white: right color, wrong position.`},
    make("span", {class: "key", "aria-hidden": "true"}, ...keys), make("b", {}, reply));
}

/** A guess that is made by clicking, or by typing letters or numbers. */
export class Slots {
  constructor(place, {changed = () => {}} = {}) {
    this.place = place;
    this.changed = changed;
    this.board = null;
    this.code = [];
    this.current = 0;
    place.addEventListener("keydown", (event) => this.typed(event));
  }

  /** Show empty slots, or a proposed code. */
  show(board, code = null) {
    this.board = board;
    this.code = code ? [...code] : Array(board.pegs).fill(0);
    this.current = 0;
    this.draw();
  }

  get complete() {
    const chosen = new Set(this.code);
    return this.code.every(Boolean) && (this.board.repeats || chosen.size === this.code.length);
  }

  set(color) {
    this.code[this.current] = color;
    if (color) this.current = Math.min(this.current + 1, this.code.length - 1);
    this.draw();
    this.changed(this.code);
  }

  typed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.board) return;
    const n = this.code.length;
    const key = event.key;
    let color = 0;
    if (/^[a-zA-Z]$/.test(key)) color = key.toUpperCase().charCodeAt(0) - 64;
    else if (/^[0-9]$/.test(key)) color = Number(key) || 10;
    if (color >= 1 && color <= this.board.colors) this.set(color);
    else if (key === "Backspace" || key === "Delete") {
      if (!this.code[this.current] && this.current > 0) this.current -= 1;
      this.set(0);
    } else if (key === "ArrowLeft" || key === "ArrowRight") {
      this.current = (this.current + (key === "ArrowLeft" ? n - 1 : 1)) % n;
      this.draw();
    } else return;
    event.preventDefault();
    this.focus();
  }

  focus() {
    this.place.querySelectorAll(".slot")[this.current]?.focus();
  }

  draw() {
    const inside = this.place.contains(document.activeElement);
    const onPalette = inside && document.activeElement.dataset.color;
    const slots = this.code.map((color, position) =>
      make("button", {
        type: "button", class: position === this.current ? "slot current" : "slot",
        tabindex: position === this.current ? "0" : "-1",
        "aria-label": `Position ${position + 1}: ${color ? letter(color) : "empty"}`,
        onclick: () => { this.current = position; this.draw(); this.focus(); },
      }, peg(color)));
    const palette = Array.from({length: this.board.colors}, (_, i) => i + 1).map((color) =>
      make("button", {
        type: "button", "data-color": color, "aria-label": `Color ${letter(color)}`,
        onclick: () => this.set(color),
      }, peg(color)));
    const erase = make("button", {type: "button", class: "erase", "data-color": "0", onclick: () => {
      this.code.fill(0); this.current = 0; this.draw(); this.changed(this.code);
    }}, "Clear");
    this.place.replaceChildren(
      make("div", {class: "slots", role: "group", "aria-label": "The guess; type letters or numbers"}, ...slots),
      make("div", {class: "palette", role: "group", "aria-label": "Colors"}, ...palette, erase));
    if (onPalette) this.place.querySelector(`[data-color="${onPalette}"]`).focus();
    else if (inside) this.focus();
  }
}
