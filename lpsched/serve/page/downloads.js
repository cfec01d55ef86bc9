// Files of the present answer, for checking it with the command line.
import { isAbort, postForFile, postJson } from "./api.js";
import { el } from "./dom.js";

/** Let the browser save a file. */
export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // the browser reads it after the click
}

/** What each button makes: its name, and a function of the document and the options of the answer. */
export const FILES = {
  yaml: { name: "workload.yaml", make: async (bag) => new Blob([(await postJson("/v1/convert", bag)).yaml], { type: "application/yaml" }) },
  schedule: { name: "plan.json", make: (bag, options) => postForFile("/v1/schedule", { bag, ...options }) },
  certificate: { name: "proof.json", make: (bag, { objective, effort }) => postForFile("/v1/certify", { bag, objective, effort }) },
  report: { name: "report.html", make: (bag, options) => postForFile("/v1/report", { bag, ...options }) },
};

/**
 * @param {HTMLElement} root with buttons data-file
 * @param {() => {bag: any, options: {objective: string, effort: string}|null}} current without options where there is no answer
 */
export function prepareDownloads(root, current) {
  const said = root.querySelector("[data-said]");
  for (const button of root.querySelectorAll("[data-file]")) {
    button.addEventListener("click", async () => {
      const asked = current();
      if (!asked.bag || (!asked.options && button.dataset.file !== "yaml")) {
        said.textContent = "There is no answer to download.";
        return;
      }
      const { name, make } = FILES[button.dataset.file];
      button.disabled = true;
      said.textContent = `Making ${name} \u2026`;
      try {
        save(await make(asked.bag, asked.options), name);
        said.textContent = `${name} was saved.`;
      } catch (error) {
        if (!isAbort(error)) said.textContent = `${name} was not made: ${error.message}`;
      } finally {
        button.disabled = false;
      }
    });
  }
}
