// Requests to the server, and small helpers to build a page. Texts are never read as HTML.

export class Fault extends Error {}

/** Return the answer of the API; a fault has the sentence that the server says.

A request that takes long is shown at the bottom of the page, where it can be canceled. */
export async function ask(path, question, {signal, method = "POST"} = {}) {
  const long = waiting(signal);
  try {
    return await answered(path, question, method, long.signal);
  } catch (fault) {
    if (!long.canceled()) throw fault;
    const canceled = new Fault("You canceled this computation; the server has stopped it. Change something, or ask again.");
    canceled.isFinal = true;
    throw canceled;
  } finally {
    long.end();
  }
}

async function answered(path, question, method, signal) {
  const options = {method, signal, headers: {}};
  if (method === "POST") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(question ?? {});
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Fault("The server does not answer. Check your network, wait a moment, and try again.");
  }
  let content = null;
  try {
    content = await answer.json();
  } catch (fault) {
    if (fault.name === "AbortError") throw fault; // the page does not want the answer any more
    throw new Fault("The answer of the server could not be read.");
  }
  if (!answer.ok) {
    const fault = new Fault(content.error?.message ?? "The server has refused the question.");
    fault.status = answer.status;
    fault.isFinal = answer.status < 500; // the same question would be refused again
    throw fault;
  }
  return content;
}

const PAUSE = 1000; // before a second attempt, in milliseconds

/** Ask once more if the server is busy, was too slow, or does not answer. */
export async function askTwice(path, question, options = {}) {
  try {
    return await ask(path, question, options);
  } catch (fault) {
    if (!(fault instanceof Fault) || fault.isFinal || options.signal?.aborted) throw fault;
  }
  await new Promise((resume) => { setTimeout(resume, PAUSE); });
  options.signal?.throwIfAborted();
  return ask(path, question, options);
}

const requests = new Set(); // that the page waits for now: when each began, and how to cancel it
let ticking = null;

/** Register a request that begins; a signal of the page's own ends it, too. */
export function waiting(signal) {
  const controller = new AbortController();
  const one = {begun: performance.now(), canceled: false, cancel() { one.canceled = true; controller.abort(); }};
  const leave = () => controller.abort();
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave);
  requests.add(one);
  ticking ??= setInterval(showWaiting, 250);
  return {
    signal: controller.signal,
    canceled: () => one.canceled,
    end() { signal?.removeEventListener("abort", leave); requests.delete(one); showWaiting(); },
  };
}

/** Say since when the oldest request is computed, if it takes long. */
function showWaiting() {
  const bar = at("waiting");
  const seconds = Math.floor((performance.now() - Math.min(...[...requests].map((one) => one.begun))) / 1000);
  if (!requests.size) { clearInterval(ticking); ticking = null; }
  bar.hidden = !requests.size || seconds < 1;
  if (!bar.hidden) at("waiting-words").textContent = `Computing for ${seconds} s. After ${bar.dataset.limit} s the server gives up.`;
}

document.getElementById("cancel-all")?.addEventListener("click", () => { for (const one of [...requests]) one.cancel(); });

/** Return an element with attributes and children; strings become text. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "share") element.style.setProperty("--share", String(value));
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const at = (id) => document.getElementById(id);

/** Return a probability in percent; only certain events get 0 % or 100 %. */
export function percent(p) {
  if (p > 0 && p < 0.001) return "<0.1 %";
  if (p > 0.99 && p < 1) return ">99 %";
  return p > 0 && p < 0.0995 ? `${(100 * p).toFixed(1)} %` : `${(100 * p).toFixed(0)} %`;
}

/** Return a horizontal bar; what it shows is also there as text. */
export const meter = (share) => make("span", {class: "meter", "aria-hidden": "true"}, make("i", {share}));
