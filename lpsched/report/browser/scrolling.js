// Boxes that scroll: keys reach them, and edges that fade show that there is more. Figures that are too small to read on
// a phone have a button that enlarges them.

function lookAt(box) {
  const wide = box.scrollWidth > box.clientWidth + 1;
  const high = box.scrollHeight > box.clientHeight + 1;
  if (wide || high) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  box.classList.toggle("more", wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  box.classList.toggle("below", high && box.scrollTop + box.clientHeight < box.scrollHeight - 2);
}

function prepareScrolling() {
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => lookAt(entry.target)));
  for (const box of document.querySelectorAll(".table, .drawing")) {
    watch.observe(box); // looks at it once it is laid out, and whenever its size changes
    box.addEventListener("scroll", () => lookAt(box), { passive: true });
  }
  for (const box of document.querySelectorAll(".drawing")) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Enlarge" });
    button.className = "enlarges";
    button.addEventListener("click", () => {
      button.textContent = box.classList.toggle("large") ? "Fit to the screen" : "Enlarge";
      lookAt(box);
    });
    box.after(button);
  }
}
