// The dialog "Open": workloads of the server, examples, a file, or text.
import { checkText, get, isAbort, postJson } from "./api.js";
import { bagOf } from "./document.js";
import { byId, el, show } from "./dom.js";
import { problemList } from "./editor.js";

const MOST_BYTES = 20_000_000;

/**
 * @typedef {{base: import("./share.js").Base, document: any, yaml: string|null, title: string}} Opened
 */

/** Open a workload or an example by its name. @param {"workload"|"example"} kind @returns {Promise<Opened>} */
export async function openNamed(kind, name) {
  const found = bagOf(await get(`/v1/${kind}s/${encodeURIComponent(name)}`), name);
  return { base: { [kind]: name }, document: found.document, yaml: found.yaml ?? null, title: name };
}

/** Open text of a file: JSON or YAML. @returns {Promise<Opened>} */
export async function openText(text) {
  let isJson = false;
  try {
    JSON.parse(text);
    isJson = true;
  } catch {
    // YAML, or nothing valid: the server says which line.
  }
  const found = bagOf(isJson ? await postJson("/v1/convert", text) : await checkText(text), "This");
  return { base: { document: found.document }, document: found.document, yaml: isJson ? found.yaml : text, title: found.document.name };
}

/** Open what a link names. @param {import("./share.js").Base} base @returns {Promise<Opened>} */
export async function openBase(base) {
  if ("workload" in base) return openNamed("workload", base.workload);
  if ("example" in base) return openNamed("example", base.example);
  const found = bagOf(await postJson("/v1/convert", base.document), "This");
  return { base, document: found.document, yaml: found.yaml, title: found.document.name };
}

export class OpenDialog {
  /** @param {{onOpen: (opened: Opened) => void, onOffer: (text: string) => void}} on */
  constructor(on) {
    this.on = on;
    this.dialog = byId("open-dialog");
    this.message = byId("open-message");
    this.paste = byId("open-text");
    this.file = byId("open-file");
    byId("open-close").addEventListener("click", () => this.dialog.close());
    byId("open-pasted").addEventListener("click", () => this.take(() => openText(this.paste.value), this.paste.value));
    this.file.addEventListener("change", () => this.upload());
    byId("open-example").addEventListener("click", () => {
      const name = byId("open-examples").value;
      if (name) this.take(() => openNamed("example", name));
    });
  }

  show(list) {
    const workloads = (list?.workloads ?? []).map(({ name, kind }) => el("li", {},
      el("button", { type: "button", onclick: () => this.take(() => openNamed("workload", name)), disabled: kind !== "bag" },
        name), kind === "bag" ? null : ` (${kind}: not for this page)`));
    show(byId("open-workloads"), workloads.length ? workloads : el("li", {}, "None: the server was started without a file."));
    show(byId("open-examples"), (list?.examples ?? []).map(({ name, title }) => el("option", { value: name }, title ? `${name}: ${title}` : name)));
    show(this.message);
    this.file.value = "";
    this.dialog.showModal();
  }

  async upload() {
    const [file] = this.file.files;
    if (!file) return;
    if (file.size > MOST_BYTES) {
      show(this.message, el("p", {}, `${file.name} has ${Math.round(file.size / 1e6)} MB; at most ${MOST_BYTES / 1e6} MB can be opened here.`));
      return;
    }
    const text = await file.text();
    await this.take(() => openText(text), text);
  }

  async take(open, text = null) {
    show(this.message, el("p", {}, "Opening \u2026"));
    try {
      const opened = await open();
      this.dialog.close();
      this.paste.value = "";
      this.on.onOpen(opened);
    } catch (error) {
      if (isAbort(error)) return;
      const correct = text !== null && error.code === "bad-input" ? el("button", { type: "button", onclick: () => {
        this.dialog.close();
        this.on.onOffer(text);
      } }, "Correct it in the editor") : null;
      show(this.message, el("p", {}, "This was not opened:"), problemList(error, null), correct);
    }
  }
}
