// One panel: the canvas of zones, the canvas of marks above it, and the legend.

import { type Backdrop } from "./backdrop";
import { NONE, LogScale, figure, rampColours } from "./scale";
import { type Point } from "./payload";
import { TINY, TINY_PARTNER, type Projection, type View, type Zones } from "./zones";

type Pen = CanvasRenderingContext2D;

const THEME = ["ground", "grid", "border", "edge", "pale", "halo", "quiet", "ink", "accent", "font"] as const;

export type Theme = Record<(typeof THEME)[number], string> & { ramp: string[]; shades?: Uint8ClampedArray };

export interface Outlined {
  zone: number;
  strong: boolean;
}

// From where to where on the screen, and a weight of at most 1.
export type Line = [Point, Point, number];

// A line of equal longitude or latitude: its degrees, the step between two, and points it runs through.
export type Parallel = [number, number, Point[]];

export const GRATICULE_STEPS = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002];
const BEFORE = 0.82; // how much of what lies behind a zone it covers
export const BORDER_FROM = 7; // pixels: smaller zones get no border, it would cover their colour

export class Panel {
  root: HTMLElement;
  zones: Zones;
  projection: Pick<Projection, "metresPerUnit" | "squeeze" | "meridian">;
  view: View;
  stage: HTMLElement;
  ground: HTMLCanvasElement;
  marks: HTMLCanvasElement;
  legend: Legend;
  colour: Uint16Array;
  cost: number;
  width = 1;
  height = 1;
  density = 1;
  // Paper shows more dots than a screen.
  finer = 1;
  values!: Float64Array;
  scale!: LogScale;
  theme!: Theme;
  partial = false;
  dot = TINY;
  drawn!: { x: number; y: number; scale: number };
  backdrop: Backdrop | null = null;

  constructor(root: HTMLElement, zones: Zones, projection: Panel["projection"], view: View) {
    this.root = root;
    this.zones = zones;
    this.projection = projection;
    this.view = view;
    this.stage = root.querySelector(".stage")!;
    this.ground = root.querySelector(".zones")!;
    this.marks = root.querySelector(".marks")!;
    this.legend = new Legend(root.querySelector(".legend")!);
    this.colour = new Uint16Array(zones.size);
    this.cost = 0;
  }

  resize() {
    this.width = Math.max(1, this.stage.clientWidth);
    this.height = Math.max(1, this.stage.clientHeight);
    this.density = this.finer * (window.devicePixelRatio || 1);
    for (const canvas of [this.ground, this.marks]) {
      canvas.width = Math.round(this.width * this.density);
      canvas.height = Math.round(this.height * this.density);
    }
  }

  // Shades every zone by values[i]; NaN means nothing to show there.
  shade(values: Float64Array, scale: LogScale, theme: Theme, caption: string): void {
    this.values = values;
    this.scale = scale;
    this.theme = theme;
    this.partial = false;
    for (let i = 0; i < values.length; i++) {
      this.colour[i] = scale.colourIndex(values[i]);
      if (this.colour[i] === NONE) this.partial = true;
    }
    this.dot = this.partial ? TINY_PARTNER : TINY;
    this.legend.show(scale, theme, caption, this.partial && !scale.empty);
  }

  toScreen(x: number, y: number): Point {
    return [
      (x - this.view.x) * this.view.scale + this.width / 2,
      this.height / 2 - (y - this.view.y) * this.view.scale,
    ];
  }

  toPlane([left, top]: Point): Point {
    return [
      (left - this.width / 2) / this.view.scale + this.view.x,
      this.view.y - (top - this.height / 2) / this.view.scale,
    ];
  }

  // What is drawn on top is what gets picked: shaded zones first, then the pale ones.
  pick(place: Point): number {
    const [x, y] = this.toPlane(place);
    const { zones, colour, view } = this;
    const shaded = zones.pick(x, y, this.dot / view.scale, (i) => colour[i] !== NONE);
    return shaded >= 0 || !this.partial ? shaded : zones.pick(x, y, TINY / view.scale, () => true);
  }

  drawZones() {
    const started = performance.now();
    const pen = this.ground.getContext("2d")!;
    pen.setTransform(this.density, 0, 0, this.density, 0, 0);
    pen.fillStyle = this.theme.ground;
    pen.fillRect(0, 0, this.width, this.height);
    this.drawGraticule(pen);
    const behind = this.backdrop?.drawn ? this.backdrop : null;
    const place = (x: number, y: number): Point => this.toScreen(x, y);
    behind?.drawGrounds(pen, place, this.theme);
    pen.globalAlpha = behind ? BEFORE : 1;
    if (this.partial) this.drawPass(pen, TINY, (index) => index === NONE);
    this.drawPass(pen, this.dot, (index) => index !== NONE);
    pen.globalAlpha = 1;
    behind?.drawLines(pen, place, this.theme);
    this.drawn = { x: this.view.x, y: this.view.y, scale: this.view.scale };
    this.ground.style.transform = "";
    this.cost = performance.now() - started;
  }

  drawPass(pen: Pen, dot: number, wanted: (index: number) => boolean): void {
    const { zones, colour, theme } = this;
    const { scale } = this.view;
    const [west, north] = this.toPlane([0, 0]);
    const [east, south] = this.toPlane([this.width, this.height]);
    pen.lineJoin = "round";
    pen.strokeStyle = this.partial && dot === this.dot ? theme.edge : theme.border;
    for (let i = 0; i < zones.size; i++) {
      if (!wanted(colour[i])) continue;
      const b = 4 * i;
      if (zones.box[b] > east || zones.box[b + 2] < west || zones.box[b + 1] > north || zones.box[b + 3] < south) continue;
      pen.fillStyle = colour[i] === NONE ? theme.pale : theme.ramp[colour[i]];
      const pixels = zones.width(i) * scale;
      if (pixels < dot) {
        const [left, top] = this.toScreen(...zones.centre(i));
        pen.fillRect(left - dot / 2, top - dot / 2, dot, dot);
        continue;
      }
      this.trace(pen, i);
      pen.fill("evenodd");
      if (pixels < BORDER_FROM) continue;
      pen.lineWidth = pixels < 24 ? 0.5 : 0.8;
      pen.stroke();
    }
  }

  trace(pen: Pen, i: number): void {
    const { zones } = this;
    const { scale } = this.view;
    const left = this.width / 2 - this.view.x * scale;
    const top = this.height / 2 + this.view.y * scale;
    pen.beginPath();
    for (let r = zones.zoneStart[i]; r < zones.zoneStart[i + 1]; r++) {
      const first = zones.ringStart[r];
      pen.moveTo(zones.x[first] * scale + left, top - zones.y[first] * scale);
      for (let p = first + 1; p < zones.ringStart[r + 1]; p++) {
        pen.lineTo(zones.x[p] * scale + left, top - zones.y[p] * scale);
      }
      pen.closePath();
    }
  }

  // Lines from place to place on the screen, each with a weight of at most 1; the heaviest last, on top.
  drawLines(pen: Pen, lines: Line[]): void {
    pen.lineCap = "round";
    for (const [from, to, weight] of [...lines].reverse()) {
      for (const [colour, more] of [[this.theme.halo, 1.6], [this.theme.accent, 0]] as [string, number][]) {
        pen.strokeStyle = colour;
        pen.lineWidth = Math.max(0.8, 6 * weight) + more;
        pen.beginPath();
        pen.moveTo(...from);
        pen.lineTo(...to);
        pen.stroke();
      }
    }
    pen.lineCap = "butt";
  }

  // Rings around places: what stays within a zone.
  drawRings(pen: Pen, rings: [Point, number][]): void {
    pen.strokeStyle = pen.fillStyle = this.theme.accent;
    pen.lineWidth = 1.5;
    for (const [[left, top], weight] of rings) {
      pen.beginPath();
      pen.arc(left, top, 3 + 14 * weight, 0, 2 * Math.PI);
      pen.globalAlpha = 0.2;
      pen.fill();
      pen.globalAlpha = 1;
      pen.stroke();
    }
  }

  // Moves the last drawing under the new view: cheap, blurred for a moment, always in step.
  slide() {
    const { view, drawn } = this;
    const dx = (drawn.x - view.x) * view.scale;
    const dy = (view.y - drawn.y) * view.scale;
    this.ground.style.transform = `translate(${dx}px, ${dy}px) scale(${view.scale / drawn.scale})`;
  }

  // Lines of equal longitude or latitude in sight.
  graticule(upright: boolean): Parallel[] {
    const { scale } = this.view;
    const perDegree = upright ? scale * this.projection.squeeze : scale;
    const step = GRATICULE_STEPS.filter((degrees) => degrees * perDegree >= 84).pop() || 30;
    const [x, y] = this.toPlane([0, this.height]);
    const low = upright ? x / this.projection.squeeze + this.projection.meridian : y;
    const length = upright ? this.width : this.height;
    const lines: Parallel[] = [];
    for (let n = Math.ceil(low / step); (n * step - low) * perDegree <= length; n++) {
      const along = (n * step - low) * perDegree;
      const at = Math.round(upright ? along : length - along) + 0.5;
      const ends: Point[] = upright ? [[at, 0], [at, this.height]] : [[0, at], [this.width, at]];
      if (upright || Math.abs(n * step) <= 90) lines.push([n * step, step, ends]);
    }
    return lines;
  }

  drawGraticule(pen: Pen): void {
    pen.strokeStyle = this.theme.grid;
    pen.lineWidth = 1;
    pen.beginPath();
    for (const [, , points] of [...this.graticule(true), ...this.graticule(false)]) {
      points.forEach((point, n) => (n ? pen.lineTo(...point) : pen.moveTo(...point)));
    }
    pen.stroke();
  }

  // outlines: [{zone, strong}], cross: a place to mark or null.
  drawMarks(outlines: Outlined[], cross: Point | null, lines: Line[] = []): void {
    const pen = this.marks.getContext("2d")!;
    pen.setTransform(this.density, 0, 0, this.density, 0, 0);
    pen.clearRect(0, 0, this.width, this.height);
    pen.lineJoin = "round";
    pen.globalAlpha = 0.75;
    this.drawLines(pen, lines);
    pen.globalAlpha = 1;
    this.backdrop?.drawTowns(pen, (x, y) => this.toScreen(x, y), this.theme, this.width, this.height);
    for (const { zone, strong } of outlines) this.drawOutline(pen, zone, strong);
    pen.font = `11px ${this.theme.font}`;
    pen.lineWidth = 3;
    pen.strokeStyle = this.theme.halo;
    pen.fillStyle = this.theme.quiet;
    this.drawDegrees(pen);
    this.drawScaleBar(pen);
    if (cross) this.drawCross(pen, cross);
  }

  drawOutline(pen: Pen, zone: number, strong: boolean): void {
    if (this.zones.width(zone) * this.view.scale < this.dot) {
      const [left, top] = this.toScreen(...this.zones.centre(zone));
      pen.beginPath();
      pen.arc(left, top, 6, 0, 2 * Math.PI);
    } else this.trace(pen, zone);
    pen.strokeStyle = this.theme.halo;
    pen.lineWidth = strong ? 6 : 4;
    pen.stroke();
    pen.strokeStyle = strong ? this.theme.accent : this.theme.ink;
    pen.lineWidth = strong ? 3 : 1.75;
    pen.stroke();
  }

  drawDegrees(pen: Pen): void {
    pen.textBaseline = "top";
    pen.textAlign = "center";
    for (const [degrees, step, [[left]]] of this.graticule(true)) {
      const turned = degrees - 360 * Math.round(degrees / 360);
      if (left > 70 && left < this.width - 70) haloed(pen, degreeLabel(turned, step, "E", "W"), left, 6);
    }
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    for (const [degrees, step, [[, top]]] of this.graticule(false)) {
      if (top > 50 && top < this.height - 40) haloed(pen, degreeLabel(degrees, step, "N", "S"), 6, top);
    }
  }

  drawScaleBar(pen: Pen): void {
    const perPixel = this.projection.metresPerUnit(this.view.y) / this.view.scale;
    const longest = Math.min(120, this.width / 3) * perPixel;
    const decade = 10 ** Math.floor(Math.log10(longest));
    const metres = [5, 2, 1].map((n) => n * decade).find((n) => n <= longest)!;
    const length = metres / perPixel;
    const [left, base] = [14, this.height - 14];
    pen.beginPath();
    pen.moveTo(left, base - 5);
    pen.lineTo(left, base);
    pen.lineTo(left + length, base);
    pen.lineTo(left + length, base - 5);
    pen.stroke();
    pen.strokeStyle = pen.fillStyle = this.theme.ink;
    pen.lineWidth = 1.25;
    pen.stroke();
    pen.strokeStyle = this.theme.halo;
    pen.lineWidth = 3;
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    haloed(pen, metres >= 1000 ? `${figure(metres / 1000)} km` : `${figure(metres)} m`, left + 5, base - 3);
  }

  drawCross(pen: Pen, [x, y]: Point): void {
    const [left, top] = this.toScreen(x, y);
    pen.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      pen.moveTo(left + 3 * dx, top + 3 * dy);
      pen.lineTo(left + 9 * dx, top + 9 * dy);
    }
    pen.strokeStyle = this.theme.halo;
    pen.lineWidth = 3.5;
    pen.stroke();
    pen.strokeStyle = this.theme.ink;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}

export function haloed(pen: Pen, text: string, left: number, top: number): void {
  pen.strokeText(text, left, top);
  pen.fillText(text, left, top);
}

export function degreeLabel(degrees: number, step: number, positive: string, negative: string): string {
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const side = Math.abs(degrees) < step / 2 ? "" : degrees > 0 ? " " + positive : " " + negative;
  return `${Math.abs(degrees).toFixed(digits)}°${side}`;
}

// Whether dark colours are wanted; paper is always light.
export function isNight(): boolean {
  return matchMedia("screen and (prefers-color-scheme: dark)").matches && !document.documentElement.classList.contains("printing");
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const theme = { ramp: rampColours(isNight()) } as Theme;
  for (const name of THEME) {
    theme[name] = style.getPropertyValue(`--${name}`).trim();
  }
  return theme;
}

export class Legend {
  caption: HTMLElement;
  bar: HTMLCanvasElement;
  ticks: HTMLElement;
  pin: HTMLElement;
  none: HTMLElement;
  scale!: LogScale;

  constructor(root: HTMLElement) {
    this.caption = root.querySelector(".caption")!;
    this.bar = root.querySelector(".ramp")!;
    this.ticks = root.querySelector(".ticks")!;
    this.pin = root.querySelector(".pin")!;
    this.none = root.querySelector(".none")!;
  }

  show(scale: LogScale, theme: Pick<Theme, "ramp">, caption: string, partial: boolean): void {
    this.scale = scale;
    this.caption.textContent = this.caption.title = caption;
    this.none.hidden = !partial;
    this.bar.hidden = scale.empty;
    this.bar.width = theme.ramp.length;
    const pen = this.bar.getContext("2d")!;
    theme.ramp.forEach((colour, i) => {
      pen.fillStyle = colour;
      pen.fillRect(i, 0, 1, 1);
    });
    this.ruleTicks();
    this.point(NaN);
  }

  ruleTicks() {
    const room = Math.max(120, this.ticks.clientWidth);
    const marks = this.scale.ticks(room).map((tick) => {
      const mark = document.createElement("span");
      mark.textContent = tick.text;
      mark.style.left = `${(100 * tick.left) / room}%`;
      mark.style.width = `${(100 * (tick.right - tick.left)) / room}%`;
      return mark;
    });
    this.ticks.replaceChildren(...marks);
  }

  point(value: number): void {
    this.pin.hidden = Number.isNaN(value) || this.scale.empty;
    if (!this.pin.hidden) this.pin.style.left = `${100 * this.scale.at(value)}%`;
  }
}
