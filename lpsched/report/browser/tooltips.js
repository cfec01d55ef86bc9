// Tooltips of figures: of the point nearest to the pointer or finger, or reached by Tab and the arrow keys.

const REACH = 28; // pixels from the pointer

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
let shown = null; // the point that the tip belongs to

function hideTip() {
  if (shown) shown.classList.remove("shown");
  shown = null;
  tip.hidden = true;
}

// Beside the point, on the side with more room, and always on the screen.
function showTip(point) {
  if (shown !== point) hideTip();
  shown = point;
  point.classList.add("shown");
  tip.textContent = point.getAttribute("aria-label");
  tip.hidden = false;
  const at = point.getBoundingClientRect();
  const [x, y] = [(at.left + at.right) / 2, (at.top + at.bottom) / 2];
  const [width, height] = [document.documentElement.clientWidth, window.innerHeight];
  const left = x > width / 2 ? x - tip.offsetWidth - 14 : x + 14;
  const top = y > height / 2 ? y - tip.offsetHeight - 14 : y + 14;
  tip.style.left = Math.max(6, Math.min(left, width - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.max(6, Math.min(top, height - tip.offsetHeight - 6)) + "px";
}

function nearest(points, event) {
  let best = null;
  let least = REACH * REACH;
  for (const point of points) {
    const at = point.getBoundingClientRect();
    const across = (at.left + at.right) / 2 - event.clientX;
    const along = (at.top + at.bottom) / 2 - event.clientY;
    const far = across * across + along * along;
    if (far < least) [best, least] = [point, far];
  }
  return best;
}

function moveFocus(points, to) {
  for (const point of points) point.tabIndex = -1;
  points[to].tabIndex = 0;
  points[to].focus();
}

function keyed(points, event) {
  const at = points.indexOf(event.target);
  const last = points.length - 1;
  const to = {
    ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last),
    ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last,
  }[event.key];
  if (event.key === "Escape") hideTip();
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  moveFocus(points, to);
}

function makePoint(item, first) {
  const point = document.createElement("button");
  point.type = "button";
  point.className = "point";
  point.style.left = item.dataset.left + "%";
  point.style.top = item.dataset.top + "%";
  point.tabIndex = first ? 0 : -1;
  point.setAttribute("aria-label", item.textContent);
  point.addEventListener("focus", () => { if (point.matches(":focus-visible")) showTip(point); });
  point.addEventListener("blur", hideTip);
  return point;
}

function prepareFigure(figure) {
  const canvas = figure.querySelector(".canvas");
  const items = Array.from(figure.querySelectorAll(".tooltips li[data-left]"));
  if (!items.length) return;
  const group = document.createElement("div");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "points of the figure; arrow keys go from one to the next");
  const points = items.map((item, at) => makePoint(item, at === 0));
  group.append(...points);
  canvas.append(group);
  const follow = (event) => {
    const point = nearest(points, event);
    if (point) showTip(point);
    else hideTip();
  };
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("pointerdown", follow);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hideTip(); });
  group.addEventListener("keydown", (event) => keyed(points, event));
}

function prepareFigures() {
  document.body.append(tip);
  for (const figure of document.querySelectorAll("figure")) prepareFigure(figure);
  document.addEventListener("pointerdown", (event) => { if (!event.target.closest(".canvas")) hideTip(); });
  document.addEventListener("scroll", () => {
    if (shown && document.activeElement === shown) showTip(shown);
    else hideTip();
  }, { capture: true, passive: true });
}
