// The page: what its buttons do, what it asks the server, and what happens with the answers.
import { GoneError, get, isAbort, postJson } from "./api.js";
import { Banner } from "./banner.js";
import { Form } from "./controls.js";
import { applied, objectiveOf, withValue } from "./document.js";
import { byId, copyText, el, show } from "./dom.js";
import { prepareDownloads } from "./downloads.js";
import { Editor, problemList } from "./editor.js";
import { setWidth } from "./figures.js";
import { OpenDialog, openBase, openNamed } from "./open.js";
import { Questions } from "./requests.js";
import { timeUnit } from "./scales.js";
import { Search } from "./search.js";
import { decoded, encoded, hashOf } from "./share.js";
import { answerOf, documentOf, noCurve, noFront, scenario, solved, state } from "./state.js";
import { counted } from "./texts.js";
import { prepareToken } from "./token.js";
import { clearAnswer, draw, drawAnswer, drawFrontFigure, drawObjective, drawPin, drawPriceFigure, drawTitle } from "./view.js";

const root = document.documentElement;
const banner = new Banner(byId("banner"));
const RETRY_MS = [1000, 2000, 4000, 8000];
const OLD = "The answer below is of the last valid version.";

const questions = new Questions({ solve: "/v1/solve", front: "/v1/front", price: "/v1/price" }, onOutcome, onSettled);
const form = new Form(byId("form"), {
  onChange: (path, value) => change(withValue(state.document, path, value)),
  onComplaint: (text) => banner.set("form", text && [`${text}. `, OLD]),
  hints,
});
const editor = new Editor(byId("editor"), {
  onApply: (converted, text) => {
    state.document = converted.document;
    form.build(state.document, state.opened.document);
    editor.set(state.document, text);
    changed();
  },
  onState: (problems) => banner.set("editor", problems === null ? null
    : problems === 0 ? ["The YAML is changed and valid, but not applied. The answer below is of the last applied version."]
      : [`The YAML has ${counted(problems, "problem")} (under \u201cAs YAML\u201d). `, OLD]),
  onGone: (error) => gone(error),
});
const dialog = new OpenDialog({ onOpen: (opened) => open(opened), onOffer: (text) => editor.offer(text) });
const search = new Search({ onAnswer: (answer) => {
  state.harder = answer;
  draw();
}, onGone: (error) => gone(error) });

// What a control that is switched on begins with.
function hints() {
  const answer = solved();
  const pue = state.document.site?.cap_measured_at === "it" ? 1 : state.document.site?.pue ?? 1;
  const watts = answer?.average_watts ?? null;
  const price = answerOf("price");
  return { price: price?.break_even_price || price?.least_price_to_run || null,
    watts: watts === null ? null : watts * pue, seconds: answer?.makespan_seconds ?? null };
}

// --- asking ---------------------------------------------------------------------------------------------------

function change(document) {
  state.document = document;
  editor.set(document);
  changed();
}

function changed() {
  if (location.hash) history.replaceState(null, "", location.pathname); // the link was of another state
  drawTitle();
  ask();
}

function ask() {
  const { document } = state;
  const objective = objectiveOf(document, state.chosen);
  search.stop();
  state.harder = null;
  drawObjective();
  let written = null; // once for the three, and only if it is sent: a slider that moves skips states
  const bag = () => {
    written ??= JSON.stringify(document);
    return written;
  };
  state.asked.set(questions.version + 1, { document, objective });
  busy(true);
  questions.ask({
    solve: () => `{"bag":${bag()},"objective":"${objective}","effort":"fast","marginals":"lp"}`,
    front: noFront(document) ? null : () => `{"bag":${bag()},"effort":"fast"}`,
    price: noCurve(document) ? null : () => `{"bag":${bag()},"effort":"fast","points":2,"sensitivity":false}`,
  });
}

function busy(isBusy) {
  byId("headline").setAttribute("aria-busy", String(isBusy));
  byId("results").classList.toggle("stale", isBusy);
  if (isBusy) byId("status").textContent = "asking \u2026";
}

function gone(error) {
  if (gone.timer) return; // all kinds of questions come here
  const wait = RETRY_MS[Math.min(state.failures, RETRY_MS.length - 1)];
  state.failures += 1;
  gone.timer = setTimeout(again, wait);
  banner.set("gone", [`${error.message} Trying again every few seconds. `, state.shown.solve ? "The answer below is the last one that arrived. " : "",
    el("button", { type: "button", onclick: again }, "Try again now")]);
}

function again() {
  clearTimeout(gone.timer);
  gone.timer = null;
  if (state.document) ask();
  else start();
}

// --- answers --------------------------------------------------------------------------------------------------

function onOutcome(kind, { answer, error }, version) {
  if (error instanceof GoneError) {
    gone(error);
    return;
  }
  if (state.failures) {
    state.failures = 0;
    clearTimeout(gone.timer);
    gone.timer = null;
    banner.set("gone", null);
  }
  const isNoAnswer = error && !["infeasible", "not-found"].includes(error.code);
  if (kind === "solve" && isNoAnswer) {
    // The old answer stays, and the page says that it is old.
    const title = error.code === "bad-input" ? "" : "No answer: ";
    if (!state.shown.solve) show(byId("headline"), "No answer: see the message above.");
    banner.set("solve", [title, problemList(error, null), state.shown.solve?.answer ? OLD : "",
      error.code === "bad-input" ? "" : el("button", { type: "button", onclick: again }, "Try again")]);
    return;
  }
  if (kind !== "solve" && !state.solves.has(version)) {
    // A figure waits for the headline of its state: if that does not come, the figures of the last answer stay.
    state.late = [...state.late.filter((each) => each[0] !== kind), [kind, { answer, error }, version]];
    return;
  }
  if (kind === "solve") banner.set("solve", null);
  state.shown[kind] = { version, answer, error, document: state.asked.get(version).document };
  if (answer && kind !== "solve" && state.pin?.version === version) state.pin.answers[kind] = answer; // it was pinned meanwhile
  if (kind === "solve") {
    state.solves.set(version, answer ?? null);
    fitDeadline();
    drawAnswer();
    // A schedule is only drawn beside the front and the curve of the same state: beside older ones it could seem to
    // beat what is proved. They stay as they were until theirs come.
    if (state.shown.front?.version === version) drawFrontFigure();
    if (state.shown.price?.version === version) drawPriceFigure();
    const held = state.late.filter((each) => each[2] === version);
    state.late = state.late.filter((each) => each[2] > version);
    for (const outcome of held) onOutcome(...outcome);
  } else if (kind === "front") {
    drawFrontFigure();
  } else {
    drawPriceFigure();
    if (solved()?.regime && solved().regime !== "profit") drawAnswer(); // its notes name prices of the curve
  }
}

// The unit of a deadline that is off follows the makespan, which is known after the first answer.
function fitDeadline() {
  const seconds = solved()?.makespan_seconds ?? null;
  if (!state.isFresh || seconds === null) return;
  state.isFresh = false;
  const isGiven = (state.document.site?.deadline_seconds ?? null) !== null;
  if (!isGiven && timeUnit(seconds)[1] !== timeUnit(null)[1]) form.build(state.document, state.opened.document);
}

function onSettled(version, ms) {
  state.late = []; // of states without an answer
  for (const kept of [state.asked, state.solves]) for (const old of kept.keys()) if (old < version) kept.delete(old);
  busy(false);
  const isOld = state.shown.solve?.version !== version;
  byId("status").textContent = isOld ? "" : `answered in ${Math.round(ms)} ms`;
  byId("pin").disabled = !answerOf("solve") && !state.pin;
  byId("link").disabled = false;
  if (isOld) return;
  state.answered += 1;
  root.dataset.answered = String(Math.round(ms));
  root.dataset.version = String(state.answered);
}

// --- opening, pinning, sharing ----------------------------------------------------------------------------------

/** @param {import("./open.js").Opened} opened @param {any} document with changes, from a link */
function open(opened, document = opened.document, chosen = null) {
  questions.cancel();
  state.opened = opened;
  state.document = document;
  state.chosen = chosen;
  state.isFresh = true;
  clearAnswer();
  banner.clear();
  editor.discard();
  editor.set(document, document === opened.document ? opened.yaml : null);
  form.build(document, opened.document);
  changed();
}

function togglePin() {
  if (state.pin) {
    state.pin = null;
  } else if (solved()) {
    const { version, document } = state.shown.solve;
    const ofThis = (kind) => (state.shown[kind]?.version === version ? answerOf(kind) : null); // else it is on the way
    state.pin = { ...scenario(), origin: state.opened.document, effort: solved().effort, version, document, title: document.name,
      answers: { solve: solved(), front: ofThis("front"), price: ofThis("price") } };
  }
  drawPin();
}

// What a link holds of a scenario: a workload or an example by its name, with a hash of what it was.
function linked({ base, changes, objective }, origin) {
  return { base, changes, objective, ...("document" in base ? {} : { hash: hashOf(origin) }) };
}

async function share() {
  const { pin } = state;
  const now = linked(scenario(), state.opened.document);
  const fragment = await encoded({ now, pin: pin && { ...linked(pin, pin.origin), effort: pin.effort } });
  if (fragment === null) {
    banner.set("share", ["This document is too large for a link. Download the YAML below and send that instead."], { isClosable: true });
    return;
  }
  history.replaceState(null, "", "#" + fragment);
  const isCopied = await copyText(location.href);
  banner.set("share", [isCopied ? "The link is copied. " : "The link is in the address bar: copy it from there. ",
    [now, pin].some((each) => each && !("document" in each.base))
      ? "It holds the name of the workload and the changes, not the workload itself: it opens on this server only. "
      : "It holds the whole scenario. ",
    "The part after # is not sent to any server."], { isClosable: true });
}

/** Solve a pinned scenario of a link, which has no answers yet. */
async function pinFrom(shared) {
  state.awaited = shared;
  const opened = await openBase(shared.base);
  const document = applied(opened.document, shared.changes);
  const objective = objectiveOf(document, shared.objective);
  const quiet = (promise) => promise.catch((error) => { if (error instanceof GoneError) throw error; return null; });
  const [solve, front, price] = await Promise.all([
    postJson("/v1/solve", { bag: document, objective, effort: shared.effort ?? "fast", marginals: "lp" }),
    noFront(document) ? null : quiet(postJson("/v1/front", { bag: document, effort: "fast" })),
    noCurve(document) ? null : quiet(postJson("/v1/price", { bag: document, effort: "fast", points: 2, sensitivity: false }))]);
  if (state.pin || state.awaited !== shared) return; // another one was pinned, or another link opened, meanwhile
  state.pin = { ...shared, origin: opened.document, effort: solve.effort, document, title: document.name, answers: { solve, front, price } };
  drawPin();
  warnIfChanged("The pinned workload", shared, opened);
}

// A link names a workload, and its file may be another one by now.
function warnIfChanged(name, shared, opened) {
  if (shared.hash === undefined || shared.hash === hashOf(opened.document)) return;
  banner.set(name, [`${name} has changed since the link was made; the changes are applied to it as it is now.`], { isClosable: true });
}

async function restore(fragment) {
  const shared = await decoded(fragment);
  if (shared === null) return false;
  const opened = await openBase(shared.now.base);
  // The changes come from outside: the server checks the document that they make before the form shows it.
  const checked = shared.now.changes.length ? (await postJson("/v1/convert", applied(opened.document, shared.now.changes))).document : opened.document;
  state.pin = null;
  open(opened, checked, shared.now.objective);
  warnIfChanged("The workload", shared.now, opened);
  history.replaceState(null, "", "#" + fragment.replace(/^#/, ""));
  drawPin();
  if (shared.pin) {
    await pinFrom(shared.pin).catch((error) => banner.set("link", [`The pinned scenario of the link was not restored: ${error.message}`], { isClosable: true }));
  }
  return true;
}

async function fromLink() {
  try {
    return await restore(location.hash);
  } catch (error) {
    if (error instanceof GoneError) throw error;
    history.replaceState(null, "", location.pathname);
    const isOurs = error.message.startsWith("This link");
    const text = isOurs ? error.message : `This link was not opened: ${error.message}`;
    return () => banner.set("link", [text], { isClosable: true });
  }
}

// --- start ------------------------------------------------------------------------------------------------------

async function start() {
  try {
    state.list = await get("/v1/workloads");
    state.failures = 0;
    banner.set("gone", null);
    const restored = location.hash ? await fromLink() : false;
    if (restored === true) return;
    const first = state.list.workloads.find(({ kind }) => kind === "bag");
    const example = state.list.examples[0];
    if (first) open(await openNamed("workload", first.name));
    else if (example) open(await openNamed("example", example.name));
    else dialog.show(state.list);
    if (typeof restored === "function") restored();
  } catch (error) {
    if (error instanceof GoneError) gone(error);
    else if (!isAbort(error)) banner.set("start", [problemList(error, null), el("button", { type: "button", onclick: start }, "Try again")]);
  }
}

prepareToken();
byId("open").addEventListener("click", async () => {
  try {
    state.list = await get("/v1/workloads");
  } catch (error) {
    if (error instanceof GoneError) gone(error);
  }
  dialog.show(state.list);
});
byId("reset").addEventListener("click", () => {
  state.document = state.opened.document;
  editor.discard();
  editor.set(state.document, state.opened.yaml);
  form.build(state.document, state.opened.document);
  changed();
});
byId("pin").addEventListener("click", togglePin);
byId("link").addEventListener("click", share);
byId("harder").addEventListener("click", () => search.start(documentOf("solve"), answerOf("solve")));
byId("objective").addEventListener("change", (event) => {
  state.chosen = event.target.value;
  changed();
});
prepareDownloads(byId("files"), () => {
  const answer = solved();
  return { bag: documentOf("solve"), options: answer && { objective: answer.objective, effort: answer.effort } };
});
window.addEventListener("hashchange", async () => {
  const restored = location.hash ? await fromLink().catch(gone) : true;
  if (typeof restored === "function") restored();
});
// Figures are drawn at the width that there is.
let width = 0;
new ResizeObserver(([entry]) => {
  if (Math.abs(entry.contentRect.width - width) < 2) return;
  width = entry.contentRect.width;
  setWidth(width);
  drawFrontFigure();
  drawPriceFigure();
}).observe(byId("results"));
start();
