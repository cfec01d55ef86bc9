// The documentation of the API, drawn from /openapi.json: operations, their bodies, examples that can be tried.
import { rawRequest } from "./api.js";
import { byId, copyText, el, show, table } from "./dom.js";
import { prepareToken } from "./token.js";

const METHODS = ["get", "post", "put", "delete"];
const MOST_LETTERS = 30_000; // of an answer that is shown
const MOST_DEPTH = 6;

let document_ = null; // the OpenAPI document

/** Follow a reference inside the document. */
function resolved(schema) {
  const name = schema?.$ref;
  if (typeof name !== "string" || !name.startsWith("#/")) return schema ?? {};
  return name.slice(2).split("/").reduce((here, key) => here?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], document_) ?? {};
}

function nameOf(schema) {
  return typeof schema?.$ref === "string" ? schema.$ref.split("/").at(-1) : null;
}

/** The type of a value in a few words. */
export function typeText(schema) {
  if (!schema || Object.keys(schema).length === 0) return "anything";
  if (schema.$ref) return nameOf(schema);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(" or ");
  const several = schema.anyOf ?? schema.oneOf;
  if (several) return [...new Set(several.map(typeText))].join(" or ");
  if (schema.type === "array") return `list of ${typeText(schema.items)}`;
  if (schema.type === "object" && schema.additionalProperties && typeof schema.additionalProperties === "object") {
    return `object of ${typeText(schema.additionalProperties)}`;
  }
  const range = [schema.minimum !== undefined ? `from ${schema.minimum}` : "", schema.exclusiveMinimum !== undefined ? `above ${schema.exclusiveMinimum}` : "",
    schema.maximum !== undefined ? `to ${schema.maximum}` : ""].filter(Boolean).join(" ");
  return `${[schema.type ?? "object"].flat().join(" or ")}${range ? " " + range : ""}`;
}

function propertyTable(schema, caption) {
  const needed = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([name, each]) => [
    name, typeText(each), needed.has(name) ? "yes" : each.default === undefined || each.default === null ? "" : `default ${JSON.stringify(each.default)}`,
    each.description ?? resolved(each).description ?? ""]);
  return rows.length ? table({ caption, heads: ["key", "value", "needed", "meaning"], rows, className: "schema" }) : null;
}

// The schemas that a schema names, each once.
function parts(schema, seen = new Set(), depth = 0) {
  if (!schema || typeof schema !== "object" || depth > MOST_DEPTH) return seen;
  if (schema.$ref) {
    if (seen.has(schema.$ref)) return seen;
    seen.add(schema.$ref);
    return parts(resolved(schema), seen, depth + 1);
  }
  for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties]) {
    parts(inner, seen, depth + 1);
  }
  return seen;
}

function bodyOf(operation) {
  const schema = operation.requestBody?.content?.["application/json"]?.schema;
  if (!schema) return null;
  const names = [...parts(schema)];
  const tables = names.map((ref) => propertyTable(resolved({ $ref: ref }), ref.split("/").at(-1))).filter(Boolean);
  const own = propertyTable(schema, "body");
  return el("details", { class: "data" }, el("summary", {}, `Body: ${typeText(schema)}`), own, tables);
}

function examplesOf(operation) {
  const content = operation.requestBody?.content?.["application/json"] ?? {};
  const several = Object.values(content.examples ?? {}).map((each) => each.value);
  return several.length ? several : content.example !== undefined ? [content.example] : [];
}

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

/** The command that sends a request. */
export function curl(method, path, body, origin) {
  const words = ["curl -s", method === "GET" || method === "POST" ? "" : `-X ${method}`, quoted(origin + path)];
  if (body !== null) words.push("-H 'Content-Type: application/json'", `-d ${quoted(body)}`);
  return words.filter(Boolean).join(" ");
}

function isStream(operation) {
  return Object.values(operation.responses ?? {}).some((each) => each.content?.["text/event-stream"]);
}

function trial(method, path, operation, id) {
  const [example] = examplesOf(operation);
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const hasBody = method === "POST";
  const inputs = names.map((name) => el("input", { type: "text", id: `${id}-${name}`, autocomplete: "off" }));
  const body = hasBody ? el("textarea", { id: `${id}-body`, rows: 10, spellcheck: "false", wrap: "off" }) : null;
  if (body) body.value = JSON.stringify(example ?? {}, null, 2);
  const said = el("p", { class: "note", role: "status" });
  const answer = el("pre", { class: "answered", hidden: true, tabindex: "0", "aria-label": "Answer" });
  const address = () => names.reduce((made, name, place) => made.replace(`{${name}}`, encodeURIComponent(inputs[place].value || name)), path);
  const copy = el("button", { type: "button", onclick: async () => {
    const compact = body ? body.value.trim() : null;
    said.textContent = await copyText(curl(method, address(), compact, location.origin)) ? "The command is copied." : "The browser does not allow copying.";
  } }, "Copy as curl");
  const send = el("button", { type: "button", onclick: async () => {
    send.disabled = true;
    said.textContent = "Asking \u2026";
    const began = performance.now();
    try {
      const options = hasBody ? { method, body: body.value, headers: { "Content-Type": "application/json" } } : { method };
      const response = await rawRequest(address(), options);
      const text = await response.text();
      said.textContent = `${response.status} ${response.statusText} in ${Math.round(performance.now() - began)} ms, ${text.length.toLocaleString("en-US")} letters`;
      answer.textContent = shortened(text);
      answer.hidden = false;
    } catch (error) {
      said.textContent = error.message;
    } finally {
      send.disabled = false;
    }
  } }, "Try");
  return el("div", { class: "trial" },
    names.map((name, place) => el("div", { class: "row" }, el("label", { for: `${id}-${name}` }, name), inputs[place])),
    body ? [el("label", { for: `${id}-body` }, "Example"), body] : null,
    el("div", { class: "row" }, isStream(operation) ? null : send, copy), said, answer);
}

function shortened(text) {
  let pretty = text;
  try {
    pretty = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // It is no JSON, e.g. a report page: shown as it is.
  }
  return pretty.length > MOST_LETTERS ? pretty.slice(0, MOST_LETTERS) + "\n\u2026" : pretty;
}

function answersOf(operation) {
  const rows = Object.entries(operation.responses ?? {}).map(([status, each]) => [status, each.description ?? ""]);
  return rows.length ? el("details", { class: "data" }, el("summary", {}, "Answers"),
    table({ caption: "Statuses", heads: ["status", "meaning"], rows, className: "schema", hidden: true })) : null;
}

function draw(openapi) {
  document_ = openapi;
  byId("version").textContent = `${openapi.info.title} ${openapi.info.version}`;
  byId("about").textContent = openapi.info.description ?? "";
  const operations = Object.entries(openapi.paths).flatMap(([path, item]) => METHODS.filter((method) => item[method])
    .map((method) => ({ path, method: method.toUpperCase(), operation: { ...item[method], parameters: [...(item.parameters ?? []), ...(item[method].parameters ?? [])] } })));
  const idOf = ({ method, path }) => `${method}${path}`.replaceAll(/[^A-Za-z0-9]+/g, "-").toLowerCase();
  show(byId("contents"), operations.map((each) => el("li", {}, el("a", { href: "#" + idOf(each) }, `${each.method} ${each.path}`))));
  show(byId("operations"), operations.map((each) => {
    const { method, path, operation } = each;
    const headers = operation.parameters.filter((one) => one.in !== "path");
    return el("section", { id: idOf(each), "aria-label": `${method} ${path}` },
      el("h2", {}, el("span", { class: "method" }, method), " ", path),
      operation.summary ? el("p", {}, operation.summary) : null,
      operation.description ? el("p", { class: "note" }, operation.description) : null,
      headers.map((one) => el("p", { class: "note" }, `${one.in} ${one.name}: ${one.description ?? ""}`)),
      bodyOf(operation), answersOf(operation), trial(method, path, operation, idOf(each)));
  }));
}

async function start() {
  try {
    const response = await rawRequest("/openapi.json", {});
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    draw(await response.json());
  } catch (error) {
    show(byId("banner"), el("div", { class: "message urgent" }, el("div", {}, error.message), el("button", { type: "button", onclick: start }, "Try again")));
  }
}

prepareToken();
start();
