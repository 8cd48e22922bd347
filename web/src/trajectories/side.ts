// The words beside the map: what is shown now, or the samples of the trajectory that is followed.

import { areaFigure, figure, grouped, significant } from "../map/scale";
import { type Row, element } from "../map/side";
import { type ReleasedBoxes, type TrajectoryPayload } from "./boxes";
import { type Clock, duration, written } from "./clock";

export interface Wishes {
  follow(row: number): void;
  visit(i: number): void;
  near(row: number): void;
}

export const ROWS = 400; // samples that are listed; the rest are in the tables beside this file
export const HELD = "A box says: recorded at least once, somewhere in it, at some moment while it lasts.";
export const MOVED = "A box says: about there, about then. Samples were moved to where others are, and some were made up.";

export function sizeFigure(km: number): string {
  return km < 1 ? `${grouped.format(Math.round(km * 1000))} m` : `${significant.format(km)} km`;
}

export class TrajectorySide {
  root: HTMLElement;
  boxes: ReleasedBoxes;
  release: TrajectoryPayload;
  clock: Clock;
  told: Wishes;
  followed = -1;
  numbers!: HTMLElement;
  rows: HTMLElement[] = [];
  listed = 0;

  constructor(root: HTMLElement, boxes: ReleasedBoxes, release: TrajectoryPayload, clock: Clock, told: Wishes) {
    this.root = root;
    this.boxes = boxes;
    this.release = release;
    this.clock = clock;
    this.told = told;
  }

  boxRows(i: number): Row[] {
    const { boxes, clock } = this;
    return [
      ["From", written.format(clock.date(boxes.from[i]))],
      ["Until", written.format(clock.date(boxes.until[i]))],
      ["Lasts", duration(boxes.seconds[i])],
      ["Size", `${sizeFigure(boxes.km[0][i])} × ${sizeFigure(boxes.km[1][i])}`],
      ["Area", areaFigure(boxes.km2[i])],
    ];
  }

  fillTip(tip: HTMLElement, here: number[]): void {
    const [i] = here;
    const others = here.length > 1 ? [element("p", { class: "tip-flow" }, element("b", {}, figure(here.length)), " boxes lie over each other here; this is the smallest")] : [];
    tip.replaceChildren(
      element("p", { class: "tip-axis" }, "Trajectory"),
      element("p", { class: "tip-zone" }, this.boxes.name[this.boxes.owner[i]]),
      ...others,
      this.list(this.boxRows(i)),
    );
  }

  list(rows: Row[]): HTMLElement {
    return element("dl", {}, ...rows.flatMap(([label, text]) => [element("dt", {}, label), element("dd", {}, text)]));
  }

  spoken(i: number): string {
    return [`Trajectory ${this.boxes.name[this.boxes.owner[i]]}`, ...this.boxRows(i).map((row) => row.join(" "))].join(", ");
  }

  follow(row: number): void {
    this.followed = row;
    this.root.replaceChildren(...(row < 0 ? this.overview() : this.story(row)));
    this.root.scrollTop = 0;
  }

  overview(): HTMLElement[] {
    this.numbers = element("dl", { class: "now" });
    const { pseudonyms, released } = this.release;
    const partly = pseudonyms.length < released.trajectories;
    const parts = [element("h2", {}, partly ? "At this time, of those drawn" : "At this time"), this.numbers];
    if (partly) {
      parts.push(
        element("p", { class: "partly" }, `There are too many samples for one page. Density counts all ${figure(released.trajectories)} trajectories, on a coarse raster. Boxes are those of ${figure(pseudonyms.length)} trajectories, drawn at random.`),
      );
    }
    return [...parts, element("h3", {}, "Follow one trajectory"), this.chooser(), this.hints()];
  }

  chooser(): HTMLElement {
    const name = element("input", { name: "pseudonym", type: "text", placeholder: "pseudonym", "aria-label": "Pseudonym of a trajectory", spellcheck: "false", autocomplete: "off" });
    const any = element("button", { type: "button", class: "any" }, "Any");
    const form = element("form", { class: "chooser" }, name, element("button", { type: "submit" }, "Follow"), any);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const row = this.release.pseudonyms.findIndex((one) => one.startsWith(name.value.trim()));
      name.setCustomValidity(row < 0 ? "No trajectory of this page begins so." : "");
      if (row < 0) name.reportValidity();
      else this.told.follow(row);
    });
    name.addEventListener("input", () => name.setCustomValidity(""));
    any.addEventListener("click", () => this.told.follow(Math.floor(Math.random() * this.release.pseudonyms.length)));
    return form;
  }

  hints(): HTMLElement {
    const keys = [["P", "play or pause"], [", .", "one window back, on"], ["[ ]", "shorter or longer window"], ["D", "boxes or density"], ["N B", "follow the next, the one before"], ["Z", "zoom to the one that is followed"], ["Esc", "stop following"]];
    return element(
      "div", { class: "hint" },
      element("p", {}, `${this.release.moved ? MOVED : HELD} Choose a box on the map to follow its trajectory. Drag to move, scroll to zoom.`),
      element("dl", { class: "keys" }, ...keys.flatMap(([key, words]) => [element("dt", {}, ...key.split(" ").map((one) => element("kbd", {}, one))), element("dd", {}, words)])),
    );
  }

  story(row: number): HTMLElement[] {
    const { boxes } = this;
    const [first, end] = [boxes.first[row], boxes.first[row + 1]];
    const areas = Array.from(boxes.km2.subarray(first, end)).sort((a, b) => a - b);
    const button = (words: string, key: string, action: () => void): HTMLElement => {
      const made = element("button", { class: "clear", type: "button" }, words, element("kbd", {}, key));
      made.addEventListener("click", action);
      return made;
    };
    const buttons = [button("Zoom to it", "Z", () => this.told.near(row)), button("Stop following", "Esc", () => this.told.follow(-1))];
    return [
      element("p", { class: "eyebrow" }, "Following"),
      element("h2", { class: "chosen" }, boxes.name[row]),
      this.list([
        ["Samples", figure(end - first)],
        ["First", written.format(this.clock.date(boxes.from[first]))],
        ["Last", written.format(this.clock.date(boxes.until[end - 1]))],
        ["Median area", areaFigure(areas[areas.length >> 1])],
      ]),
      element("div", { class: "pair" }, ...buttons),
      element("h3", {}, end - first > ROWS ? `Its first ${ROWS} samples` : "Its samples"),
      this.table(first, Math.min(end, first + ROWS)),
    ];
  }

  table(first: number, end: number): HTMLElement {
    const { boxes, clock } = this;
    const cells = (tag: "td" | "th", ...texts: string[]): HTMLElement[] =>
      texts.map((text, n) => element(tag, n ? { class: "number" } : undefined, text));
    this.rows = Array.from({ length: end - first }, (_, n) => {
      const i = first + n;
      const when = written.format(clock.date(boxes.from[i])).replace(/ \d{4},/, ",");
      const link = element("button", { class: "zone", type: "button", title: "Show this time" }, when);
      link.addEventListener("click", () => this.told.visit(i));
      return element("tr", {}, element("td", {}, link), ...cells("td", "", duration(boxes.seconds[i]), areaFigure(boxes.km2[i])).slice(1));
    });
    this.listed = first;
    const head = element("tr", {}, ...cells("th", clock.grid.clock === "UTC" ? "From (UTC)" : "From", "Lasts", "Area"));
    return element("table", {}, element("thead", {}, head), element("tbody", {}, ...this.rows));
  }

  // active: boxes of the time that is shown, largest first.
  tell(active: Uint32Array): void {
    const { boxes, clock } = this;
    if (this.followed < 0) {
      const people = new Set(active.length > 50000 ? [] : Array.from(active, (i) => boxes.owner[i])).size;
      const median = active.length ? areaFigure(boxes.km2[active[active.length >> 1]]) : "none";
      this.numbers.replaceChildren(
        ...this.list([["Boxes", figure(active.length)], ...(people ? [["Trajectories", figure(people)] as Row] : []), ["Median area", median]]).children,
      );
      return;
    }
    this.rows.forEach((row, n) => {
      const i = this.listed + n;
      row.classList.toggle("current", boxes.from[i] < clock.end && boxes.until[i] > clock.start);
    });
    const [now] = this.rows.filter((row) => row.classList.contains("current"));
    if (!now) return;
    const [row, frame] = [now.getBoundingClientRect(), this.root.getBoundingClientRect()];
    // The list alone scrolls: where it has no scroll bar of its own, the page stays where it is.
    if (row.top < frame.top || row.bottom > frame.bottom) this.root.scrollTop += row.top - (frame.top + frame.bottom) / 2;
  }
}
