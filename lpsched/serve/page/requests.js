// Questions to the server that follow a slider: of each kind at most one is in flight, and the latest state wins.
import { isAbort, postJson } from "./api.js";

// A superseded request may end if it does so soon, or nothing would follow while a slider moves. After this it is
// aborted, which also stops the work on the server; that costs a worker process, hence not at once.
const PATIENCE_MS = 1500;
const LEAST_MS = 60; // between two requests of a kind: a slider that is dragged for a minute stays below the server's rate

/** One kind of question, e.g. /v1/solve. */
export class Lane {
  /** @param {string} path @param {(version: number, outcome: {answer?: any, error?: Error}) => void} onOutcome */
  constructor(path, onOutcome) {
    this.path = path;
    this.onOutcome = onOutcome;
    this.flight = null; // {version, started, controller}
    this.waiting = null; // {version, body}
    this.timer = null;
    this.delay = null;
    this.last = -Infinity; // when the last request left
    this.took = 0; // milliseconds, the last one
  }

  /** @param {number} version @param {(() => string)|null} body made when it leaves; null: nothing to ask in this state */
  submit(version, body) {
    this.waiting = { version, body };
    if (!this.flight) {
      this.soon();
      return;
    }
    const left = PATIENCE_MS - (performance.now() - this.flight.started);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flight?.controller.abort(), Math.max(0, left));
  }

  /** Whether the next request had better wait until a quicker kind is answered: it would take the workers from that. */
  get isSlow() {
    const underWay = this.flight ? performance.now() - this.flight.started : 0;
    return Math.max(this.took, underWay) > PATIENCE_MS;
  }

  soon() {
    clearTimeout(this.delay);
    const left = LEAST_MS - (performance.now() - this.last);
    if (left <= 0) this.next();
    else this.delay = setTimeout(() => this.next(), left);
  }

  /** Stop what is in flight, e.g. because another workload was opened. */
  cancel() {
    clearTimeout(this.timer);
    clearTimeout(this.delay);
    this.waiting = null;
    this.flight?.controller.abort();
  }

  async next() {
    if (!this.waiting || this.flight) return;
    const { version, body } = this.waiting;
    this.waiting = null;
    if (body === null) {
      this.onOutcome(version, {});
      return;
    }
    const controller = new AbortController();
    this.last = performance.now();
    this.flight = { version, started: this.last, controller };
    let outcome = null;
    try {
      outcome = { answer: await postJson(this.path, body(), { signal: controller.signal }) };
    } catch (error) {
      if (!isAbort(error)) outcome = { error };
    }
    clearTimeout(this.timer);
    const took = performance.now() - this.last;
    this.took = outcome ? took : Math.max(took, this.took);
    this.flight = null;
    // The next question leaves before the last answer is drawn: the server works meanwhile.
    if (this.waiting) this.soon();
    if (outcome) this.onOutcome(version, outcome);
  }
}

/** All kinds of questions about one state, and when the latest of them are answered. */
export class Questions {
  /**
   * @param {Object<string, string>} paths of each kind; the first is the one that the headline needs
   * @param {(kind: string, outcome: {answer?: any, error?: Error}, version: number) => void} onOutcome
   * @param {(version: number, ms: number) => void} onSettled all kinds are answered for the latest state
   */
  constructor(paths, onOutcome, onSettled) {
    this.version = 0;
    this.asked = 0;
    this.done = {};
    this.held = {}; // bodies that wait for the answer to the first kind
    this.onSettled = onSettled;
    [this.first] = Object.keys(paths);
    this.lanes = Object.fromEntries(Object.entries(paths).map(([kind, path]) => [kind, new Lane(path, (version, outcome) => {
      if (version < (this.done[kind] ?? 0)) return;
      this.done[kind] = version;
      onOutcome(kind, outcome, version);
      if (kind === this.first && version === this.version) this.release();
      this.settle();
    })]));
  }

  /** @param {Object<string, (() => string)|null>} bodies in the order in which they are to leave */
  ask(bodies) {
    this.version += 1;
    this.asked = performance.now();
    performance.mark("lpsched-change");
    this.held = {};
    for (const [kind, body] of Object.entries(bodies)) {
      const lane = this.lanes[kind];
      if (kind !== this.first && body !== null && lane.isSlow) {
        lane.cancel();
        this.held[kind] = body;
      } else {
        lane.submit(this.version, body);
      }
    }
  }

  release() {
    for (const [kind, body] of Object.entries(this.held)) this.lanes[kind].submit(this.version, body);
    this.held = {};
  }

  cancel() {
    for (const lane of Object.values(this.lanes)) {
      lane.cancel();
      lane.took = 0;
    }
  }

  get isSettled() {
    return Object.keys(this.lanes).every((kind) => this.done[kind] === this.version);
  }

  settle() {
    if (!this.isSettled) return;
    performance.mark("lpsched-answer");
    performance.clearMeasures("lpsched-round-trip");
    performance.measure("lpsched-round-trip", "lpsched-change", "lpsched-answer");
    performance.clearMarks();
    this.onSettled(this.version, performance.now() - this.asked);
  }
}
