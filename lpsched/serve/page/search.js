// "Search harder": the same question with more effort, until it ends or is cancelled.
import { GoneError, isAbort, postJson } from "./api.js";
import { byId } from "./dom.js";
import { gapText } from "./numbers.js";

function isBetter(found, before) {
  const sign = found.objective === "profit" ? 1 : -1;
  return sign * (found.value - before.value) >= 0;
}

export class Search {
  /** @param {{onAnswer: (answer: any) => void, onGone: (error: Error) => void}} on */
  constructor(on) {
    this.on = on;
    this.controller = null;
    this.bar = byId("search-bar");
    this.said = byId("search-said");
    this.button = byId("harder");
    this.cancel = byId("stop");
    this.cancel.addEventListener("click", () => {
      this.stop();
      this.said.textContent = "Cancelled.";
      this.button.disabled = false;
      this.button.focus();
    });
  }

  /** @param {any} bag @param {any} before the answer that is to be improved */
  async start(bag, before) {
    this.stop();
    const controller = new AbortController();
    this.controller = controller;
    this.button.disabled = true;
    this.cancel.hidden = false;
    this.bar.hidden = false;
    this.bar.removeAttribute("value");
    const began = performance.now();
    let job = null;
    const report = () => {
      const gap = job?.progress?.gap;
      this.said.textContent = `Searching, ${Math.round((performance.now() - began) / 1000)} s${gap === null || gap === undefined ? "" : `, gap ${gapText(gap)}`}`;
    };
    report();
    this.timer = setInterval(report, 1000);
    try {
      const answer = await postJson("/v1/solve", { bag, objective: before.objective, effort: "auto", marginals: "lp" },
        { signal: controller.signal, onProgress: (now) => { job = now; } });
      if (this.controller !== controller) return;
      this.stop();
      const found = isBetter(answer, before);
      this.said.textContent = !found || answer.value === before.value ? "No better schedule was found." : "A better schedule was found.";
      if (found) this.on.onAnswer(answer);
    } catch (error) {
      if (isAbort(error) || this.controller !== controller) return;
      this.stop();
      this.button.disabled = false;
      this.said.textContent = `The search ended: ${error.message}`;
      if (error instanceof GoneError) this.on.onGone(error);
    }
  }

  stop() {
    clearInterval(this.timer);
    this.controller?.abort();
    this.controller = null;
    this.cancel.hidden = true;
    this.bar.hidden = true;
    this.said.textContent = "";
  }
}
