// The page: reads the release, keeps time, view and what is followed, and asks the parts to draw.

import { tell } from "../map/telling";
import { Backdrop } from "../map/backdrop";
import { Gestures } from "../map/gestures";
import { degreeLabel, readTheme } from "../map/panel";
import { type Box, type Point } from "../map/payload";
import { LogScale } from "../map/scale";
import { METRES_PER_DEGREE, View } from "../map/zones";
import { Degrees, Film, ReleasedBoxes, type TrajectoryPayload } from "./boxes";
import { Clock, HOUR, duration } from "./clock";
import { BoxPanel, DOT, type Frame, GRAIN, rampBytes } from "./panel";
import { TrajectorySide } from "./side";

interface Pointer {
  place: Point;
  at: Point;
  keys: boolean;
}

export const PROBES = 24; // moments at which density is taken, so that its colours mean the same at all times
export const DECADES = 1000; // how far apart the ends of the scale of density are
export const LOAD = 240; // bars of the chart of activity

export class WideView extends View {
  // The limits of zooming stay those of home.
  show([west, south, east, north]: Box, width: number, height: number): void {
    const scale = 0.8 * Math.min(width / Math.max(east - west, 1e-9), height / Math.max(north - south, 1e-9));
    this.scale = Math.max(this.least, Math.min(this.most, scale));
    [this.x, this.y] = [(west + east) / 2, (south + north) / 2];
    this.moved = true;
  }
}

export class TimeMap {
  boxes: ReleasedBoxes;
  film: Film | null;
  view: WideView;
  panel: BoxPanel;
  clock: Clock;
  side: TrajectorySide;
  mode: HTMLSelectElement;
  scales: Record<string, LogScale>;
  scale!: LogScale;
  tip: HTMLElement;
  speech: HTMLElement;
  pointer: Pointer | null = null;
  here: number[] = [];
  active: Uint32Array = new Uint32Array(0);
  frame = 0;

  constructor(release: TrajectoryPayload) {
    const { grid } = release;
    this.boxes = new ReleasedBoxes(release);
    this.film = release.film && new Film(release.film, grid);
    const home = release.home.map((step) => (step * grid.metres) / METRES_PER_DEGREE) as Box;
    this.view = new WideView(home, this.everything(home));
    const root = document.querySelector<HTMLElement>(".panel")!;
    const degrees = new Degrees(release.degrees, grid.metres);
    this.panel = new BoxPanel(root, this.boxes, degrees, this.view);
    if (degrees.known) this.panel.backdrop = new Backdrop(release.towns ?? [], release.background ?? null, (at) => degrees.place(at));
    this.clock = new Clock(root, grid, this.film ? this.film.span : this.boxes.span, this.load(), () => this.touch());
    const told = {
      follow: (row: number) => this.follow(row),
      visit: (i: number) => this.visit(i),
      near: (row: number) => this.near(row),
    };
    this.side = new TrajectorySide(document.querySelector(".side")!, this.boxes, release, this.clock, told);
    this.mode = root.querySelector("[name=show]")!;
    this.mode.value = this.film ? "density" : "area";
    this.scales = { area: new LogScale(this.boxes.km2), time: new LogScale(this.boxes.seconds) };
    this.tip = document.querySelector(".tip")!;
    this.speech = document.querySelector(".spoken")!;
    this.side.follow(-1);
    this.openWindow();
    this.listen(root);
  }

  everything([west, south, east, north]: Box): Box {
    const { boxes } = this;
    const least = (side: Float64Array, start: number): number => side.reduce((a, b) => Math.min(a, b), start);
    const most = (side: Float64Array, start: number): number => side.reduce((a, b) => Math.max(a, b), start);
    return [least(boxes.west, west), least(boxes.south, south), most(boxes.east, east), most(boxes.north, north)];
  }

  // How many boxes hold at moments evenly over the span.
  load(): number[] {
    if (this.film) return this.film.present;
    const { boxes } = this;
    const [least, most] = boxes.span;
    const change = new Float64Array(LOAD + 1);
    const bar = (step: number): number => Math.max(0, Math.min(LOAD, Math.floor(((step - least) / (most - least)) * LOAD)));
    for (let i = 0; i < boxes.size; i++) {
      change[bar(boxes.from[i])] += 1;
      change[Math.max(bar(boxes.from[i]) + 1, bar(boxes.until[i]))] -= 1;
    }
    for (let n = 1; n < LOAD; n++) change[n] += change[n - 1];
    return Array.from(change.subarray(0, LOAD));
  }

  // The first window: short, but long enough to show something at most times.
  openWindow() {
    const { boxes, clock } = this;
    const all = clock.most - clock.least;
    const wanted = Math.min(60, boxes.size / 4);
    const lasting = boxes.lasts.reduce((sum, steps) => sum + steps, 0);
    const lengths = Array.from(clock.lengths.options, (option) => Number(option.value) / clock.grid.seconds);
    const least = this.film ? this.film.length : 0;
    const enough = lengths.findIndex((length) => length >= least && (lasting + boxes.size * length) / all >= wanted);
    clock.lengths.selectedIndex = enough < 0 ? lengths.length - 1 : enough;
    const busiest = clock.load.indexOf(clock.load.reduce((a, b) => Math.max(a, b), 0));
    clock.start = clock.least + ((busiest + 0.5) / clock.load.length) * all - clock.length / 2;
    clock.start = Math.max(clock.least, Math.min(clock.last, clock.start));
  }

  listen(root: HTMLElement): void {
    const { panel, clock } = this;
    const middle = (): Point => [panel.width / 2, panel.height / 2];
    const zoom = (factor: number, place?: Point): void => {
      const [left, top] = place || middle();
      this.view.zoom(factor, left - panel.width / 2, top - panel.height / 2);
      this.leave();
    };
    const home = () => (this.view.fit(panel.width, panel.height), this.leave());
    new Gestures(panel.stage, {
      pan: (dx, dy) => (this.view.pan(dx, dy), this.leave()),
      zoom,
      reset: home,
      point: (place) => this.point(place),
      leave: () => this.leave(),
      centre: () => (this.point(middle(), true), this.speak()),
      choose: (place) => this.choose(place || middle()),
    });
    root.querySelector(".nearer")!.addEventListener("click", () => zoom(1.6));
    root.querySelector(".farther")!.addEventListener("click", () => zoom(1 / 1.6));
    root.querySelector(".whole")!.addEventListener("click", home);
    this.mode.addEventListener("change", () => this.recolour());
    clock.lengths.addEventListener("change", () => this.recolour());
    document.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("scroll", () => this.leave(), { passive: true });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolour());
    const sizes = new ResizeObserver(() => this.resize());
    for (const part of [panel.stage, clock.chart]) sizes.observe(part);
    this.resize();
  }

  key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.target as Element).matches("input[type=text]")) return;
    const { clock, side } = this;
    const some = this.boxes.name.length;
    const actions: Record<string, () => void> = {
      p: () => clock.play(!clock.playing),
      ",": () => clock.step(-1),
      ".": () => clock.step(1),
      "[": () => (clock.widen(-1), this.recolour()),
      "]": () => (clock.widen(1), this.recolour()),
      d: () => ((this.mode.value = this.mode.value === "density" ? "area" : "density"), this.recolour()),
      n: () => this.follow((side.followed + 1) % some),
      b: () => this.follow((Math.max(side.followed, 0) + some - 1) % some),
      z: () => {
        if (side.followed >= 0) this.near(side.followed);
      },
      Escape: () => this.follow(-1),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  resize() {
    this.panel.resize();
    if (!this.view.moved) this.view.fit(this.panel.width, this.panel.height);
    this.recolour();
    this.clock.resize();
  }

  recolour() {
    const theme = readTheme();
    theme.shades = rampBytes(theme.ramp);
    this.panel.theme = this.clock.theme = theme;
    const captions: Record<string, string> = {
      area: "Area of each box in km², log scale",
      time: "How long each box lasts in hours, log scale",
      density: `Released trajectories per km²${this.film ? `, averaged over ${duration(this.film.length * this.clock.grid.seconds)}` : ""}, log scale`,
    };
    const scale = this.mode.value === "density" ? this.densityScale() : this.scales[this.mode.value];
    this.scale = scale;
    // Hours, for the eye; the scale itself goes by seconds.
    const shown = this.mode.value === "time" ? new LogScale([scale.low / HOUR, scale.high / HOUR]) : scale;
    // Fine boxes in the strongest colours: they say most, and large ones lie under all others.
    const ramp = this.mode.value === "density" ? theme.ramp : [...theme.ramp].reverse();
    this.panel.legend.show(shown, { ...theme, ramp }, captions[this.mode.value], false);
    this.clock.draw();
    this.touch();
  }

  densityScale(): LogScale {
    if (this.film) return new LogScale([this.film.most / DECADES, this.film.most]);
    const { clock, boxes, panel } = this;
    let most = 0;
    for (let n = 0; n < PROBES; n++) {
      const start = clock.least + ((clock.last - clock.least) * n) / (PROBES - 1);
      const { values } = panel.densityOf(boxes.active(start, start + clock.length), start, start + clock.length);
      most = values.reduce((a, b) => Math.max(a, b), most);
    }
    return new LogScale(most > 0 ? [most / DECADES, most] : []);
  }

  point(place: Point, keys = false): void {
    const [x, y] = this.panel.toPlane(place);
    this.pointer = { place, at: [x, y], keys };
    this.touch();
  }

  leave() {
    this.pointer = null;
    this.touch();
  }

  // Boxes that can be pointed at: those of the trajectory that is followed, else those that are drawn.
  pointable(): ArrayLike<number> {
    const { followed } = this.side;
    if (followed >= 0) return this.active.filter((i) => this.boxes.owner[i] === followed);
    return this.mode.value === "density" ? [] : this.active;
  }

  choose(place: Point): void {
    const [x, y] = this.panel.toPlane(place);
    const [i] = this.boxes.at(this.mode.value === "density" ? [] : this.active, x, y, DOT / this.view.scale);
    const row = i === undefined ? -1 : this.boxes.owner[i];
    this.follow(row === this.side.followed ? -1 : row);
  }

  follow(row: number): void {
    if (row < 0 && this.side.followed < 0) return;
    this.side.follow(row);
    tell(row < 0 ? {} : { trajectory: this.boxes.name[row] });
    if (row >= 0) {
      const { boxes, clock } = this;
      const own = Array.from({ length: boxes.first[row + 1] - boxes.first[row] }, (_, n) => boxes.first[row] + n);
      if (!own.some((i) => boxes.from[i] < clock.end && boxes.until[i] > clock.start)) this.visit(own[0]);
    }
    this.speech.textContent = row < 0 ? "No trajectory is followed." : `Following trajectory ${this.boxes.name[row]}.`;
    this.touch();
  }

  // Shows all boxes of a trajectory as large as can be.
  near(row: number): void {
    const { boxes, panel } = this;
    const [first, end] = [boxes.first[row], boxes.first[row + 1]];
    const least = (side: Float64Array): number => side.subarray(first, end).reduce((a, b) => Math.min(a, b));
    const most = (side: Float64Array): number => side.subarray(first, end).reduce((a, b) => Math.max(a, b));
    this.view.show([least(boxes.west), least(boxes.south), most(boxes.east), most(boxes.north)], panel.width, panel.height);
    this.leave();
  }

  // Goes to the time of a box.
  visit(i: number): void {
    const { boxes, clock } = this;
    clock.play(false);
    clock.go((boxes.from[i] + boxes.until[i] - clock.length) / 2);
  }

  speak() {
    this.paint();
    this.speech.textContent = this.here.length ? this.side.spoken(this.here[0]) : "No box here.";
  }

  touch() {
    this.frame = this.frame || requestAnimationFrame(() => this.paint());
  }

  paint() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const { boxes, clock, panel, side, scale } = this;
    this.active = boxes.active(clock.start, clock.end);
    const pen = panel.begin();
    const values = this.mode.value === "time" ? boxes.seconds : boxes.km2;
    // Boxes let streets through; a density would hide them.
    const boxed = this.mode.value !== "density";
    if (boxed) panel.drawStreets(pen);
    if (boxed) panel.drawBoxes(pen, this.active, (i) => 255 - scale.colourIndex(values[i]), side.followed >= 0);
    else if (this.film) panel.drawFilm(pen, this.film, clock.start, clock.end, scale);
    else if (!scale.empty) panel.drawDensity(pen, panel.densityOf(this.active, clock.start, clock.end), scale, this.cells());
    if (!boxed) panel.drawStreets(pen);
    if (side.followed >= 0) panel.drawPath(pen, side.followed, clock.start, clock.end);
    side.tell(this.active);
    this.annotate(values);
  }

  // Where the cells of density lie: one row and one column beyond the edge are there for sums alone.
  cells(): Frame {
    const { width, height } = this.panel;
    return [0, 0, (Math.ceil(width / GRAIN) + 1) * GRAIN, (Math.ceil(height / GRAIN) + 1) * GRAIN];
  }

  annotate(values: Float64Array): void {
    const { boxes, clock, panel, pointer } = this;
    this.here = pointer ? boxes.at(this.pointable(), ...pointer.at, DOT / this.view.scale) : [];
    panel.drawOver(this.here.length ? this.here[0] : -1, pointer && pointer.keys ? pointer.at : null);
    const hovered = this.here.length ? values[this.here[0]] : NaN;
    panel.legend.point(this.mode.value === "time" ? hovered / HOUR : this.mode.value === "area" ? hovered : NaN);
    panel.root.querySelector(".when")!.textContent = clock.words(clock.start, clock.end);
    const where = panel.root.querySelector(".where")!;
    if (pointer && panel.degrees.known) {
      const [lon, lat] = panel.degrees.at(...pointer.at);
      where.textContent = `${degreeLabel(lat, 0.001, "N", "S")}, ${degreeLabel(lon - 360 * Math.round(lon / 360), 0.001, "E", "W")}`;
    } else where.textContent = "";
    this.showTip();
  }

  showTip() {
    const { here, pointer, tip } = this;
    tip.hidden = !here.length;
    if (tip.hidden || !pointer) return;
    this.side.fillTip(tip, here);
    const frame = this.panel.stage.getBoundingClientRect();
    const [left, top] = [frame.left + pointer.place[0], frame.top + pointer.place[1]];
    const right = left + 18 + tip.offsetWidth < innerWidth;
    const below = top + 18 + tip.offsetHeight < innerHeight;
    tip.style.left = `${Math.max(4, right ? left + 16 : left - 16 - tip.offsetWidth)}px`;
    tip.style.top = `${Math.max(4, below ? top + 16 : top - 16 - tip.offsetHeight)}px`;
  }
}
