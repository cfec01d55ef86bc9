// Calls of the server: the token, waiting where the server is busy, jobs that take longer, and one error class.

const TOKEN_KEY = "lpsched-token"; // of sessionStorage: it is gone with the tab, and never in an address
const MOST_WAIT = 30; // seconds that Retry-After may ask for
const POLL_MS = 400;

/** @typedef {{where: string, found: string, needed: string, do: string}} Issue */

/** An answer of the server that is an error, with its code, message and issues. */
export class ServerError extends Error {
  constructor(error, status) {
    super(error.message || "the server gave no reason");
    this.code = error.code ?? "internal";
    const found = error.faults;
    /** @type {Issue[]} */
    this.issues = Array.isArray(found) ? found : [];
    this.status = status;
  }
}

/** The server does not answer at all. */
export class GoneError extends Error {
  constructor() {
    super("The server does not answer.");
    this.code = "gone";
  }
}

export function isAbort(error) {
  return error?.name === "AbortError";
}

let askForToken = null; // set by the page: (isWrong) => Promise<string>
let asking = null; // one dialog for all calls that wait for it

export function onToken(ask) {
  askForToken = ask;
}

function token() {
  try {
    return sessionStorage.getItem(TOKEN_KEY);
  } catch {
    return null; // storage may be switched off
  }
}

function keepToken(given) {
  try {
    sessionStorage.setItem(TOKEN_KEY, given);
  } catch {
    // Then the box comes again after a reload.
  }
}

async function newToken(used) {
  if (token() !== used && token() !== null) return; // another call has asked meanwhile
  asking ??= askForToken(used !== null).then(keepToken).finally(() => { asking = null; });
  await asking;
}

function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new DOMException("stopped", "AbortError"));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
  });
}

async function send(path, options, signal) {
  const used = token();
  const headers = { Accept: "application/json", ...options.headers };
  if (used !== null) headers.Authorization = "Bearer " + used;
  let response;
  try {
    response = await fetch(path, { ...options, headers, signal, cache: "no-store", credentials: "omit" });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new GoneError();
  }
  if (response.status === 401 && askForToken) {
    await newToken(used);
    return send(path, options, signal);
  }
  return response;
}

/** A request as it is: errors of the server are answers too. @returns {Promise<Response>} */
export function rawRequest(path, options, signal = undefined) {
  return send(path, options, signal);
}

async function errorOf(response) {
  try {
    const content = await response.json();
    if (content.error) return new ServerError(content.error, response.status);
  } catch {
    // No error object: a proxy may have answered.
  }
  return new ServerError({ code: "internal", message: "the server answered " + response.status }, response.status);
}

/**
 * Send a request; where the server is busy (429, 503) wait as long as it asks for, and try once more.
 * @returns {Promise<Response>} an answer that is no error
 */
async function call(path, options = {}, signal = undefined) {
  let response = await send(path, options, signal);
  if (response.status === 429 || response.status === 503) {
    const seconds = Number(response.headers.get("Retry-After") ?? 1);
    await sleep(1000 * Math.min(MOST_WAIT, Math.max(0.1, seconds || 1)), signal);
    response = await send(path, options, signal);
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

// A job that the server goes on with: ask until it ends; if the caller stops waiting, stop the job.
async function jobEnd(job, signal, onProgress) {
  const path = "/v1/jobs/" + encodeURIComponent(job.id);
  let now = job;
  try {
    while (now.state === "queued" || now.state === "running") {
      onProgress?.(now);
      await sleep(POLL_MS, signal);
      now = await (await call(path, {}, signal)).json();
    }
  } catch (error) {
    if (isAbort(error)) send(path, { method: "DELETE" }).catch(() => {});
    throw error;
  }
  if (now.state !== "done") throw new ServerError(now.error ?? { code: now.state, message: "the job was " + now.state }, 500);
  return call(path + "/answer", {}, signal);
}

/** @returns {Promise<any>} */
export async function get(path, signal = undefined) {
  return (await call(path, {}, signal)).json();
}

async function post(path, body, type, signal, onProgress) {
  const response = await call(path, { method: "POST", headers: { "Content-Type": type }, body }, signal);
  if (response.status !== 202) return response;
  return jobEnd(await response.json(), signal, onProgress);
}

/**
 * @param {string} path
 * @param {object|string} body a text is sent as it is: many calls of one document write it once
 * @param {{signal?: AbortSignal, onProgress?: (job: object) => void}} how
 * @returns {Promise<any>}
 */
export async function postJson(path, body, { signal, onProgress } = {}) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return (await post(path, text, "application/json", signal, onProgress)).json();
}

/** The answer as a file. @returns {Promise<Blob>} */
export async function postForFile(path, body, { signal } = {}) {
  return (await post(path, JSON.stringify(body), "application/json", signal)).blob();
}

/** Check a document that is text (YAML; JSON is YAML too). @returns {Promise<any>} */
export async function checkText(text, { signal } = {}) {
  return (await post("/v1/convert", text, "application/yaml", signal)).json();
}
