// The page: reads the release, keeps what is hovered and selected, and asks the panels to draw.

import { Backdrop } from "./backdrop";
import { Flows } from "./flows";
import { Gestures } from "./gestures";
import { type Line, type Outlined, Panel, type Theme, degreeLabel, readTheme } from "./panel";
import { AXES, type Axis, type Chosen, type OfAxes, type Payload, type Point, type Volume } from "./payload";
import { LogScale, figure } from "./scale";
import { Side, amount, capital } from "./side";
import { savePicture } from "./picture";
import { tell } from "./telling";
import { Projection, View, Zones, homeOf } from "./zones";

export const LINES = 40; // flows of the chosen zone that are drawn as lines
const SMOOTH = 12; // milliseconds a full drawing may take and still be made on every frame

interface Pointer {
  axis: Axis;
  place: Point;
  at: Point;
  keys: boolean;
}

type Stale = "marks" | "view" | "shade";

export class Atlas {
  volume: Volume;
  zones: OfAxes<Zones>;
  projection: Projection;
  flows: Flows;
  zoneScale: LogScale;
  flowScale: LogScale;
  view: View;
  hover: Chosen | null = null;
  selected: Chosen | null = null;
  pointer: Pointer | null = null;
  tip: HTMLElement;
  speech: HTMLElement;
  side: Side;
  panels: OfAxes<Panel>;
  theme!: Theme;
  stale: Stale | null = null;
  frame = 0;
  settling: ReturnType<typeof setTimeout> | 0 = 0;
  // What is drawn beside the shades: lines of the chosen zone, and flows that stay in one zone.
  lines = true;
  within = true;

  constructor(release: Payload) {
    this.volume = release.volume;
    const zones = (axis: Axis): Zones => new Zones(axis, release[axis], release.volume.zone);
    this.zones = { origin: zones("origin"), destination: zones("destination") };
    this.projection = new Projection(AXES.map((axis) => this.zones[axis]));
    for (const axis of AXES) this.zones[axis].project(this.projection);
    this.flows = new Flows(release.flows, release.volume.flow, this.zones);
    // One scale for all zones and one for all flows: the same colour means the same volume everywhere.
    this.zoneScale = new LogScale(AXES.flatMap((axis) => Array.from(this.zones[axis].volume)));
    this.flowScale = new LogScale(this.flows.volume);
    this.view = new View(homeOf(AXES.map((axis) => this.zones[axis]), this.projection.box), this.projection.box);
    this.tip = document.querySelector(".tip")!;
    this.speech = document.querySelector(".spoken")!;
    this.side = new Side(
      document.querySelector(".side")!, this, (zone) => this.select(zone), () => this.select(null), (zone) => this.glance(zone),
    );
    document.body.classList.toggle("named", AXES.some((axis) => release[axis].name !== undefined));
    this.panels = { origin: this.makePanel("origin"), destination: this.makePanel("destination") };
    const backdrop = new Backdrop(release.towns ?? [], release.background ?? null, (degrees) => this.projection.place(degrees));
    for (const axis of AXES) this.panels[axis].backdrop = backdrop;
    this.listen();
  }

  makePanel(axis: Axis): Panel {
    const root = document.querySelector<HTMLElement>(`.panel[data-axis=${axis}]`)!;
    const panel = new Panel(root, this.zones[axis], this.projection, this.view);
    const middle = (): Point => [panel.width / 2, panel.height / 2];
    const zoom = (factor: number, place?: Point): void => {
      const [left, top] = place || middle();
      this.view.zoom(factor, left - panel.width / 2, top - panel.height / 2);
      this.leave("view");
    };
    new Gestures(panel.stage, {
      pan: (dx, dy) => (this.view.pan(dx, dy), this.leave("view")),
      zoom,
      reset: () => this.reset(),
      point: (place) => this.point(panel, place),
      leave: () => this.leave(),
      centre: () => (this.point(panel, middle(), true), this.speak(panel)),
      choose: (place) => this.choose(panel, place || middle()),
    });
    root.querySelector(".nearer")!.addEventListener("click", () => zoom(1.6));
    root.querySelector(".farther")!.addEventListener("click", () => zoom(1 / 1.6));
    root.querySelector(".whole")!.addEventListener("click", () => this.reset());
    root.querySelector(".unselect")!.addEventListener("click", () => this.select(null));
    return panel;
  }

  listen() {
    this.toggle("lines", (on) => (this.lines = on));
    this.toggle("within", (on) => (this.within = on));
    document.querySelector(".save")?.addEventListener("click", () => savePicture(this));
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.select(null));
    // The tooltip stands still on the screen, so it would point at the wrong zone on a scrolled page.
    document.addEventListener("scroll", () => this.leave(), { passive: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.resize()).observe(document.querySelector("main")!);
    this.resize();
  }

  toggle(name: string, told: (on: boolean) => void): void {
    const box = document.querySelector<HTMLInputElement>(`.tools [name=${name}]`);
    box?.addEventListener("change", () => {
      told(box.checked);
      this.side.show(this.selected);
      this.shade();
    });
  }

  // The flows of a zone that are shown.
  flowsOf({ axis, zone }: Chosen): Int32Array {
    const own = this.flows.of(axis, zone);
    return this.within ? own : own.filter((flow) => !this.flows.within(flow));
  }

  repaint() {
    this.theme = readTheme();
    this.shade();
  }

  resize() {
    for (const axis of AXES) this.panels[axis].resize();
    const { width, height } = this.panels.origin;
    if (!this.view.moved) this.view.fit(width, height);
    this.repaint();
    this.paint();
  }

  reset() {
    this.view.fit(this.panels.origin.width, this.panels.origin.height);
    this.touch("view");
  }

  point(panel: Panel, place: Point, keys = false): void {
    const zone = panel.pick(place);
    this.pointer = { axis: panel.zones.axis, place, at: panel.toPlane(place), keys };
    this.hover = zone < 0 ? null : { axis: panel.zones.axis, zone };
    this.touch("marks");
  }

  // Shows where a zone named in a table lies, without moving anything.
  glance(zone: Chosen | null): void {
    this.pointer = null;
    this.hover = zone;
    this.touch("marks");
  }

  leave(stale: Stale = "marks"): void {
    this.hover = this.pointer = null;
    this.touch(stale);
  }

  choose(panel: Panel, place: Point): void {
    const zone = panel.pick(place);
    const same = this.selected && this.selected.axis === panel.zones.axis && this.selected.zone === zone;
    this.select(zone < 0 || same ? null : { axis: panel.zones.axis, zone });
  }

  select(zone: Chosen | null): void {
    tell(zone ? { axis: zone.axis, zone: this.zones[zone.axis].id[zone.zone] } : {});
    if (!zone && !this.selected) return;
    this.selected = zone;
    if (zone) this.bringIntoSight(zone);
    this.side.show(zone);
    this.shade();
    this.speech.textContent = zone
      ? `Selected ${this.side.spoken(zone.axis, zone.zone, null)}. The other map shows its flows.`
      : "Selection cleared.";
  }

  bringIntoSight({ axis, zone }: Chosen): void {
    const panel = this.panels[axis];
    const [x, y] = this.zones[axis].centre(zone);
    const [left, top] = panel.toScreen(x, y);
    if (left > 0 && left < panel.width && top > 0 && top < panel.height) return;
    this.view.pan(panel.width / 2 - left, panel.height / 2 - top);
  }

  speak(panel: Panel): void {
    const { hover } = this;
    this.speech.textContent = hover
      ? this.side.spoken(hover.axis, hover.zone, this.selected)
      : `No ${panel.zones.axis} zone here.`;
  }

  shade() {
    for (const axis of AXES) {
      const panel = this.panels[axis];
      const partner = this.selected !== null && this.selected.axis !== axis;
      const values = partner ? this.flowValues(axis, this.selected!) : this.zones[axis].volume;
      panel.shade(values, partner ? this.flowScale : this.zoneScale, this.theme, this.caption(axis, partner));
      this.head(panel, axis, partner);
    }
    this.touch("shade");
  }

  flowValues(axis: Axis, selected: Chosen): Float64Array {
    const values = new Float64Array(this.zones[axis].size).fill(NaN);
    for (const flow of this.flowsOf(selected)) {
      values[this.flows.table[axis][flow]] = this.flows.volume[flow];
    }
    return values;
  }

  caption(axis: Axis, partner: boolean): string {
    const measure = partner ? this.volume.flow : this.volume.zone;
    const subject = measure === "population" ? "Population of trips" : capital(measure);
    const way = partner
      ? { origin: "to the selected zone", destination: "from the selected zone" }
      : { origin: "starting in each zone", destination: "ending in each zone" };
    return `${subject} ${way[axis]}, log scale`;
  }

  head(panel: Panel, axis: Axis, partner: boolean): void {
    const zones = this.zones[axis];
    const total = (values: Float64Array): number => values.reduce((sum, value) => sum + (value || 0), 0);
    const zonesInAll = `${figure(zones.size)} ${zones.size === 1 ? "zone" : "zones"}`;
    const note = partner ? `${figure(this.flows.degree(this.selected!.axis, this.selected!.zone))} of ${zonesInAll}` : zonesInAll;
    const measure = partner ? this.volume.flow : this.volume.zone;
    panel.root.querySelector(".note")!.textContent = `${note}, ${amount(total(panel.values), measure)}`;
    const chip = panel.root.querySelector<HTMLElement>(".unselect")!;
    chip.hidden = !this.selected || this.selected.axis !== axis;
    if (!chip.hidden) chip.firstElementChild!.textContent = this.side.called(axis, this.selected!.zone);
  }

  // what: "marks" (outlines and labels), "view" (moved) or "shade" (other colours).
  touch(what: Stale): void {
    if (what !== "marks" && this.stale !== "shade") this.stale = what;
    this.frame = this.frame || requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const panels = AXES.map((axis) => this.panels[axis]);
    if (this.stale) this.drawGround(panels);
    this.stale = null;
    for (const panel of panels) {
      panel.drawMarks(this.outlines(panel.zones.axis), this.cross(panel.zones.axis), this.linesOn(panel));
      this.annotate(panel);
    }
    this.showTip();
  }

  // Many zones take longer than a frame: while the view moves, the last drawing slides along.
  drawGround(panels: Panel[]): void {
    const cost = panels.reduce((sum, panel) => sum + panel.cost, 0);
    if (this.stale === "shade" || cost <= SMOOTH) {
      for (const panel of panels) panel.drawZones();
      return;
    }
    for (const panel of panels) panel.slide();
    this.settling =
      this.settling ||
      setTimeout(() => {
        this.settling = 0;
        this.touch("shade");
      }, Math.max(120, 4 * cost));
  }

  outlines(axis: Axis): Outlined[] {
    const { selected, hover } = this;
    const found: Outlined[] = [];
    const both: [Chosen | null, boolean][] = [[hover, false], [selected, true]];
    for (const [chosen, strong] of both) {
      if (!chosen) continue;
      const id = this.zones[chosen.axis].id[chosen.zone];
      // The other map may have the very same zone: outlining it there ties the two together.
      const zone = chosen.axis === axis ? chosen.zone : this.zones[axis].code.get(id);
      if (zone !== undefined) found.push({ zone, strong: strong && chosen.axis === axis });
    }
    return found;
  }

  // The largest flows of the chosen zone, as lines on the map of its partners.
  linesOn(panel: Panel): Line[] {
    const { selected } = this;
    if (!selected || !this.lines || selected.axis === panel.zones.axis) return [];
    const start = panel.toScreen(...this.zones[selected.axis].centre(selected.zone));
    const top = this.flows.largest(this.flowsOf(selected), LINES).filter((flow) => !this.flows.within(flow));
    const most = top.length ? this.flows.volume[top[0]] : 1;
    return top.map((flow): Line => {
      const end = panel.toScreen(...panel.zones.centre(this.flows.table[panel.zones.axis][flow]));
      return [start, end, Math.sqrt(this.flows.volume[flow] / most)];
    });
  }

  cross(axis: Axis): Point | null {
    return this.pointer && (this.pointer.axis !== axis || this.pointer.keys) ? this.pointer.at : null;
  }

  annotate(panel: Panel): void {
    const { hover, pointer } = this;
    const own = hover && hover.axis === panel.zones.axis;
    panel.legend.point(own ? panel.values[hover.zone] : NaN);
    const [x, y] = pointer ? pointer.at : [0, 0];
    panel.root.querySelector(".where")!.textContent = pointer
      ? `${degreeLabel(y, 0.0001, "N", "S")}, ${degreeLabel(this.projection.longitude(x), 0.0001, "E", "W")}`
      : "";
  }

  showTip() {
    const { hover, pointer, tip } = this;
    tip.hidden = !(hover && pointer);
    if (!hover || !pointer) return;
    this.side.fillTip(tip, hover.axis, hover.zone, this.selected);
    const frame = this.panels[hover.axis].stage.getBoundingClientRect();
    const [left, top] = [frame.left + pointer.place[0], frame.top + pointer.place[1]];
    const right = left + 18 + tip.offsetWidth < innerWidth;
    const below = top + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(4, right ? left + 16 : left - 16 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(4, below ? top + 16 : top - 16 - tip.offsetHeight)}px`;
  }
}

// The map of the page that this script stands in.
export function openAtlas(release: Payload): Atlas {
  const atlas = new Atlas(release);
  atlas.side.show(null);
  return atlas;
}
