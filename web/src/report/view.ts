// What both kinds of map can do: that of the graphics card and the light one.

import { type Theme } from "../map/panel";
import { type Axis, type Point } from "../map/payload";
import { type Line } from "./model";

export interface Seen {
  centre: Point;
  // Of Web Mercator, as the graphics card's map has it: the world is 512 pixels wide at 0.
  zoom: number;
}

export interface Wanted {
  axis: Axis;
  // A zone of that axis, or -1.
  chosen: number;
  flows: boolean;
  within: boolean;
  lines: Line[];
}

export interface MapView {
  seen: Seen;
  moved: (() => void) | null;
  pointed: ((zone: number, place: Point | null) => void) | null;
  chosen: ((zone: number) => void) | null;
  look(seen: Seen): void;
  whole(): void;
  draw(wanted: Wanted, theme: Theme): void;
  resize(): void;
  remove(): void;
}
