// The choice of the loss that the plots show, and the table's order.

const losses = document.querySelector<HTMLElement>(".choice");
const plots = document.querySelectorAll<HTMLElement>(".loss");

function showLoss(choice: HTMLElement, key: string | undefined): void {
  for (const button of choice.querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.loss === key));
  }
  for (const plot of plots) plot.hidden = plot.dataset.loss !== key;
}

if (losses) {
  const drawn = new Set([...plots].map((plot) => plot.dataset.loss));
  for (const button of losses.querySelectorAll("button")) {
    button.disabled = !drawn.has(button.dataset.loss);
    button.addEventListener("click", () => showLoss(losses, button.dataset.loss));
  }
  losses.hidden = false;
  showLoss(losses, [...drawn][0]);
}

function compareCells(a: string, b: string): number {
  // Cells without a value stay at the end, whichever way the table is sorted.
  if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
  const [x, y] = [Number(a), Number(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}

function sortBy(heading: HTMLTableCellElement): void {
  const falling = heading.getAttribute("aria-sort") === "ascending";
  const body = heading.closest("table")!.tBodies[0];
  const place = heading.cellIndex;
  const value = (row: HTMLTableRowElement): string => row.cells[place].dataset.value ?? "";
  const rows = [...body.rows].sort((a, b) => {
    const order = compareCells(value(a), value(b));
    return falling && value(a) !== "" && value(b) !== "" ? -order : order;
  });
  for (const other of (heading.parentElement as HTMLTableRowElement).cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
  body.append(...rows);
}

for (const button of document.querySelectorAll("thead button")) {
  button.addEventListener("click", () => sortBy(button.parentElement as HTMLTableCellElement));
}
