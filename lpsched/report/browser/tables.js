// Tables sort by a click on a header or Enter on it, and copy as tab-separated text.

const COLLATOR = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
const NUMBER = /^[-+\u2212]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?(?=$|[\s%°])/i;

function textOf(cell) {
  return cell.textContent.replace(/\u00a0/g, " ").trim();
}

// A number, "and up" as more than any number, or null: nothing to compare.
function sizeOf(text) {
  const found = NUMBER.exec(text);
  if (found) return Number(found[0].replace(/,/g, "").replace("\u2212", "-"));
  return text === "and up" ? Infinity : null;
}

function isMissing(text) {
  return text === "" || text === "-";
}

// Numbers by size, then words by their letters; what is missing stays last in both directions.
function compareCells(left, right, direction) {
  if (isMissing(left) || isMissing(right)) return Number(isMissing(left)) - Number(isMissing(right));
  const [a, b] = [sizeOf(left), sizeOf(right)];
  if (a !== null && b !== null && a !== b) return direction * (a < b ? -1 : 1);
  if ((a === null) !== (b === null)) return a === null ? 1 : -1;
  return direction * COLLATOR.compare(left, right);
}

function sortTable(table) {
  const body = table.tBodies[0];
  const { column, direction } = table.sorting;
  const rows = table.rowsAsGiven.slice();
  if (direction !== 0) {
    rows.sort((one, other) => compareCells(textOf(one.cells[column]), textOf(other.cells[column]), direction));
  }
  body.append(...rows);
  Array.from(table.tHead.rows[0].cells).forEach((header, at) => {
    const here = at === column ? direction : 0;
    header.setAttribute("aria-sort", here === 1 ? "ascending" : here === -1 ? "descending" : "none");
  });
}

// Rising, falling, as given, and again.
function sortNext(table, column) {
  const before = table.sorting.column === column ? table.sorting.direction : 0;
  table.sorting = { column, direction: before === 0 ? 1 : before === 1 ? -1 : 0 };
  sortTable(table);
}

function makeSortable(table) {
  table.rowsAsGiven = Array.from(table.tBodies[0].rows);
  table.sorting = { column: 0, direction: 0 };
  Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
    const button = document.createElement("span"); // Chromium prints no <button> of a header that it repeats
    button.setAttribute("role", "button");
    button.tabIndex = 0;
    button.className = "sorts";
    button.append(...header.childNodes);
    if (!textOf(button)) button.setAttribute("aria-label", "column " + (column + 1));
    header.append(button);
    header.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sortNext(table, column));
    button.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sortNext(table, column);
    });
  });
}

function tabSeparated(table) {
  return Array.from(table.rows, (row) =>
    Array.from(row.cells, (cell) => textOf(cell).replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n") + "\n";
}

// Where a page from disk may not use the clipboard: select the text in a field and copy that.
function copyBySelection(text) {
  const focused = document.activeElement;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "unseen";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (focused) focused.focus();
  return done;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function makeCopyable(box, table) {
  const tools = document.createElement("div");
  tools.className = "tools";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copies";
  button.textContent = "Copy table";
  button.addEventListener("click", async () => {
    said.textContent = (await copy(tabSeparated(table))) ? "copied" : "the browser does not allow it: select and copy";
    setTimeout(() => { said.textContent = ""; }, 4000);
  });
  tools.append(said, button);
  box.before(tools);
}

function prepareTables() {
  for (const box of document.querySelectorAll(".table")) {
    const table = box.querySelector("table");
    if (table.tHead && table.tBodies[0].rows.length > 1) makeSortable(table);
    makeCopyable(box, table);
  }
}
