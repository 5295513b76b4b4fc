// What a test knows about the skills of a person, as bars and words.

import {make, meter, percent} from "./ask.js";

/** Return what a profile shows. */
export function profileOf(profile) {
  // Of an ability, only the estimate means something: its bits depend on the grid.
  const parts = profile.ability
    ? [make("p", {class: "why"}, make("strong", {}, "Ability: "), profile.ability.words)]
    : [make("div", {class: "gauge"}, meter(profile.known), make("small", {}, profile.words))];
  if (profile.skills.length) parts.push(make("ul", {class: "skills"}, ...profile.skills.map(skill)));
  return parts;
}

function skill(one) {
  const several = one.mastery === null;
  const bars = several
    ? Object.entries(one.levels).map(([level, p]) => bar(`level ${level}`, p))
    : [bar(null, one.mastery)];
  if (one.interval) {
    const [low, high] = several || one.level === Object.keys(one.levels)[1] ? one.interval : [1 - one.interval[1], 1 - one.interval[0]];
    bars.push(make("p", {class: "hint"}, `If the parameters of the items were others (90 %): ${percent(low)} to ${percent(high)}${several ? ` for level ${one.level}` : ""}.`));
  }
  return make("li", {}, make("div", {class: "skill-head"}, make("strong", {}, one.label), make("span", {class: "muted"}, one.words)), ...bars);
}

const bar = (label, p) => make("div", {class: "skill-bar"},
  label ? make("span", {class: "muted"}, label) : null, meter(p), make("span", {class: "share"}, percent(p)));

/** Return a time of the server as this place writes it; a short one is the time of today, or the day. */
export function when(stamp, {isShort = false} = {}) {
  const time = new Date(`${stamp}Z`);
  if (Number.isNaN(time.getTime())) return stamp;
  if (!isShort) return time.toLocaleString([], {dateStyle: "medium", timeStyle: "short"});
  const isToday = time.toDateString() === new Date().toDateString();
  return isToday ? time.toLocaleTimeString([], {timeStyle: "short"}) : time.toLocaleDateString([], {dateStyle: "short"});
}
