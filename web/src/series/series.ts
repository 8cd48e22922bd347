// The periods of a series: a slider, columns, a button and keys choose which one both maps show.

import { type Atlas } from "../map/atlas";
import { Flows } from "../map/flows";
import { AXES, type Chosen, type Columns, type FlowTable, MEASURES, type OfAxes, type Payload, type Volume } from "../map/payload";
import { LogScale, figure } from "../map/scale";
import { amount, capital, element } from "../map/side";

export interface Period extends OfAxes<Columns> {
  name: string;
  released: number;
  withheld: string;
  flows: FlowTable;
  made?: Flows;
}

export interface SeriesPayload extends Payload {
  periods: Period[];
}

export const PAUSE = 1100; // milliseconds that a period is shown while the series plays
export const FEW = 10; // periods whose names find room below the slider, and their numbers above the largest flows

export class Series {
  atlas: Atlas;
  volume: Volume;
  periods: Period[];
  root: HTMLElement;
  slider: HTMLInputElement;
  button: HTMLElement;
  columns: HTMLElement[] = [];
  shown = 0;
  playing = false;
  ticking: ReturnType<typeof setInterval> | undefined;

  constructor(atlas: Atlas, release: SeriesPayload) {
    this.atlas = atlas;
    this.volume = release.volume;
    this.periods = release.periods;
    this.root = document.querySelector(".periods")!;
    this.slider = this.root.querySelector(".slider")!;
    this.slider.max = String(this.periods.length - 1);
    this.button = this.root.querySelector(".play")!;
    this.shareScales();
    this.sayWhatIsMissing();
    this.addHistory();
    this.drawColumns();
    this.listen();
    this.go(0);
  }

  // One scale for all periods: the same colour means the same volume all the time.
  shareScales() {
    const { atlas, volume } = this;
    const zones = this.periods.flatMap((period) => AXES.flatMap((axis) => period[axis][volume.zone]!));
    atlas.zoneScale = new LogScale(zones.filter((value) => value !== null));
    atlas.flowScale = new LogScale(this.periods.flatMap((period) => period.flows[volume.flow]!.map((value) => value ?? NaN)));
  }

  sayWhatIsMissing() {
    const { side } = this.atlas;
    const rows = side.zoneRows.bind(side);
    const missing = (label: string, text: string): boolean =>
      text === "not given" && MEASURES.some((measure) => measure === label.toLowerCase());
    side.zoneRows = (axis, i) =>
      rows(axis, i).map(([label, text]) => [label, missing(label, text) ? "none released" : text]);
  }

  // Below what is told of a zone, the same number in every period.
  addHistory() {
    const { side } = this.atlas;
    const parts = side.selectionParts.bind(side);
    const few = this.periods.length <= FEW;
    const beside = (own: HTMLElement[], history: HTMLElement[], place: number): HTMLElement[] => (few ? [...own.slice(0, place), ...history, ...own.slice(place)] : [...own, ...history]);
    // Behind the name, the numbers and the button of a selected zone; before all else where none is.
    side.selectionParts = (selected) => beside(parts(selected), this.history(selected), 4);
    const overview = side.overviewParts.bind(side);
    side.overviewParts = () => beside(overview(), this.history(null), 0);
  }

  history(selected: Chosen | null): HTMLElement[] {
    const measure = this.volume.zone;
    const values = this.periods.map((period) =>
      selected ? period[selected.axis][measure]![selected.zone] : period.released,
    );
    const most = Math.max(...values.map((value) => value || 0), 1);
    const rows = this.periods.map((period, i) => {
      const link = element("button", { class: "zone", type: "button", title: `Show ${period.name}` }, period.name);
      link.addEventListener("click", () => this.stop(i));
      const number = values[i] === null ? "none released" : figure(values[i]);
      const row = element("tr", { class: "month" }, element("td", {}, link), element("td", { class: "number" }, number));
      row.setAttribute("aria-current", String(i === this.shown));
      row.style.setProperty("--share-width", `${(100 * (values[i] || 0)) / most}%`);
      return row;
    });
    const heading = selected ? `This ${selected.axis}, period by period` : "All flows, period by period";
    const head = element(
      "tr", {}, element("th", { scope: "col" }, "Period"), element("th", { scope: "col", class: "number" }, capital(measure)),
    );
    return [element("h3", {}, heading), element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows))];
  }

  drawColumns() {
    const most = Math.max(...this.periods.map((period) => period.released));
    this.columns = this.periods.map((period, i) => {
      const words = `${period.name}: ${amount(period.released, this.volume.zone)}`;
      const column = element("button", { type: "button", title: words, "aria-label": words, tabindex: -1 }, element("i"));
      (column.firstElementChild as HTMLElement).style.setProperty("--tall", `${(100 * period.released) / most}%`);
      column.addEventListener("click", () => this.stop(i));
      return column;
    });
    this.root.querySelector(".columns")!.replaceChildren(...this.columns);
    // The handle stands below the column of its period.
    const half = 50 / this.periods.length;
    this.slider.style.margin = `0 calc(${half}% - 8px)`;
    this.slider.style.width = `calc(${100 - 2 * half}% + 16px)`;
    const names = this.periods.length <= FEW ? this.periods.map((period) => element("span", {}, period.name)) : [];
    this.root.querySelector(".names")!.replaceChildren(...names);
  }

  listen() {
    this.slider.addEventListener("input", () => this.stop(Number(this.slider.value)));
    this.button.addEventListener("click", () => this.play(!this.playing));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === ",") this.stop(this.shown - 1);
      else if (event.key === ".") this.stop(this.shown + 1);
      else if (event.key.toLowerCase() === "p") this.play(!this.playing);
    });
  }

  stop(i: number): void {
    this.play(false);
    this.go(i);
  }

  go(i: number): void {
    this.shown = Math.max(0, Math.min(this.periods.length - 1, i));
    const { atlas, volume } = this;
    const period = this.periods[this.shown];
    for (const axis of AXES) {
      const zones = atlas.zones[axis];
      for (const name of MEASURES) if (period[axis][name]) zones.table[name] = period[axis][name];
      zones.volume = Float64Array.from(period[axis][volume.zone]!, (value) => value ?? NaN);
    }
    period.made = period.made || new Flows(period.flows, volume.flow, atlas.zones);
    atlas.flows = period.made;
    atlas.side.show(atlas.selected);
    atlas.shade();
    this.tell(period);
  }

  tell(period: Period): void {
    this.root.querySelector("h2")!.textContent = period.name;
    const words = `${figure(period.flows.origin.length)} flows, ${amount(period.released, this.volume.zone)}; withheld: ${period.withheld}`;
    this.root.querySelector(".told")!.textContent = words;
    this.slider.value = String(this.shown);
    this.slider.setAttribute("aria-valuetext", `${period.name}: ${words}`);
    this.columns.forEach((column, i) => column.setAttribute("aria-current", String(i === this.shown)));
  }

  play(on: boolean): void {
    clearInterval(this.ticking);
    this.playing = on;
    this.button.setAttribute("aria-pressed", String(on));
    this.button.title = on ? "Pause (P)" : "Play (P)";
    this.button.setAttribute("aria-label", on ? "Pause" : "Play");
    if (!on) return;
    this.go(this.shown === this.periods.length - 1 ? 0 : this.shown);
    this.ticking = setInterval(() => {
      this.go(this.shown + 1);
      if (this.shown === this.periods.length - 1) this.play(false);
    }, PAUSE);
  }
}
