// Spots of pictures: the one nearest to the pointer or finger, or reached by Tab and the arrow keys, tells more.

const REACH = 28; // pixels from the pointer

const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
let shown = null; // the spot that the tip belongs to

function hideTip() {
  if (shown) shown.classList.remove("shown");
  shown = null;
  tip.hidden = true;
}

// Beside the spot, on the side with more room, and always on the screen.
function showTip(spot) {
  if (shown !== spot) hideTip();
  shown = spot;
  spot.classList.add("shown");
  tip.textContent = spot.getAttribute("aria-label");
  tip.hidden = false;
  const at = spot.getBoundingClientRect();
  const [x, y] = [(at.left + at.right) / 2, (at.top + at.bottom) / 2];
  const [width, height] = [document.documentElement.clientWidth, window.innerHeight];
  const left = x > width / 2 ? x - tip.offsetWidth - 14 : x + 14;
  const top = y > height / 2 ? y - tip.offsetHeight - 14 : y + 14;
  tip.style.left = Math.max(6, Math.min(left, width - tip.offsetWidth - 6)) + "px";
  tip.style.top = Math.max(6, Math.min(top, height - tip.offsetHeight - 6)) + "px";
}

function nearest(spots, event) {
  let best = null;
  let least = REACH * REACH;
  for (const spot of spots) {
    const at = spot.getBoundingClientRect();
    const across = (at.left + at.right) / 2 - event.clientX;
    const along = (at.top + at.bottom) / 2 - event.clientY;
    const far = across * across + along * along;
    if (far < least) [best, least] = [spot, far];
  }
  return best;
}

function moveFocus(spots, to) {
  for (const spot of spots) spot.tabIndex = -1;
  spots[to].tabIndex = 0;
  spots[to].focus();
}

function keyed(spots, event) {
  const at = spots.indexOf(event.target);
  const last = spots.length - 1;
  const to = {
    ArrowRight: Math.min(at + 1, last), ArrowDown: Math.min(at + 1, last),
    ArrowLeft: Math.max(at - 1, 0), ArrowUp: Math.max(at - 1, 0), Home: 0, End: last,
  }[event.key];
  if (event.key === "Escape") hideTip();
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  moveFocus(spots, to);
}

function makeSpot(item, first) {
  const spot = document.createElement("button");
  spot.type = "button";
  spot.className = "spot";
  spot.style.left = item.dataset.left + "%";
  spot.style.top = item.dataset.top + "%";
  spot.tabIndex = first ? 0 : -1;
  spot.setAttribute("aria-label", item.textContent);
  spot.addEventListener("focus", () => { if (spot.matches(":focus-visible")) showTip(spot); });
  spot.addEventListener("blur", hideTip);
  return spot;
}

function prepareFigure(figure) {
  const canvas = figure.querySelector(".canvas");
  const items = Array.from(figure.querySelectorAll(".spots li[data-left]"));
  if (!items.length) return;
  const group = document.createElement("div");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "points of the picture; arrow keys go from one to the next");
  const spots = items.map((item, at) => makeSpot(item, at === 0));
  group.append(...spots);
  canvas.append(group);
  const follow = (event) => {
    const spot = nearest(spots, event);
    if (spot) showTip(spot);
    else hideTip();
  };
  canvas.addEventListener("pointermove", follow);
  canvas.addEventListener("pointerdown", follow);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hideTip(); });
  group.addEventListener("keydown", (event) => keyed(spots, event));
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
