// The map: boxes of a time, the trajectory that is followed, or how many trajectories are where.

import { GRATICULE_STEPS, type Parallel, Panel } from "../map/panel";
import { type Point } from "../map/payload";
import { type LogScale } from "../map/scale";
import { METRES_PER_DEGREE, type View, type Zones } from "../map/zones";
import { type Degrees, type Film, type ReleasedBoxes } from "./boxes";

type Pen = CanvasRenderingContext2D;

// Left, top, width and height on the screen.
export type Frame = [number, number, number, number];

export interface Density {
  values: Float64Array;
  columns: number;
  rows: number;
}

export const DOT = 3; // pixels: below this a box is drawn as a dot, so that it never disappears
export const GRAIN = 4; // pixels a cell of density is wide

export class BoxPanel extends Panel {
  boxes: ReleasedBoxes;
  degrees: Degrees;
  picture: HTMLCanvasElement;
  // Lines behind the boxes as last drawn, and of which view: while time goes by they stay as they are.
  streets = document.createElement("canvas");
  streetsOf = "";

  constructor(root: HTMLElement, boxes: ReleasedBoxes, degrees: Degrees, view: View) {
    super(root, { size: 0 } as Zones, { metresPerUnit: () => METRES_PER_DEGREE, squeeze: 1, meridian: 0 }, view);
    this.boxes = boxes;
    this.degrees = degrees;
    this.picture = document.createElement("canvas");
  }

  begin(): Pen {
    const pen = this.ground.getContext("2d")!;
    pen.setTransform(this.density, 0, 0, this.density, 0, 0);
    pen.fillStyle = this.theme.ground;
    pen.fillRect(0, 0, this.width, this.height);
    this.drawGraticule(pen);
    this.backdrop?.drawGrounds(pen, (x, y) => this.toScreen(x, y), this.theme);
    return pen;
  }

  drawStreets(pen: Pen): void {
    if (!this.backdrop?.drawn) return;
    const { x, y, scale } = this.view;
    const shown = [x, y, scale, this.width, this.height, this.density, this.theme.quiet].join();
    if (shown !== this.streetsOf) {
      this.streetsOf = shown;
      [this.streets.width, this.streets.height] = [this.ground.width, this.ground.height];
      const brush = this.streets.getContext("2d")!;
      brush.setTransform(this.density, 0, 0, this.density, 0, 0);
      this.backdrop.drawLines(brush, (east, north) => this.toScreen(east, north), this.theme);
    }
    pen.drawImage(this.streets, 0, 0, this.width, this.height);
  }

  // Left, top, width and height on the screen; a dot where that is less.
  frame(i: number): Frame {
    const { boxes } = this;
    const [left, top] = this.toScreen(boxes.west[i], boxes.north[i]);
    const [right, bottom] = this.toScreen(boxes.east[i], boxes.south[i]);
    const [width, height] = [Math.max(DOT, right - left), Math.max(DOT, bottom - top)];
    return [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
  }

  inSight([left, top, width, height]: Frame): boolean {
    return left < this.width && top < this.height && left + width > 0 && top + height > 0;
  }

  // colour: box to a place on the ramp; pale: whether all are to stay in the background.
  drawBoxes(pen: Pen, active: Uint32Array, colour: (i: number) => number, pale: boolean): void {
    const many = Math.min(1, Math.sqrt(250 / Math.max(1, active.length)));
    for (const i of active) {
      const frame = this.frame(i);
      if (!this.inSight(frame)) continue;
      const size = Math.sqrt(frame[2] * frame[3]);
      pen.fillStyle = pen.strokeStyle = pale ? this.theme.quiet : this.theme.ramp[colour(i)];
      pen.globalAlpha = Math.max(0.03, Math.min(0.85, 16 / size) * (size < 8 ? 1 : many)) * (pale ? 0.35 : 1);
      // In the background many large boxes would add up to a fog.
      if (!pale || size < 40) pen.fillRect(...frame);
      if (size < 8) continue;
      pen.globalAlpha = Math.max(0.14, many * 0.9) * (pale ? 0.4 : 1);
      pen.lineWidth = 1;
      pen.strokeRect(...frame);
    }
    pen.globalAlpha = 1;
  }

  // Trajectories per km² of the active boxes on cells of the screen, each spread evenly over its box.
  densityOf(active: Uint32Array, start: number, end: number): Density {
    const [columns, rows] = [Math.ceil(this.width / GRAIN), Math.ceil(this.height / GRAIN)];
    const change = new Float64Array((columns + 1) * (rows + 1));
    const km2 = ((GRAIN / this.view.scale) * (METRES_PER_DEGREE / 1000)) ** 2;
    const add = (row: number, column: number, weight: number): number => (change[Math.max(0, Math.min(rows, row)) * (columns + 1) + Math.max(0, Math.min(columns, column))] += weight);
    for (const i of active) {
      const [left, top, width, height] = this.frame(i);
      const [west, north] = [Math.floor(left / GRAIN), Math.floor(top / GRAIN)];
      const [east, south] = [Math.max(west + 1, Math.round((left + width) / GRAIN)), Math.max(north + 1, Math.round((top + height) / GRAIN))];
      const share = (Math.min(this.boxes.until[i], end) - Math.max(this.boxes.from[i], start)) / (end - start);
      const weight = share / ((east - west) * (south - north) * km2);
      add(north, west, weight);
      add(north, east, -weight);
      add(south, west, -weight);
      add(south, east, weight);
    }
    for (let row = 0; row <= rows; row++) {
      for (let column = 0, along = 0; column <= columns; column++) {
        const cell = row * (columns + 1) + column;
        along += change[cell];
        change[cell] = along + (row ? change[cell - columns - 1] : 0);
      }
    }
    return { values: change, columns: columns + 1, rows: rows + 1 };
  }

  drawDensity(pen: Pen, { values, columns, rows }: Density, scale: LogScale, place: Frame): void {
    this.picture.width = columns;
    this.picture.height = rows;
    const brush = this.picture.getContext("2d")!;
    const image = brush.createImageData(columns, rows);
    const shades = this.theme.shades!;
    for (let cell = 0; cell < values.length; cell++) {
      // Sums of what cancels leave a rest: far below the least of the scale there is nobody.
      if (!(values[cell] > scale.low / 20)) continue;
      const at = 3 * scale.colourIndex(Math.max(values[cell], scale.low));
      image.data.set([shades[at], shades[at + 1], shades[at + 2], 235], 4 * cell);
    }
    brush.putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.picture, ...place);
  }

  // Row 0 of a film lies in the south, row 0 of a picture in the north.
  drawFilm(pen: Pen, film: Film, start: number, end: number, scale: LogScale): void {
    const south = film.density(start, end);
    const values = new Float64Array(south.length);
    for (let row = 0; row < film.rows; row++) {
      values.set(south.subarray(row * film.columns, (row + 1) * film.columns), (film.rows - 1 - row) * film.columns);
    }
    const [left, top] = this.toScreen(film.box[0], film.box[3]);
    const [right, bottom] = this.toScreen(film.box[2], film.box[1]);
    this.drawDensity(pen, { values, columns: film.columns, rows: film.rows }, scale, [left, top, right - left, bottom - top]);
  }

  // All boxes of one trajectory in their sequence: gone ones joined by a line, coming ones by dashes.
  drawPath(pen: Pen, row: number, start: number, end: number): void {
    const { boxes, theme } = this;
    const own = Array.from({ length: boxes.first[row + 1] - boxes.first[row] }, (_, n) => boxes.first[row] + n);
    const now = own.filter((i) => boxes.from[i] < end && boxes.until[i] > start);
    pen.strokeStyle = pen.fillStyle = theme.accent;
    pen.lineWidth = 1;
    pen.globalAlpha = Math.max(0.18, Math.min(0.55, 8 / Math.sqrt(own.length)));
    for (const i of own) pen.strokeRect(...this.frame(i));
    pen.lineWidth = 1.75;
    const gone = own.filter((i) => boxes.from[i] < end);
    const coming = own.filter((i) => boxes.until[i] > start);
    for (const [some, dash] of [[gone, []], [coming, [2, 5]]]) {
      pen.setLineDash(dash);
      pen.beginPath();
      for (const i of some) pen.lineTo(...this.toScreen(...boxes.centre(i)));
      pen.stroke();
    }
    pen.setLineDash([]);
    for (const i of now) {
      pen.globalAlpha = 0.22;
      pen.fillRect(...this.frame(i));
      pen.globalAlpha = 1;
      pen.lineWidth = 2.5;
      pen.strokeRect(...this.frame(i));
    }
    pen.globalAlpha = 1;
  }

  outline(pen: Pen, i: number): void {
    const strokes: [string, number][] = [[this.theme.halo, 4.5], [this.theme.ink, 2]];
    for (const [colour, width] of strokes) {
      pen.strokeStyle = colour;
      pen.lineWidth = width;
      pen.strokeRect(...this.frame(i));
    }
  }

  drawOver(hovered: number, cross: Point | null): void {
    this.drawMarks([], cross);
    const pen = this.marks.getContext("2d")!;
    if (hovered >= 0) this.outline(pen, hovered);
  }

  degreesAt(left: number, top: number): Point {
    return this.degrees.at(...this.toPlane([left, top]));
  }

  // Meridians or parallels in sight: degrees, step between them, and the pixels they run through.
  override graticule(upright: boolean): Parallel[] {
    if (!this.degrees.known) return [];
    const [axis, length, across] = upright ? [0, this.width, this.height] : [1, this.height, this.width];
    const value = (along: number, aside: number): number =>
      (upright ? this.degreesAt(along, aside) : this.degreesAt(aside, along))[axis];
    const ends = [0, across].flatMap((aside) => [value(0, aside), value(length, aside)]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const perDegree = length / Math.max(1e-9, Math.abs(ends[1] - ends[0]));
    const step = GRATICULE_STEPS.filter((degrees) => degrees * perDegree >= 84).pop() || 30;
    const lines: Parallel[] = [];
    for (let n = Math.ceil(low / step); n * step <= high && lines.length < 60; n++) {
      const points = Array.from({ length: 9 }, (_, part): Point => {
        const aside = (across * part) / 8;
        const [first, last] = [value(0, aside), value(length, aside)];
        let along = (length * (n * step - first)) / (last - first);
        // Degrees run nearly, not quite, evenly across the screen.
        for (let turn = 0; turn < 2; turn++) along += (length * (n * step - value(along, aside))) / (last - first);
        return upright ? [along, aside] : [aside, along];
      });
      lines.push([n * step, step, points]);
    }
    return lines;
  }
}

// The ramp as bytes, for pictures.
export function rampBytes(ramp: string[]): Uint8ClampedArray {
  return Uint8ClampedArray.from(ramp.flatMap((colour) => colour.match(/\d+/g)!.map(Number)));
}
