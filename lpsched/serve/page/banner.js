// Messages above the answer: what is wrong now, and which version the answer is of.
import { el, show } from "./dom.js";

const URGENT = new Set(["gone", "solve", "editor", "form", "start"]);

export class Banner {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.messages = new Map();
  }

  /** @param {string} source one message of each @param {(string|Node)[]|null} parts null takes it away */
  set(source, parts, { isClosable = false } = {}) {
    if (!parts && !this.messages.has(source)) return;
    this.messages.delete(source);
    if (parts) {
      const close = isClosable ? el("button", { type: "button", onclick: () => this.set(source, null) }, "Close") : null;
      const node = el("div", { class: URGENT.has(source) ? "message urgent" : "message", "data-source": source }, el("div", {}, parts), close);
      this.messages.set(source, node);
    }
    show(this.root, ...this.messages.values());
  }

  clear() {
    this.messages.clear();
    show(this.root);
  }
}
