// The state of the page: what is open, what was asked and what was answered.
import { differences, hasWatts, objectiveOf, whyNot } from "./document.js";

/** What is open, what is asked and what was answered. */
export const state = {
  list: null, // workloads and examples of the server
  opened: null, // {base, document, title}
  document: null, // the opened one with its changes
  chosen: null, // objective
  asked: new Map(), // version: {document, objective}
  shown: {}, // solve, front, price: {version, document, answer} or {version, document, error}
  solves: new Map(), // version: answer, until all kinds are answered
  late: [], // outcomes of figures that wait for that of `solve`
  harder: null, // an answer of a longer search, of the present state
  pin: null, // {base, origin, changes, objective, effort, version, document, title, answers}
  awaited: null, // the pinned scenario of a link, until it is solved
  isFresh: true, // no answer yet of what was opened
  failures: 0,
  answered: 0,
};

/** The answer of a kind that is shown; null if there is none. */
export const answerOf = (kind) => state.shown[kind]?.answer ?? null;

/** The answer of `solve`: of the longer search, where there was one. */
export const solved = () => state.harder ?? answerOf("solve");

/** The document that an answer is of. */
export const documentOf = (kind) => state.shown[kind]?.document ?? state.document;

/** The answer of `solve` to the state that another answer is of; null if there is none. */
export function solveOf(kind) {
  const { version } = state.shown[kind];
  return state.shown.solve?.version === version ? solved() : state.solves.get(version) ?? null;
}

// What the answer on the page is of, which may be older than what is typed.
export function scenario() {
  const document = documentOf("solve");
  const objective = solved()?.objective ?? null;
  const isChosen = objective === null || objective === objectiveOf(document, state.chosen);
  return { base: state.opened.base, changes: differences(state.opened.document, document), objective: isChosen ? state.chosen : objective };
}

// Why a figure cannot be drawn from these data; null where it can.
export function noFront(document) {
  return hasWatts(document) ? null : "The bag has no watts, so energy is unknown and there is no front.";
}

export function noCurve(document) {
  return whyNot(document, "curve");
}
