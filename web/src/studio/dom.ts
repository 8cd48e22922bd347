// Elements made of words: nothing is ever read as markup.

export type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  set(made, attributes);
  fill(made, ...children);
  return made;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: (Child | Child[])[]): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(made, attributes);
  fill(made, ...children);
  return made;
}

export function fill(of: Element, ...children: (Child | Child[])[]): void {
  of.replaceChildren(
    ...children.flat().filter((one) => one !== null && one !== undefined && one !== false)
      .map((one) => (one instanceof Node ? one : document.createTextNode(String(one)))),
  );
}

function set(made: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
}

export function say(words: string): void {
  const toast = document.getElementById("toast")!;
  toast.textContent = words;
  toast.classList.toggle("shown", words !== "");
  window.setTimeout(() => { if (toast.textContent === words) toast.classList.remove("shown"); }, 6000);
}

export function number(value: unknown): string {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en-GB");
  return value.toLocaleString("en-GB", { maximumFractionDigits: Math.abs(value) < 0.1 ? 4 : Math.abs(value) < 10 ? 2 : 1 });
}

export const percent = (value: unknown): string => (typeof value === "number" ? `${(100 * value).toFixed(1)}\u00a0%` : "–");

export function area(km2: unknown): string {
  if (typeof km2 !== "number") return "–";
  return km2 < 0.1 ? `${Math.round(km2 * 100) } ha` : `${km2 < 10 ? km2.toFixed(2) : Math.round(km2)} km²`;
}

export function table(caption: string, head: Child[], rows: (Child | Child[])[][]): HTMLElement {
  return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    h("table", {},
      h("caption", {}, caption),
      h("thead", {}, h("tr", {}, head.map((one) => h("th", { scope: "col" }, one)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, place) =>
        place === 0 ? h("th", { scope: "row" }, ...[cell].flat()) : h("td", {}, ...[cell].flat())))))));
}
