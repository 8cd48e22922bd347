// Released boxes as flat arrays: when they hold, where they lie, whose trajectory they belong to.

import { type Town } from "../map/backdrop";
import { type Box, type Point } from "../map/payload";
import { METRES_PER_DEGREE } from "../map/zones";

export interface Packed {
  least: number;
  width: 1 | 2 | 4;
  data: string;
}

export interface Grid {
  seconds: number;
  metres: number;
  start: number;
  clock: string;
}

export interface PackedFilm {
  start: number;
  length: number;
  west: number;
  south: number;
  cell: number;
  bins: number;
  rows: number;
  columns: number;
  zero: number;
  steps: number;
  present: number[];
  shades: string;
}

export interface Lattice {
  lon: number[][] | null;
  lat: number[][] | null;
  west: number;
  south: number;
  step: number;
}

export interface TrajectoryPayload {
  grid: Grid;
  moved: boolean;
  released: { trajectories: number; samples: number };
  pseudonyms: string[];
  lengths: Packed;
  boxes: Record<"t" | "x" | "y" | "lasts" | "wide" | "high", Packed>;
  home: Box;
  degrees: Lattice;
  film: PackedFilm | null;
  // What lies behind and between the boxes, where the owner asked for it.
  towns?: Town[];
  background?: GeoJSON.FeatureCollection;
}

// Whole numbers above the least one, in base 64.
export function unpack({ least, width, data }: Packed): Float64Array {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const kind = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array }[width];
  return Float64Array.from(new kind(bytes.buffer), (above) => least + above);
}

export class ReleasedBoxes {
  name: string[];
  lasts: Float64Array;
  from: Float64Array;
  until: Float64Array;
  west: Float64Array;
  east: Float64Array;
  south: Float64Array;
  north: Float64Array;
  km: Float64Array[];
  km2: Float64Array;
  seconds: Float64Array;
  size: number;
  order: Uint32Array;
  found: Uint32Array;
  first!: Uint32Array;
  owner!: Uint32Array;

  constructor(release: TrajectoryPayload) {
    const { boxes, grid } = release;
    const unit = grid.metres / METRES_PER_DEGREE;
    const [wide, high] = [unpack(boxes.wide), unpack(boxes.high)];
    this.name = release.pseudonyms;
    this.lasts = unpack(boxes.lasts);
    this.from = unpack(boxes.t);
    this.until = this.from.map((step, i) => step + this.lasts[i]);
    this.west = unpack(boxes.x).map((step) => step * unit);
    this.east = this.west.map((edge, i) => edge + wide[i] * unit);
    this.south = unpack(boxes.y).map((step) => step * unit);
    this.north = this.south.map((edge, i) => edge + high[i] * unit);
    this.km = [wide, high].map((side) => side.map((steps) => (steps * grid.metres) / 1000));
    this.km2 = this.km[0].map((km, i) => km * this.km[1][i]);
    this.seconds = this.lasts.map((steps) => steps * grid.seconds);
    this.size = this.from.length;
    this.own(unpack(release.lengths));
    // Largest first: drawn in this order, small boxes stay visible on large ones.
    this.order = Uint32Array.from(this.from.keys()).sort((a, b) => this.km2[b] - this.km2[a] || a - b);
    this.found = new Uint32Array(this.size);
  }

  own(lengths: Float64Array): void {
    this.first = new Uint32Array(lengths.length + 1);
    this.owner = new Uint32Array(this.size);
    lengths.forEach((length, row) => {
      this.first[row + 1] = this.first[row] + length;
      this.owner.fill(row, this.first[row], this.first[row + 1]);
    });
  }

  // Boxes that hold at some moment from `start` until before `end`, largest first.
  active(start: number, end: number): Uint32Array {
    let held = 0;
    for (const i of this.order) {
      if (this.from[i] < end && this.until[i] > start) this.found[held++] = i;
    }
    return this.found.subarray(0, held);
  }

  // Those of `active` at a place, smallest first; boxes narrower than `reach` are dots of that width.
  at(active: ArrayLike<number>, x: number, y: number, reach: number): number[] {
    const here: number[] = [];
    for (let p = active.length - 1; p >= 0; p--) {
      const i = active[p];
      const [dx, dy] = [this.east[i] - this.west[i], this.north[i] - this.south[i]].map((side) => Math.max(0, reach - side) / 2);
      if (x < this.west[i] - dx || x > this.east[i] + dx || y < this.south[i] - dy || y > this.north[i] + dy) continue;
      here.push(i);
    }
    return here;
  }

  centre(i: number): Point {
    return [(this.west[i] + this.east[i]) / 2, (this.south[i] + this.north[i]) / 2];
  }

  // [least, most] over all trajectories of this page.
  get span(): Point {
    let [least, most] = [Infinity, -Infinity];
    for (let i = 0; i < this.size; i++) {
      if (this.from[i] < least) least = this.from[i];
      if (this.until[i] > most) most = this.until[i];
    }
    return [least, most];
  }
}

// How many trajectories are where, as painted ahead from all of them: one small picture a bin of time.
export class Film {
  start: number;
  length: number;
  bins: number;
  rows: number;
  columns: number;
  present: number[];
  shades: Uint8Array;
  perKm2: Float64Array;
  box: Box;
  span: Point;
  sum: Float64Array;
  most: number;

  constructor(film: PackedFilm, grid: Grid) {
    this.start = film.start;
    this.length = film.length;
    this.bins = film.bins;
    this.rows = film.rows;
    this.columns = film.columns;
    this.present = film.present;
    this.shades = Uint8Array.from(atob(film.shades), (letter) => letter.charCodeAt(0));
    const km = (film.cell * grid.metres) / 1000;
    this.perKm2 = Float64Array.from({ length: 256 }, (_, shade) => (shade ? 2 ** ((shade - film.zero) / film.steps) / km ** 2 : 0));
    const unit = grid.metres / METRES_PER_DEGREE;
    this.box = [film.west, film.south, film.west + film.columns * film.cell, film.south + film.rows * film.cell].map((step) => step * unit) as Box;
    this.span = [film.start, film.start + film.bins * film.length];
    this.sum = new Float64Array(film.rows * film.columns);
    this.most = this.perKm2[this.shades.reduce((most, shade) => Math.max(most, shade), 0)];
  }

  // Trajectories per km² of every cell, from the south, averaged over the bins that a time touches.
  density(start: number, end: number): Float64Array {
    const first = Math.max(0, Math.floor((start - this.start) / this.length));
    const last = Math.min(this.bins, Math.max(first + 1, Math.ceil((end - this.start) / this.length)));
    const cells = this.sum.length;
    this.sum.fill(0);
    for (let bin = first; bin < last; bin++) {
      for (let cell = 0; cell < cells; cell++) this.sum[cell] += this.perKm2[this.shades[bin * cells + cell]];
    }
    for (let cell = 0; cell < cells; cell++) this.sum[cell] /= Math.max(1, last - first);
    return this.sum;
  }
}

// Longitudes and latitudes of a lattice of points, and of any place between them.
export class Degrees {
  known: boolean;
  tables: [number[][], number[][]];
  west: number;
  south: number;
  step: number;

  constructor({ lon, lat, west, south, step }: Lattice, metres: number) {
    this.known = lon !== null;
    this.tables = [lon ?? [], lat ?? []];
    const unit = metres / METRES_PER_DEGREE;
    [this.west, this.south, this.step] = [west * unit, south * unit, step * unit];
  }

  // The place of a longitude and a latitude: degrees run nearly evenly, so that few steps lead there.
  place([lon, lat]: number[]): Point {
    const half = (this.step * (this.tables[0].length - 1)) / 2;
    let [x, y] = [this.west + half, this.south + half];
    for (let turn = 0; turn < 6; turn++) {
      const here = this.at(x, y);
      const [east, north] = [this.at(x + this.step, y), this.at(x, y + this.step)];
      const [a, b, c, d] = [east[0] - here[0], north[0] - here[0], east[1] - here[1], north[1] - here[1]];
      const far = lon - here[0];
      const [dx, dy] = [far - 360 * Math.round(far / 360), lat - here[1]];
      const area = a * d - b * c;
      x += (this.step * (d * dx - b * dy)) / area;
      y += (this.step * (a * dy - c * dx)) / area;
    }
    return [x, y];
  }

  at(x: number, y: number): Point {
    const last = this.tables[0].length - 2;
    const [across, up] = [(x - this.west) / this.step, (y - this.south) / this.step];
    const [column, row] = [across, up].map((place) => Math.max(0, Math.min(last, Math.floor(place))));
    const [a, b] = [across - column, up - row];
    return this.tables.map(
      (table) =>
        (1 - b) * ((1 - a) * table[row][column] + a * table[row][column + 1]) +
        b * ((1 - a) * table[row + 1][column] + a * table[row + 1][column + 1]),
    ) as Point;
  }
}
