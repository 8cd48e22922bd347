// The map on a plain canvas: what is seen first, and all there is where the browser has no WebGL.

import { Backdrop } from "../map/backdrop";
import { Gestures } from "../map/gestures";
import { Panel, type Theme } from "../map/panel";
import { type Axis, type Point } from "../map/payload";
import { element } from "../map/side";
import { Projection, View, Zones } from "../map/zones";
import { type Content } from "./content";
import { type MapModel } from "./model";
import { type MapView, type Seen, type Wanted } from "./view";

const SMOOTH = 16; // milliseconds that a drawing may take and still be made on every step

export class LightView implements MapView {
  model: MapModel;
  projection: Projection;
  view: View;
  zones: Record<Axis, Zones>;
  panel: Panel;
  cost = 0;
  settling: ReturnType<typeof setTimeout> | undefined;
  wanted: Wanted | null = null;
  theme: Theme | null = null;
  moved: (() => void) | null = null;
  pointed: ((zone: number, place: Point | null) => void) | null = null;
  chosen: ((zone: number) => void) | null = null;

  constructor(stage: HTMLElement, model: MapModel, content: Pick<Content, "towns" | "background">, finer = 1) {
    this.model = model;
    const zones = (axis: Axis): Zones => new Zones(axis, { ...model.payload[axis] }, model.payload.volume.zone);
    this.zones = { origin: zones("origin"), destination: zones("destination") };
    this.projection = new Projection(Object.values(this.zones));
    for (const own of Object.values(this.zones)) own.project(this.projection);
    const { meridian, squeeze } = this.projection;
    const [west, south, east, north] = model.home;
    this.view = new View([(west - meridian) * squeeze, south, (east - meridian) * squeeze, north]);
    this.panel = this.build(stage);
    this.panel.finer = finer;
    this.panel.backdrop = new Backdrop(content.towns, content.background, (degrees) => this.projection.place(degrees));
    this.resize();
  }

  build(stage: HTMLElement): Panel {
    const inner = element("div", { class: "stage light", tabindex: 0, role: "application", "aria-label": stage.getAttribute("aria-label") ?? "Map" },
      element("canvas", { class: "zones" }), element("canvas", { class: "marks" }));
    const legend = element("div", { class: "legend", hidden: "" },
      element("p", { class: "caption" }), element("p", { class: "none" }), element("canvas", { class: "ramp" }), element("i", { class: "pin" }), element("div", { class: "ticks" }));
    stage.append(inner, legend);
    const panel = new Panel(stage, this.zones.origin, this.projection, this.view);
    const middle = (): Point => [panel.width / 2, panel.height / 2];
    const zoom = (factor: number, place?: Point): void => {
      const [left, top] = place ?? middle();
      this.view.zoom(factor, left - panel.width / 2, top - panel.height / 2);
      this.moving();
    };
    new Gestures(inner, {
      pan: (dx, dy) => (this.view.pan(dx, dy), this.moving()),
      zoom,
      reset: () => this.whole(),
      point: (place) => this.point(place),
      leave: () => this.pointed?.(-1, null),
      centre: () => this.point(middle()),
      choose: (place) => {
        const zone = panel.pick(place ?? middle());
        if (zone >= 0) this.chosen?.(zone);
      },
    });
    return panel;
  }

  point(place: Point): void {
    const zone = this.panel.pick(place);
    this.pointed?.(zone, zone < 0 ? null : place);
  }

  // Many zones and lines take longer than a frame: while the view moves, the last drawing slides along.
  moving(): void {
    clearTimeout(this.settling);
    if (this.cost <= SMOOTH) this.paint();
    else {
      this.panel.slide();
      this.mark();
      this.settling = setTimeout(() => this.paint(), Math.max(120, 2 * this.cost));
    }
    this.moved?.();
  }

  // Pixels of a degree of latitude at zoom 0 of Web Mercator.
  get unit(): number {
    return 512 / 360 / this.projection.squeeze;
  }

  get seen(): Seen {
    const { x, y, scale } = this.view;
    return { centre: [this.projection.longitude(x), y], zoom: Math.log2(scale / this.unit) };
  }

  look({ centre, zoom }: Seen): void {
    this.view.x = (centre[0] - this.projection.meridian) * this.projection.squeeze;
    this.view.y = centre[1];
    this.view.scale = 2 ** zoom * this.unit;
    if (this.cost > SMOOTH) this.moving();
    else this.paint();
  }

  whole(): void {
    this.view.fit(this.panel.width, this.panel.height);
    this.moving();
  }

  draw(wanted: Wanted, theme: Theme): void {
    [this.wanted, this.theme] = [wanted, theme];
    this.panel.zones = this.zones[wanted.axis];
    this.panel.colour = new Uint16Array(this.panel.zones.size);
    this.panel.shade(Float64Array.from(this.model.volumes[wanted.axis]), this.model.zoneScale, theme, "");
    this.paint();
  }

  paint(): void {
    const { panel, wanted, theme } = this;
    if (!wanted || !theme) return;
    const started = performance.now();
    panel.drawZones();
    const pen = panel.ground.getContext("2d")!;
    const place = ([lon, lat]: Point): Point => panel.toScreen((lon - this.projection.meridian) * this.projection.squeeze, lat);
    const most = this.model.lines.length ? this.model.lines[0].volume : 1;
    if (wanted.flows) panel.drawLines(pen, wanted.lines.map((line) => [place(line.from), place(line.to), Math.sqrt(line.volume / most)]));
    if (wanted.within) {
      const large = this.model.within.reduce((sum, one) => Math.max(sum, one.volume), 1);
      panel.drawRings(pen, this.model.within.map((one) => [place(one.at), Math.sqrt(one.volume / large)]));
    }
    this.mark();
    this.cost = performance.now() - started;
  }

  mark(): void {
    const chosen = this.wanted?.chosen ?? -1;
    this.panel.drawMarks(chosen < 0 ? [] : [{ zone: chosen, strong: true }], null);
  }

  resize(): void {
    this.panel.resize();
    if (!this.view.moved) this.view.fit(this.panel.width, this.panel.height);
    this.paint();
  }

  // Both canvases as one picture, written out.
  picture(): string {
    const { ground, marks } = this.panel;
    const pen = ground.getContext("2d")!;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.drawImage(marks, 0, 0);
    return ground.toDataURL();
  }

  remove(): void {
    clearTimeout(this.settling);
    this.panel.root.replaceChildren();
  }
}
