// Everything is there before this runs: the script is the last thing in the page.

// No line ends between a number and its percent sign.
for (const sentences of document.querySelectorAll("p, figcaption")) {
  for (const node of sentences.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) node.data = node.data.replaceAll(" %", "\u00a0%");
  }
}

prepareTables();
prepareScrolling();
prepareFigures();
prepareSliders();
document.documentElement.classList.add("ready");
