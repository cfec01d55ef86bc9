// Boxes that scroll: keys reach them, and an edge that fades shows that there is more.

function lookAt(box) {
  const wide = box.scrollWidth > box.clientWidth + 1;
  const scrolls = wide || box.scrollHeight > box.clientHeight + 1;
  if (scrolls) box.tabIndex = 0;
  else box.removeAttribute("tabindex");
  box.classList.toggle("more", wide && box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
}

function prepareScrolling() {
  const watch = new ResizeObserver((entries) => entries.forEach((entry) => lookAt(entry.target)));
  for (const box of document.querySelectorAll(".table, .drawing")) {
    watch.observe(box); // looks at it once it is laid out, and whenever its size changes
    box.addEventListener("scroll", () => lookAt(box), { passive: true });
  }
}
