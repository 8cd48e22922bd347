// The time that is shown: a window that a slider, a chart, a button and keys move.

import { type Theme } from "../map/panel";
import { significant } from "../map/scale";
import { element } from "../map/side";
import { type Grid } from "./boxes";

export const MINUTE = 60;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const LENGTHS = [1, 5, 15, 30].map((n) => n * MINUTE).concat([1, 2, 3, 6, 12].map((n) => n * HOUR), [1, 2, 7, 14, 28, 91].map((n) => n * DAY));
export const THUMB = 8; // pixels: half the slider's handle, so that chart and slider lie one above the other

export const written = new Intl.DateTimeFormat("en-GB", {
  timeZone: "UTC", weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
});
export const dayOnly = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
export const monthOnly = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "short", year: "numeric" });
export const yearOnly = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", year: "numeric" });
export const hourOnly = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export function duration(seconds: number): string {
  const [size, unit]: [number, string] = seconds >= DAY ? [DAY, "day"] : seconds >= HOUR ? [HOUR, "h"] : seconds >= MINUTE ? [MINUTE, "min"] : [1, "s"];
  const value = significant.format(seconds / size);
  return `${value} ${unit === "day" && value !== "1" ? "days" : unit}`;
}

type Choice = [number, string];

export class Clock {
  root: HTMLElement;
  grid: Grid;
  load: number[];
  told: () => void;
  least: number;
  most: number;
  chart: HTMLCanvasElement;
  slider: HTMLInputElement;
  button: HTMLElement;
  pace: HTMLSelectElement;
  lengths: HTMLSelectElement;
  start: number;
  playing = false;
  theme: Theme | undefined;

  // load: how many boxes hold at each of many moments, evenly over the span.
  constructor(root: HTMLElement, grid: Grid, span: [number, number], load: number[], told: () => void) {
    this.root = root;
    this.grid = grid;
    this.load = load;
    this.told = told;
    [this.least, this.most] = span;
    this.chart = root.querySelector(".activity")!;
    this.slider = root.querySelector(".slider")!;
    this.button = root.querySelector(".play")!;
    this.pace = root.querySelector("[name=speed]")!;
    this.lengths = root.querySelector("[name=window]")!;
    this.start = this.least;
    this.offer();
    this.listen();
  }

  // Lengths of time to choose from: windows up to all there is, speeds that show it in seconds to minutes.
  offer() {
    const { seconds } = this.grid;
    const all = (this.most - this.least) * seconds;
    const windows = LENGTHS.filter((length) => length >= seconds && length < all);
    this.fill(this.lengths, [...windows.map((length): Choice => [length, duration(length)]), [all, "all the time"]]);
    const speeds = LENGTHS.filter((length) => all / length >= 4 && all / length <= 900);
    this.fill(this.pace, (speeds.length ? speeds : [Math.max(1, all / 20)]).map((length): Choice => [length, `${duration(length)} a second`]));
    const wanted = all / 45;
    this.pace.selectedIndex = this.nearest(this.pace, wanted);
    this.slider.min = String(this.least);
  }

  fill(select: HTMLSelectElement, options: Choice[]): void {
    select.replaceChildren(...options.map(([value, words]) => element("option", { value }, words)));
  }

  nearest(select: HTMLSelectElement, wanted: number): number {
    const away = Array.from(select.options, (option) => Math.abs(Math.log(Number(option.value) / wanted)));
    return away.indexOf(Math.min(...away));
  }

  listen() {
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => this.sliderKey(event));
    this.lengths.addEventListener("change", () => this.go(this.start));
    this.button.addEventListener("click", () => this.play(!this.playing));
    const drag = (event: PointerEvent): void => {
      if (event.type === "pointermove" && !event.buttons) return;
      if (event.type === "pointerdown") this.chart.setPointerCapture(event.pointerId);
      const share = (event.offsetX - THUMB) / (this.chart.clientWidth - 2 * THUMB);
      this.go(this.least + share * (this.most - this.least) - this.length / 2);
    };
    this.chart.addEventListener("pointerdown", drag);
    this.chart.addEventListener("pointermove", drag);
  }

  // The window in steps of time.
  get length(): number {
    return Number(this.lengths.value) / this.grid.seconds;
  }

  get end(): number {
    return this.start + this.length;
  }

  get last(): number {
    return Math.max(this.least, this.most - this.length);
  }

  go(start: number): void {
    this.start = Math.max(this.least, Math.min(this.last, start));
    this.show();
    this.told();
  }

  step(windows: number): void {
    this.play(false);
    this.go(this.start + windows * this.length);
  }

  widen(places: number): void {
    const { lengths } = this;
    lengths.selectedIndex = Math.max(0, Math.min(lengths.options.length - 1, lengths.selectedIndex + places));
    this.go(this.start);
  }

  sliderKey(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowLeft: -0.25, ArrowDown: -0.25, ArrowRight: 0.25, ArrowUp: 0.25, PageUp: 1, PageDown: -1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    this.step(steps[event.key]);
  }

  play(on: boolean): void {
    if (on && this.start >= this.last) this.start = this.least;
    this.playing = on;
    this.button.setAttribute("aria-pressed", String(on));
    this.button.title = on ? "Pause (P)" : "Play (P)";
    this.button.setAttribute("aria-label", on ? "Pause" : "Play");
    if (on) requestAnimationFrame((now) => this.tick(now, now));
  }

  tick(before: number, now: number): void {
    if (!this.playing) return;
    // A tab in the background sleeps: what it missed is not made up for.
    const passed = Math.min(0.25, Math.max(0, now - before) / 1000);
    this.go(this.start + (passed * Number(this.pace.value)) / this.grid.seconds);
    if (this.start >= this.last) return this.play(false);
    requestAnimationFrame((next) => this.tick(now, next));
  }

  date(step: number): Date {
    return new Date((this.grid.start + step * this.grid.seconds) * 1000);
  }

  // "Tue, 14 May 2024, 08:15 to 09:15 UTC"; of an unknown clock no zone is claimed
  words(from: number, until: number): string {
    const [first, last] = [this.date(from), this.date(until)];
    const sameDay = dayOnly.format(first) === dayOnly.format(last) && last.getTime() - first.getTime() < DAY * 1000;
    return `${written.format(first)} to ${sameDay ? hourOnly.format(last) : written.format(last)}${this.grid.clock === "UTC" ? " UTC" : ""}`;
  }

  show() {
    this.slider.max = String(this.last);
    this.slider.value = String(this.start);
    this.slider.setAttribute("aria-valuetext", this.words(this.start, this.end));
    this.draw();
  }

  resize() {
    const density = window.devicePixelRatio || 1;
    this.chart.width = Math.round(this.chart.clientWidth * density);
    this.chart.height = Math.round(this.chart.clientHeight * density);
    this.chart.getContext("2d")!.setTransform(density, 0, 0, density, 0, 0);
    this.show();
  }

  // The chart of how much is going on, with the window above it.
  draw() {
    if (!this.theme) return;
    const pen = this.chart.getContext("2d")!;
    const [width, height] = [this.chart.clientWidth, this.chart.clientHeight];
    const at = (step: number): number => THUMB + ((step - this.least) / (this.most - this.least)) * (width - 2 * THUMB);
    const base = height - 15;
    const most = this.load.reduce((a, b) => Math.max(a, b), 1e-9);
    pen.clearRect(0, 0, width, height);
    pen.fillStyle = this.theme.ramp[110];
    pen.globalAlpha = 0.55;
    const bar = (width - 2 * THUMB) / this.load.length;
    this.load.forEach((value, n) => pen.fillRect(THUMB + n * bar, base - (base - 3) * (value / most), bar + 0.3, (base - 3) * (value / most)));
    pen.globalAlpha = 1;
    this.rule(pen, at, base, width);
    const [left, right] = [at(this.start), Math.max(at(this.end), at(this.start) + 2)];
    pen.globalAlpha = 0.18;
    pen.fillStyle = pen.strokeStyle = this.theme.accent;
    pen.fillRect(left, 0, right - left, base);
    pen.globalAlpha = 1;
    pen.lineWidth = 1.5;
    pen.strokeRect(left, 0.75, right - left, base - 1.5);
  }

  // Marks at easy times, as many as fit: [second, words].
  marks(room: number): Choice[] {
    const [from, all] = [this.grid.start + this.least * this.grid.seconds, (this.most - this.least) * this.grid.seconds];
    const step = LENGTHS.find((length) => all / length <= room && length <= 14 * DAY);
    const found: Choice[] = [];
    if (step) {
      for (let second = Math.ceil(from / step) * step; second <= from + all; second += step) {
        found.push([second, (second % DAY ? hourOnly : dayOnly).format(new Date(second * 1000))]);
      }
      return found;
    }
    const months = [1, 3, 6, 12, 24, 60, 120].find((some) => all / (some * 30.4 * DAY) <= room) || 240;
    for (let month = 0, year = new Date(from * 1000).getUTCFullYear(); ; month += months) {
      const date = new Date(Date.UTC(year - (year % Math.max(1, months / 12)), month, 1));
      if (date.getTime() / 1000 > from + all) return found;
      found.push([date.getTime() / 1000, (months < 12 ? monthOnly : yearOnly).format(date)]);
    }
  }

  rule(pen: CanvasRenderingContext2D, at: (step: number) => number, base: number, width: number): void {
    pen.font = `11px ${this.theme!.font}`;
    pen.fillStyle = this.theme!.quiet;
    pen.textBaseline = "alphabetic";
    pen.textAlign = "center";
    for (const [second, words] of this.marks(Math.max(2, Math.floor(width / 90)))) {
      const left = at((second - this.grid.start) / this.grid.seconds);
      if (left < 30 || left > width - 30) continue;
      pen.fillRect(Math.round(left), base, 1, 3);
      pen.fillText(words, left, base + 13);
    }
  }
}
