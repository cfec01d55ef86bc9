// The document: reading and changing values by path, differences between two documents, and what a bag has.

/** @typedef {(string|number)[]} Path  e.g. ["machine_types", 0, "count"] */
/** @typedef {[Path, any] | [Path]} Change  a path and its new value; without one, the entry is removed */

const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);
const MOST_CHANGES = 5000;
const MOST_DEPTH = 12;

function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** @param {Path} path */
export function valueAt(document, path) {
  let here = document;
  for (const key of path) {
    if (here === null || typeof here !== "object" || !Object.hasOwn(here, key)) return undefined;
    here = here[key];
  }
  return here;
}

/**
 * The document with another value; the rest is shared, so that pinned answers keep theirs.
 * @param {Path} path @param {any} value undefined removes the entry
 */
export function withValue(document, path, value) {
  if (path.length === 0) return value;
  const [key, ...rest] = path;
  const inside = document !== null && typeof document === "object" && Object.hasOwn(document, key) ? document[key] : undefined;
  if (inside === undefined && value === undefined) return document;
  const copy = Array.isArray(document) ? [...document] : { ...document };
  const made = withValue(inside ?? (rest.length ? {} : undefined), rest, value);
  if (made === undefined) delete copy[key];
  else copy[key] = made;
  return copy;
}

/** What changes one document into another. @returns {Change[]} */
export function differences(from, to, path = []) {
  if (from === to) return [];
  const isSame = (Array.isArray(from) && Array.isArray(to) && from.length === to.length) || (isObject(from) && isObject(to));
  if (!isSame) return JSON.stringify(from) === JSON.stringify(to) ? [] : [[path, to]];
  const keys = Array.isArray(to) ? to.map((_, place) => place) : Object.keys(to);
  const changes = keys.flatMap((key) => (
    Object.hasOwn(from, key) ? differences(from[key], to[key], [...path, key]) : [[[...path, key], to[key]]]));
  const removed = isObject(from) ? Object.keys(from).filter((key) => !Object.hasOwn(to, key)) : [];
  return [...changes, ...removed.map((key) => [[...path, key]])];
}

/** Apply changes that came from outside: anything odd is an error with a reason. @param {Change[]} changes */
export function applied(document, changes) {
  if (!Array.isArray(changes) || changes.length > MOST_CHANGES) throw new Error("the changes are not a list");
  return changes.reduce((made, change) => {
    if (!Array.isArray(change) || !Array.isArray(change[0])) throw new Error("a change has no path");
    const [path] = change;
    if (path.length === 0 || path.length > MOST_DEPTH) throw new Error("a path has a wrong length");
    for (const key of path) {
      const isPlace = Number.isInteger(key) && key >= 0;
      if (!(isPlace || typeof key === "string") || FORBIDDEN.has(key)) throw new Error("a path has a wrong key");
    }
    // A place beyond the end would make a list with gaps, perhaps a huge one.
    let here = made;
    for (const key of path) {
      if (Array.isArray(here) && !(Number.isInteger(key) && key < here.length)) throw new Error("a path leads outside a list");
      here = valueAt(here, [key]);
    }
    return withValue(made, path, change.length > 1 ? change[1] : undefined);
  }, document);
}

// Whether this is a document that the form can show: the server has checked the rest.
function isBag(document) {
  return isObject(document) && Array.isArray(document.machine_types) && Array.isArray(document.task_types);
}

/**
 * What the server read, if it is a bag of tasks.
 * @param {{kind: string, document: any}} found
 * @throws {Error} with a sentence for people, if it is of another kind
 */
export function bagOf(found, name) {
  if (found.kind !== "bag" || !isBag(found.document)) {
    throw new Error(`${name} is a file of the kind \u201c${found.kind}\u201d; this page works on bags of tasks (lpsched-bag/1). The commands facility and simulate work on the others.`);
  }
  return found;
}

export function currencyOf(document) {
  return document.prices?.currency ?? "USD";
}

/** What the whole bag sells for: of the bag, and of all its tasks; null where it has no price. */
export function totalPrice(document) {
  const { per_bag: perBag = null, per_task: perTask = null } = document.prices ?? {};
  const isPriced = isObject(perTask) && Object.keys(perTask).length > 0;
  if (perBag === null && !isPriced) return null;
  const tasks = isPriced ? document.task_types.map((task) => task.count * (perTask[task.name] ?? 0)) : [];
  return tasks.reduce((sum, each) => sum + each, perBag ?? 0);
}

export function hasWatts(document) {
  return document.watts !== undefined && document.watts !== null;
}

/** What a kWh costs; null where it is not known. */
export function electricityOf(document) {
  return document.prices?.electricity_per_kwh ?? null;
}

// What the cost of energy needs: a price of electricity, and watts unless that is 0.
function whyNoCost(document) {
  const price = electricityOf(document);
  if (price === null) return "the price of electricity (0 is a price)";
  return price !== 0 && !hasWatts(document) ? "the watts of the tasks, or electricity at a price of 0" : null;
}

/** Why an objective cannot be chosen, or a price curve drawn ("curve"); null where it can. */
export function whyNot(document, what) {
  if (what === "energy") return hasWatts(document) ? null : "Energy needs the watts of the tasks.";
  if (what === "makespan") return null;
  if (what === "profit" && totalPrice(document) === null) return "Profit needs a price.";
  const cost = whyNoCost(document);
  return cost === null ? null : `${what === "curve" ? "A price curve" : "Profit"} needs ${cost}.`;
}

/** The objective that is solved for: the chosen one where the data allow it, else profit, else makespan. */
export function objectiveOf(document, chosen) {
  if (chosen && whyNot(document, chosen) === null) return chosen;
  return whyNot(document, "profit") === null && chosen !== "energy" ? "profit" : "makespan";
}
