// Pointer, wheel and keys on one stage, told as: pan, zoom, point, leave, choose, reset.

import { type Point } from "./payload";

export interface Told {
  pan(dx: number, dy: number): void;
  zoom(factor: number, place?: Point): void;
  reset(): void;
  point(place: Point): void;
  leave(): void;
  centre(): void;
  choose(place?: Point): void;
}

export const CLICK_SLACK = 4; // pixels a finger or mouse may slip and still mean a click

export class Gestures {
  stage: HTMLElement;
  told: Told;
  pointers: Map<number, Point>;
  slipped: number;

  constructor(stage: HTMLElement, told: Told) {
    this.stage = stage;
    this.told = told;
    this.pointers = new Map();
    this.slipped = 0;
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.up(event, true));
    stage.addEventListener("pointercancel", (event) => this.up(event, false));
    stage.addEventListener("pointerleave", (event) => this.out(event));
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("keydown", (event) => this.key(event));
    stage.addEventListener("focus", () => stage.matches(":focus-visible") && told.centre());
    stage.addEventListener("blur", () => told.leave());
  }

  place(event: MouseEvent): Point {
    const frame = this.stage.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  down(event: PointerEvent): void {
    if (event.button > 0) return;
    this.stage.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, this.place(event));
    if (this.pointers.size === 1) this.slipped = 0;
    else this.slipped = Infinity;
  }

  move(event: PointerEvent): void {
    const now = this.place(event);
    const before = this.pointers.get(event.pointerId);
    if (!before) return this.told.point(now);
    const others = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    this.slipped += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (others.length) this.pinch(others[0], before, now);
    else if (this.slipped > CLICK_SLACK) {
      this.stage.classList.add("dragging");
      this.told.pan(now[0] - before[0], now[1] - before[1]);
    }
    // Below the slack the old place is kept, so that a drag begins where the pointer went down.
    if (this.slipped > CLICK_SLACK) this.pointers.set(event.pointerId, now);
  }

  pinch(anchor: Point, before: Point, now: Point): void {
    const apart = (at: Point): number => Math.max(1, Math.hypot(at[0] - anchor[0], at[1] - anchor[1]));
    this.told.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.told.zoom(apart(now) / apart(before), [(now[0] + anchor[0]) / 2, (now[1] + anchor[1]) / 2]);
  }

  up(event: PointerEvent, done: boolean): void {
    if (!this.pointers.delete(event.pointerId)) return;
    this.stage.classList.remove("dragging");
    if (!done || this.slipped > CLICK_SLACK) return;
    this.told.choose(this.place(event));
    this.told.point(this.place(event));
  }

  // A lifted finger leaves at once; its tooltip stays until the next tap.
  out(event: PointerEvent): void {
    if (event.pointerType !== "touch" && !this.pointers.size) this.told.leave();
  }

  wheel(event: WheelEvent): void {
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    // A trackpad pinch arrives as a wheel with the control key and much smaller steps.
    const speed = event.ctrlKey ? 0.01 : 0.0016;
    const step = Math.max(-240, Math.min(240, event.deltaY * lines));
    this.told.zoom(Math.exp(-step * speed), this.place(event));
    this.told.point(this.place(event));
  }

  key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const step = event.shiftKey ? 200 : 50;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => this.told.pan(step, 0),
      ArrowRight: () => this.told.pan(-step, 0),
      ArrowUp: () => this.told.pan(0, step),
      ArrowDown: () => this.told.pan(0, -step),
      "+": () => this.told.zoom(1.5),
      "=": () => this.told.zoom(1.5),
      "-": () => this.told.zoom(1 / 1.5),
      0: () => this.told.reset(),
      Enter: () => this.told.choose(),
      " ": () => this.told.choose(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
    this.told.centre();
  }
}
