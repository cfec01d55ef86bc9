// Links: the workload, what was changed, the objective and the pinned scenario, all in the fragment of the address.
// Browsers do not send fragments, so a link does not show the document to the server's log.

export const MOST_LETTERS = 30_000; // longer addresses are cut by mail programs and chats
const MOST_BYTES = 8_000_000; // unpacked: a short fragment must not unpack to more than memory holds
const KEY = "s=";
const OBJECTIVES = [null, "profit", "makespan", "energy"];
const EFFORTS = ["fast", "auto"];

class LinkError extends Error {}

/** @typedef {{workload: string} | {example: string} | {document: object}} Base */
/** @typedef {{base: Base, changes: any[], objective: string|null, hash?: string, effort?: string}} Scenario  hash: of the document that base names */

/**
 * A number of 64 bits, in hex, that changes with the document. It finds changes and is no protection against
 * forgery: browsers have no cryptography on pages of plain http.
 */
export function hashOf(document) {
  let [one, two] = [0x811c9dc5, 0x41c6ce57];
  for (const byte of new TextEncoder().encode(JSON.stringify(document))) {
    one = Math.imul(one ^ byte, 0x01000193);
    two = Math.imul(two ^ byte, 0x5f356495);
    two ^= two >>> 15;
  }
  return [one, two].map((each) => (each >>> 0).toString(16).padStart(8, "0")).join("");
}

function toBase64Url(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function fromBase64Url(text) {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new LinkError("it has letters that no link has");
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

async function readAll(stream, most) {
  const parts = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new LinkError("it unpacks to too much");
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function through(bytes, transform, most) {
  return readAll(new Blob([bytes]).stream().pipeThrough(transform), most);
}

/**
 * The fragment of a link, without "#"; null if it would be too long to send.
 * @param {{now: Scenario, pin: Scenario|null}} shared
 * @returns {Promise<string|null>}
 */
export async function encoded({ now, pin }) {
  const isSame = pin && JSON.stringify(pin.base) === JSON.stringify(now.base);
  const content = { v: 1, now, ...(pin ? { pin: isSame ? { ...pin, base: "same" } : pin } : {}) };
  const bytes = new TextEncoder().encode(JSON.stringify(content));
  const text = KEY + toBase64Url(await through(bytes, new CompressionStream("deflate-raw"), Infinity));
  return text.length > MOST_LETTERS ? null : text;
}

function baseOf(base) {
  const [kind, ...more] = base !== null && typeof base === "object" ? Object.keys(base) : [];
  const isName = (kind === "workload" || kind === "example") && typeof base[kind] === "string" && base[kind].length <= 300;
  const isDocument = kind === "document" && base.document !== null && typeof base.document === "object";
  if (more.length || !(isName || isDocument)) throw new LinkError("it names no workload");
  return base;
}

function scenarioOf(content, sameBase) {
  if (content === null || typeof content !== "object" || !Array.isArray(content.changes)) throw new LinkError("it has no changes");
  const objective = content.objective ?? null;
  if (!OBJECTIVES.includes(objective)) throw new LinkError("it has an unknown objective");
  const { hash, effort } = content;
  if (hash !== undefined && !/^[0-9a-f]{16}$/.test(hash)) throw new LinkError("it has a damaged hash");
  if (effort !== undefined && !EFFORTS.includes(effort)) throw new LinkError("it has an unknown effort");
  return { base: content.base === "same" && sameBase ? sameBase : baseOf(content.base), changes: content.changes, objective,
    ...(hash === undefined ? {} : { hash }), ...(effort === undefined ? {} : { effort }) };
}

/**
 * What a fragment holds; null if it is none of ours.
 * @param {string} fragment with or without "#"
 * @returns {Promise<{now: Scenario, pin: Scenario|null}|null>}
 * @throws {Error} with a sentence for people, if it is damaged
 */
export async function decoded(fragment) {
  const text = fragment.replace(/^#/, "");
  if (!text.startsWith(KEY)) return null;
  try {
    const packed = fromBase64Url(text.slice(KEY.length));
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), MOST_BYTES);
    const content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (content === null || typeof content !== "object" || content.v !== 1) throw new LinkError("it is of another version");
    const now = scenarioOf(content.now, null);
    return { now, pin: content.pin ? scenarioOf(content.pin, now.base) : null };
  } catch (error) {
    const reason = error instanceof LinkError ? error.message : "part of it is missing or changed";
    throw new Error("This link cannot be read: " + reason + ". Ask for it again, or for the YAML file.");
  }
}
