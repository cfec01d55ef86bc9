// The document as YAML: checked while it is typed, applied when asked for; problems lead to their line.
import { checkText, isAbort, postJson } from "./api.js";
import { bagOf } from "./document.js";
import { el, show } from "./dom.js";

const CHECK_MS = 250;
const FOLLOW_MS = 300;

/** A problem as the command line writes it. @param {import("./api.js").Issue} issue */
export function issueText(issue) {
  const hint = issue.do ? "; " + issue.do : "";
  return `${issue.where}: got ${issue.found}, expected ${issue.needed}${hint}`;
}

/** The line that a problem names; null if none. */
export function lineOf(issue) {
  const found = /\bline (\d+)/.exec(issue.where);
  return found ? Number(found[1]) : null;
}

/** From where to where a line goes in a text; lines count from 1. */
export function spanOf(text, line) {
  const lines = text.split("\n");
  const at = Math.min(Math.max(line, 1), lines.length) - 1;
  const start = lines.slice(0, at).reduce((sum, each) => sum + each.length + 1, 0);
  return [start, start + lines[at].length];
}

/** A list of problems; those with a line are buttons. @param {Error} error @param {((line: number) => void)|null} onLine */
export function problemList(error, onLine) {
  const issues = error.issues ?? [];
  if (!issues.length) return el("ul", { class: "problems" }, el("li", {}, error.message));
  return el("ul", { class: "problems" }, issues.map((issue) => {
    const line = lineOf(issue);
    const text = issueText(issue);
    return el("li", {}, line !== null && onLine ? el("button", { type: "button", class: "link", onclick: () => onLine(line) }, text) : text);
  }));
}

export class Editor {
  /**
   * @param {HTMLDetailsElement} root with a textarea, a button and places for status and problems
   * @param {{onApply: (converted: any, text: string) => void, onState: (problems: number|null) => void, onGone: (error: Error) => void}} on
   */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.box = root.querySelector("textarea");
    this.button = root.querySelector("[data-apply]");
    this.revert = root.querySelector("[data-revert]");
    this.status = root.querySelector("[data-status]");
    this.problems = root.querySelector("[data-problems]");
    this.document = null; // of the form
    this.isEdited = false;
    this.text = null; // of that document, with the comments that it came with
    this.checked = null; // what the server said of the text
    this.controller = null;
    this.timer = null;
    this.box.addEventListener("input", () => this.edited());
    this.box.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.apply();
    });
    this.button.addEventListener("click", () => this.apply());
    this.revert.addEventListener("click", () => this.reset());
    root.addEventListener("toggle", () => { if (root.open && this.isStale) this.follow(0); });
  }

  /** The form has another document: the text follows, unless it is being edited. @param {string|null} text if it is known */
  set(document, text = null) {
    this.document = document;
    this.isStale = text === null;
    this.text = text;
    if (this.isEdited) {
      this.say("The form was changed meanwhile: applying this text replaces that.");
      return;
    }
    if (text !== null) {
      this.box.value = text;
      this.say("");
    } else if (this.root.open) {
      this.follow(FOLLOW_MS);
    }
  }

  /** Show a text that is not applied, e.g. a file with errors. */
  offer(text) {
    this.root.open = true;
    this.box.value = text;
    this.edited();
    this.root.scrollIntoView({ block: "nearest" });
    this.box.focus();
  }

  reset() {
    this.discard();
    if (this.isStale) {
      this.follow(0);
    } else {
      this.box.value = this.text;
      this.say("");
    }
  }

  discard() {
    this.isEdited = false;
    this.finish();
  }

  finish() {
    this.controller?.abort();
    clearTimeout(this.timer);
    this.checked = null;
    show(this.problems);
    this.box.removeAttribute("aria-invalid");
    this.button.disabled = true;
    this.revert.hidden = true;
    this.on.onState(null);
  }

  // Text of a document that the form has changed: only the server writes YAML, so that it is what downloads have.
  follow(ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      const document = this.document;
      try {
        const { yaml } = await postJson("/v1/convert", document);
        if (this.isEdited || document !== this.document) return;
        this.box.value = yaml;
        this.text = yaml;
        this.isStale = false;
        this.say("");
      } catch (error) {
        if (!isAbort(error) && document === this.document) this.say("The text could not be written: " + error.message);
      }
    }, ms);
  }

  say(text) {
    this.status.textContent = text;
  }

  edited() {
    this.isEdited = true;
    this.revert.hidden = false;
    this.button.disabled = true;
    this.say("Checking \u2026");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), CHECK_MS);
  }

  async check() {
    clearTimeout(this.timer);
    this.controller?.abort();
    this.controller = new AbortController();
    const text = this.box.value;
    this.checked = null;
    try {
      const converted = bagOf(await checkText(text, { signal: this.controller.signal }), "This");
      this.checked = { text, converted };
      show(this.problems, (converted.warnings ?? []).length ? el("ul", { class: "warnings" }, converted.warnings.map((each) => el("li", {}, each))) : null);
      this.box.removeAttribute("aria-invalid");
      this.button.disabled = false;
      this.say("Valid, not applied yet.");
      this.on.onState(0);
    } catch (error) {
      if (isAbort(error)) return;
      if (error.code === "gone") {
        this.on.onGone(error);
        this.say("Not checked: the server does not answer.");
        return;
      }
      show(this.problems, problemList(error, (line) => this.select(line)));
      this.box.setAttribute("aria-invalid", "true");
      const count = error.issues?.length || 1;
      this.say(count === 1 ? "1 problem:" : `${count} problems:`);
      this.on.onState(count);
    }
  }

  select(line) {
    const [start, end] = spanOf(this.box.value, line);
    this.box.focus();
    this.box.setSelectionRange(start, end);
    // Browsers do not scroll a text area to its selection by themselves.
    const height = parseFloat(getComputedStyle(this.box).lineHeight) || 18;
    this.box.scrollTop = Math.max(0, (line - 4) * height);
  }

  async apply() {
    if (!this.isEdited) return;
    if (this.checked?.text !== this.box.value) await this.check();
    if (this.checked?.text !== this.box.value) return;
    const { converted, text } = this.checked;
    this.isEdited = false;
    this.isStale = false;
    this.finish();
    this.say("Applied.");
    this.on.onApply(converted, text);
  }
}
