// The words beside the maps: tooltip, selection, tables. Text is always set as text, never as markup.

import { type Flows } from "./flows";
import { AXES, type Axis, type Chosen, MEASURES, type Measure, type OfAxes, type Volume, other } from "./payload";
import { areaFigure, figure } from "./scale";
import { type Zones } from "./zones";

// What the side tells of: a release, or one period of it.
export interface Shown {
  zones: OfAxes<Zones>;
  flows: Flows;
  volume: Volume;
  within: boolean;
  flowsOf(zone: Chosen): Int32Array;
}

export type Row = [string, string];

export const TOP = 10;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag, attributes: Record<string, string | number> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

// "12 trips", "11 travellers", but "population 13.5".
export function amount(value: number | null, measure: Measure): string {
  return measure === "population" ? `population ${figure(value)}` : `${figure(value)} ${measure}`;
}

export function capital(word: string): string {
  return word[0].toUpperCase() + word.slice(1);
}

export class Side {
  root: HTMLElement;
  release: Shown;
  select: (zone: Chosen) => void;
  clear: () => void;
  glance: (zone: Chosen | null) => void;

  constructor(
    root: HTMLElement, release: Shown, select: (zone: Chosen) => void, clear: () => void, glance: (zone: Chosen | null) => void,
  ) {
    this.root = root;
    this.release = release;
    this.select = select;
    this.clear = clear;
    this.glance = glance;
  }

  // [label, text] for everything the release says about a zone.
  zoneRows(axis: Axis, i: number): Row[] {
    const { table } = this.release.zones[axis];
    const rows = MEASURES.filter((name) => table[name]).map((name): Row => [capital(name), figure(table[name]![i])]);
    rows.push(["Flows", figure(this.release.flows.degree(axis, i))]);
    rows.push(["Tiles", figure(table.tiles[i])], ["Area", areaFigure(table.area_km2[i])]);
    // Boxes are no levels of a tree: all of them have the height 0.
    if (table.height.some((height) => height > 0)) rows.push(["Height", figure(table.height[i])]);
    return rows;
  }

  flowWords(flow: number): string {
    const { table } = this.release.flows;
    return MEASURES.filter((name) => table[name] && table[name][flow] !== null)
      .map((name) => amount(table[name]![flow], name))
      .join(", ");
  }

  // What a zone is to the selected one: text, or null where that says nothing.
  relation(axis: Axis, i: number, selected: Chosen | null): Row | null {
    if (!selected || selected.axis === axis) return null;
    const flow = this.release.flows.between(selected, i);
    const way = axis === "destination" ? "from" : "to";
    const words = flow < 0 ? "no released flow" : this.flowWords(flow);
    return [words, `${way} ${this.called(selected.axis, selected.zone)}`];
  }

  fillTip(tip: HTMLElement, axis: Axis, i: number, selected: Chosen | null): void {
    const relation = this.relation(axis, i, selected);
    tip.replaceChildren(
      element("p", { class: "tip-axis" }, capital(axis)),
      element("p", { class: "tip-zone" }, this.called(axis, i)),
      ...(relation ? [element("p", { class: "tip-flow" }, element("b", {}, relation[0]), ` ${relation[1]}`)] : []),
      this.list(this.zoneRows(axis, i)),
    );
  }

  spoken(axis: Axis, i: number, selected: Chosen | null): string {
    const relation = this.relation(axis, i, selected);
    const rows = this.zoneRows(axis, i).map(([label, text]) => `${label} ${text}`);
    return [`${capital(axis)} ${this.release.zones[axis].id[i]}`, ...(relation ? [relation.join(" ")] : []), ...rows].join(", ");
  }

  list(rows: Row[]): HTMLElement {
    return element("dl", {}, ...rows.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]));
  }

  show(selected: Chosen | null): void {
    this.root.replaceChildren(...(selected ? this.selectionParts(selected) : this.overviewParts()));
  }

  // A zone by its id, its name, or a part of either.
  finder(): HTMLElement {
    const words = element("input", { name: "zone", type: "search", placeholder: "find a zone", "aria-label": "Id or name of a zone", spellcheck: "false", autocomplete: "off" });
    const form = element("form", { class: "finder", role: "search" }, words, element("button", { type: "submit" }, "Find"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const found = this.find(words.value.trim().toLowerCase());
      words.setCustomValidity(found ? "" : "No zone is called so.");
      if (found) this.select(found);
      else words.reportValidity();
    });
    words.addEventListener("input", () => words.setCustomValidity(""));
    return form;
  }

  find(words: string): Chosen | null {
    if (!words) return null;
    for (const fits of [(text: string) => text === words, (text: string) => text.startsWith(words), (text: string) => text.includes(words)]) {
      for (const axis of AXES) {
        const { id, table } = this.release.zones[axis];
        const zone = id.findIndex((own, i) => fits(own.toLowerCase()) || (table.name !== undefined && fits(table.name[i].toLowerCase())));
        if (zone >= 0) return { axis, zone };
      }
    }
    return null;
  }

  // What people call a zone, or its id.
  called(axis: Axis, i: number): string {
    const { id, table } = this.release.zones[axis];
    return table.name?.[i] ?? id[i];
  }

  overviewParts(): HTMLElement[] {
    const { flows } = this.release;
    const shown = Array.from({ length: flows.size }, (_, flow) => flow).filter((flow) => this.release.within || !flows.within(flow));
    const top = flows.largest(shown, TOP);
    if (!top.length) return [element("h2", {}, "No flow was released")];
    return [
      this.finder(),
      element("h2", {}, "Largest flows"),
      this.table(["origin", "destination"], top),
      element("p", { class: "hint" }, "Choose a zone, on a map or in this table, and the other map shows its flows. Drag to move, scroll to zoom: both maps go together."),
    ];
  }

  selectionParts({ axis, zone }: Chosen): HTMLElement[] {
    const { flows, zones } = this.release;
    const partner = other(axis);
    const top = flows.largest(this.release.flowsOf({ axis, zone }), TOP);
    const clear = element("button", { class: "clear", type: "button" }, "Clear selection", element("kbd", {}, "Esc"));
    clear.addEventListener("click", this.clear);
    const heading = top.length < TOP ? `Its ${partner}s` : `Top ${TOP} ${partner}s of ${figure(flows.degree(axis, zone))}`;
    return [
      element("p", { class: "eyebrow" }, `Selected ${axis}`),
      element("h2", { class: "chosen", title: zones[axis].id[zone] }, this.called(axis, zone)),
      this.list(this.zoneRows(axis, zone)),
      clear,
      element("h3", {}, heading),
      top.length ? this.table([partner], top) : element("p", { class: "hint" }, "No flow of this zone was released."),
    ];
  }

  table(axes: Axis[], top: number[]): HTMLElement {
    const { flows, volume } = this.release;
    const columns = axes.length > 1 ? [volume.flow] : MEASURES.filter((name) => flows.table[name]);
    const largest = flows.volume[top[0]];
    const head = element("tr", {}, ...axes.map((axis) => element("th", { scope: "col" }, capital(axis))));
    head.append(...columns.map((name) => element("th", { scope: "col", class: "number" }, capital(name))));
    const rows = top.map((flow) => {
      const cells = axes.map((axis) => element("td", {}, this.link(axis, flows.table[axis][flow])));
      cells.push(...columns.map((name) => element("td", { class: "number" }, figure(flows.table[name]![flow]))));
      const row = element("tr", {}, ...cells);
      row.style.setProperty("--share-width", `${(100 * flows.volume[flow]) / largest}%`);
      return row;
    });
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  }

  link(axis: Axis, zone: number): HTMLElement {
    const id = this.release.zones[axis].id[zone];
    const button = element("button", { class: "zone", type: "button", title: `Select ${axis} ${id}` }, this.called(axis, zone));
    button.addEventListener("click", () => this.select({ axis, zone }));
    for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => this.glance({ axis, zone }));
    for (const event of ["mouseleave", "blur"]) button.addEventListener(event, () => this.glance(null));
    return button;
  }
}
