// Building elements. Data reach the page as text only: there is no innerHTML in these files.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** @param {string} tag @param {Object<string, any>} attributes "onclick" and the like add a listener */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

/** A cell: its text, or its text and more ({text, share: 0..1 for heat, className}). */
function cell(content, tag, attributes = {}) {
  const given = content !== null && typeof content === "object" && !(content instanceof Node) ? content : { text: content };
  const node = el(tag, { ...attributes, class: given.className }, given.text ?? "");
  if (given.share !== undefined) node.style.setProperty("--share", String(given.share));
  return node;
}

/**
 * A table with a caption, a header row and row headers, that scrolls within itself.
 * @param {{caption: string, heads: string[], rows: any[][], foot?: any[][], className?: string, hidden?: boolean}} about
 */
export function table({ caption, heads, rows, foot = [], className = "numbers", hidden = false }) {
  const line = (cells) => el("tr", {}, cells.map((each, place) => (
    place === 0 ? cell(each, "th", { scope: "row" }) : cell(each, "td"))));
  const made = el("table", { class: className },
    el("caption", hidden ? { class: "unseen" } : {}, caption),
    el("thead", {}, el("tr", {}, heads.map((head, place) => (
      head === "" ? el("td", {}) : el("th", { scope: "col", class: place ? null : "first" }, head))))),
    el("tbody", {}, rows.map(line)),
    foot.length ? el("tfoot", {}, foot.map(line)) : null);
  // A region that scrolls must be reachable by keyboard, and what is reachable needs a name.
  return el("div", { class: "table", role: "group", "aria-label": caption, tabindex: "0" }, made);
}

/** Replace what a section shows, only where it is there. */
export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

/** Copy text; where the clipboard is not allowed (plain http from another host), by a selection. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = el("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
    box.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(box);
    box.select();
    const copied = document.execCommand("copy");
    box.remove();
    return copied;
  }
}
