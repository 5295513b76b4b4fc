// The question that a page about networks shows: in the address, so that it survives a reload and
// can be sent to others. A file of the visitor's stays in the memory of this tab instead.

const KEY = "bnmind-network";

const isFinding = (finding) => typeof finding === "string"
  || (finding !== null && typeof finding === "object" && Object.values(finding).every((w) => typeof w === "number"));
const isEvidence = (some) => some !== null && typeof some === "object" && !Array.isArray(some) && Object.values(some).every(isFinding);

const texts = new Map(); // of the files that this tab has opened
let last = null;         // the network and the evidence of the present entry of the history
try {
  const {model} = JSON.parse(sessionStorage.getItem(KEY));
  texts.set(model.file, model.text);
} catch { /* no file was open before a reload */ }

/** Keep the question; `compare` is the other evidence, or null. Back leads to the one before it. */
export function remember({model, evidence, compare, about, view}) {
  const isNamed = model.name !== undefined;
  const text = JSON.stringify({model, evidence, compare, about, view});
  try {
    if (isNamed) sessionStorage.removeItem(KEY); else sessionStorage.setItem(KEY, text);
  } catch { /* the browser keeps nothing, or the file is too large for it */ }
  if (!isNamed) texts.set(model.file, model.text);
  const asked = JSON.stringify([model.name ?? model.file, evidence]);
  const isNew = last !== null && last !== asked;
  last = asked;
  const state = {model: isNamed ? model : {file: model.file}, evidence, compare, about, view};
  history[isNew ? "pushState" : "replaceState"](state, "", isNamed ? `#${encodeURIComponent(text)}` : location.pathname + location.search);
}

/** Return the question that was kept, or null. */
export function remembered() {
  try {
    const file = history.state?.model?.file;
    const was = file === undefined
      ? JSON.parse(location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : sessionStorage.getItem(KEY))
      : {...history.state, model: {file, text: texts.get(file)}};
    const {model, evidence = {}, compare = null, about = [], view = "list"} = was;
    const isModel = typeof model?.name === "string" || (typeof model?.file === "string" && typeof model?.text === "string");
    if (!isModel || !isEvidence(evidence) || !(compare === null || isEvidence(compare)) || !Array.isArray(about)) return null;
    last = JSON.stringify([model.name ?? model.file, evidence]); // it is in the history already
    return {model, evidence, compare, about: about.map(String), view};
  } catch { return null; }
}
