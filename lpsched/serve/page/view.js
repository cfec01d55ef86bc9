// The sections of the page, drawn from its state.
import { drawAllocation, drawComparison, drawHeadline, drawMarginals, drawMoney } from "./answers.js";
import { currencyOf, differences, objectiveOf, totalPrice, whyNot } from "./document.js";
import { byId, el, show } from "./dom.js";
import { drawFront, drawPrice, missing } from "./figures.js";
import { roundedDown, ROUNDING } from "./numbers.js";
import { answerOf, documentOf, noCurve, noFront, solved, solveOf, state } from "./state.js";
import { counted } from "./texts.js";

export function draw() {
  drawAnswer();
  drawFrontFigure();
  drawPriceFigure();
}

export function drawAnswer() {
  const { error } = state.shown.solve;
  const pin = state.pin?.answers.solve ?? null;
  if (error) {
    drawNoAnswer(error);
    return;
  }
  const answer = solved();
  const shownDocument = documentOf("solve");
  byId("answer").classList.toggle("idle", answer.regime === "do-not-run" || answer.regime === "loss");
  byId("answer").classList.remove("none");
  drawHeadline(byId("answer"), answer, { pue: shownDocument.site?.pue ?? 1, extra: priceNotes(answer) });
  drawComparison(byId("comparison"), answer, pin);
  drawMoney(byId("money"), answer, pin, whyNot(shownDocument, "profit"));
  drawMarginals(byId("marginals"), answer, pin, shownDocument);
  drawAllocation(byId("allocation"), answer, shownDocument);
  byId("made").textContent = `lpsched ${answer.lpsched}, ${answer.solver}.`;
  byId("harder").disabled = state.harder !== null || (answer.gap !== null && answer.gap <= ROUNDING);
  showCommand(true);
  byId("again").textContent = `lpsched solve workload.yaml --objective ${answer.objective} --effort ${answer.effort}`;
}

// The command that gives the same answer, where there is one.
function showCommand(isThere) {
  for (const each of document.querySelectorAll("#files [data-answer]")) each.hidden = !isThere;
}

function priceNotes(answer) {
  const curve = state.shown.price?.version === state.shown.solve.version ? answerOf("price") : null;
  if (!curve || answer.objective !== "profit" || answer.regime === "profit") return [];
  const currency = currencyOf(state.document);
  const notes = [];
  if (answer.regime === "do-not-run" && curve.least_price_to_run !== null) {
    notes.push(`Best not to run up to ${roundedDown(curve.least_price_to_run)} ${currency} per bag (proved).`);
  }
  if (curve.break_even_price !== null) notes.push(`No schedule breaks even below ${roundedDown(curve.break_even_price)} ${currency} per bag (proved).`);
  return notes;
}

function drawNoAnswer(error) {
  const section = byId("answer");
  section.classList.add("none");
  const text = error.code === "infeasible" ? "No schedule is possible" : "No schedule was found";
  show(byId("headline"), el("span", { class: "value" }, el("strong", {}, text), `: ${error.message}.`));
  show(section.querySelector(".notes"));
  show(section.querySelector(".facts"));
  missing(byId("comparison"), `${text}, so there is nothing to compare.`);
  for (const id of ["money", "marginals", "allocation"]) missing(byId(id), `${text}, so there is nothing to show here.`);
  showCommand(false);
  byId("harder").disabled = true;
}

export function drawFrontFigure() {
  if (!state.shown.front) return;
  const { answer, error } = state.shown.front;
  const pin = state.pin?.answers;
  if (answer) drawFront(byId("front-figure"), { front: answer, solve: solveOf("front") }, pin?.front ? pin : null);
  else missing(byId("front-figure"), error ? sentenceOf("No front", error) : noFront(state.document) ?? "");
}

export function drawPriceFigure() {
  if (!state.shown.price) return;
  const { answer, error } = state.shown.price;
  const pin = state.pin;
  if (answer) {
    drawPrice(byId("price-figure"), { curve: answer, price: totalPrice(documentOf("price")), solve: solveOf("price") },
      pin?.answers.price ? { curve: pin.answers.price, price: totalPrice(pin.document), solve: pin.answers.solve } : null);
  } else missing(byId("price-figure"), error ? sentenceOf("No price curve", error) : noCurve(state.document) ?? "");
}

function sentenceOf(what, error) {
  return `${what}: ${error.message}.`.replace(/\.\.$/, ".");
}

export function drawObjective() {
  const objective = objectiveOf(state.document, state.chosen);
  const reasons = [];
  for (const radio of byId("objective").querySelectorAll("input")) {
    const reason = whyNot(state.document, radio.value);
    radio.checked = radio.value === objective;
    radio.disabled = reason !== null;
    if (reason) reasons.push(reason);
  }
  byId("objective-note").textContent = reasons.join(" ");
}

export function drawTitle() {
  const changes = differences(state.opened.document, state.document).length;
  byId("title").textContent = state.document.name;
  document.title = `${state.document.name} - lpsched`;
  const { base } = state.opened;
  const from = "workload" in base ? "workload of this server" : "example" in base ? "example" : "your document";
  byId("subtitle").textContent = changes ? `${from}, ${counted(changes, "change")}` : from;
  byId("reset").disabled = changes === 0;
}

export function drawPin() {
  const { pin } = state;
  byId("pin").textContent = pin ? "Unpin" : "Pin this scenario";
  byId("compared").hidden = !pin;
  byId("pinned-note").textContent = pin ? `Pinned: ${pin.title}${pin.changes.length ? ` with ${counted(pin.changes.length, "change")}` : ", as opened"}. Differences are now minus pinned.` : "";
  if (state.shown.solve) draw();
}

// The answer of another workload must not stand under this name.
export function clearAnswer() {
  state.shown = {};
  state.late = [];
  state.harder = null;
  show(byId("headline"), "Solving \u2026");
  show(document.querySelector("#answer .notes"));
  show(document.querySelector("#answer .facts"));
  for (const id of ["comparison", "money", "marginals", "allocation"]) show(byId(id));
  for (const id of ["front-figure", "price-figure"]) missing(byId(id), "Solving \u2026");
  showCommand(false);
  byId("harder").disabled = true;
  byId("pin").disabled = !state.pin;
}
