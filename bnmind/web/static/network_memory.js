// The question that a page about networks shows: in the address, so that it survives a reload and
// can be sent to others. A file of the visitor's stays in the memory of this tab instead.

const KEY = "bnmind-network";

const isFinding = (finding) => typeof finding === "string"
  || (finding !== null && typeof finding === "object" && Object.values(finding).every((w) => typeof w === "number"));
const isEvidence = (some) => some !== null && typeof some === "object" && !Array.isArray(some) && Object.values(some).every(isFinding);

/** Keep the question; `compare` is the other evidence, or null. */
export function remember({model, evidence, compare, about, view}) {
  const isNamed = model.name !== undefined;
  const text = JSON.stringify({model, evidence, compare, about, view});
  try {
    if (isNamed) sessionStorage.removeItem(KEY); else sessionStorage.setItem(KEY, text);
  } catch { /* the browser keeps nothing, or the file is too large for it */ }
  history.replaceState(null, "", isNamed ? `#${encodeURIComponent(text)}` : location.pathname + location.search);
}

/** Return the question that was kept, or null. */
export function remembered() {
  let text = null;
  try {
    text = location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : sessionStorage.getItem(KEY);
    const {model, evidence = {}, compare = null, about = [], view = "list"} = JSON.parse(text);
    const isModel = typeof model?.name === "string" || (typeof model?.file === "string" && typeof model?.text === "string");
    if (!isModel || !isEvidence(evidence) || !(compare === null || isEvidence(compare)) || !Array.isArray(about)) return null;
    return {model, evidence, compare, about: about.map(String), view};
  } catch { return null; }
}
