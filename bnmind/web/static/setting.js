// The form of the board and the noise.

/** Return the setting that the form describes. */
export function settingOf(form) {
  const fields = new FormData(form);
  const kind = fields.get("noise");
  const share = (name) => {
    const typed = Number(fields.get(name));
    return Math.min(99, Math.max(1, Number.isFinite(typed) ? typed : 10)) / 100;
  };
  const noise = kind === "false" || kind === "independent" ? `${kind}:${share(kind)}` : kind;
  const pegs = Number(fields.get("pegs"));
  const colors = Number(fields.get("colors"));
  return {pegs, colors, repeats: fields.has("repeats"), noise, prior: fields.get("prior")};
}

/** Let the form show a setting. */
export function showSetting(form, setting) {
  form.elements.pegs.value = setting.pegs;
  form.elements.colors.value = setting.colors;
  form.elements.repeats.checked = setting.repeats;
  form.elements.prior.value = setting.prior ?? "uniform";
  const [kind, level] = setting.noise.split(":");
  for (const radio of form.querySelectorAll('input[name="noise"]')) radio.checked = radio.value === kind;
  if (level) form.elements[kind].value = Math.round(100 * Number(level));
}

/** Return a setting in words. */
export function inWords(setting) {
  const once = setting.repeats ? "" : ", no color twice";
  const [kind, level] = setting.noise.split(":");
  const p = level ? `${Math.round(100 * Number(level))} %` : "";
  const noise = {
    exact: "replies are always true",
    false: `a random reply with probability ${p}`,
    independent: `each number wrong with probability ${p}`,
    unknown: "some replies are false, nobody knows how many",
  }[kind];
  return `${setting.pegs} positions, ${setting.colors} colors${once}; ${noise}`;
}
