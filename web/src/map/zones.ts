// Zones as flat arrays, the local projection, and the view that both panels share.

import { type Axis, type Box, type Point, type ZoneTable, type ZoneVolume } from "./payload";

export const METRES_PER_DEGREE = 111195;
export const TINY = 3; // pixels: below this a zone is drawn as a dot, so that it never disappears
export const TINY_PARTNER = 7; // the same where only a few zones are shaded and have to be found

export class Zones {
  axis: Axis;
  table: ZoneTable;
  id: string[];
  size: number;
  volume: Float64Array;
  code: Map<string, number>;
  zoneStart!: Int32Array;
  ringStart!: Int32Array;
  x!: Float64Array;
  y!: Float64Array;
  box!: Float64Array;

  constructor(axis: Axis, table: ZoneTable, volume: ZoneVolume) {
    this.axis = axis;
    this.table = table;
    this.id = table.zone;
    this.size = table.zone.length;
    this.volume = Float64Array.from(table[volume]!, (value) => value ?? NaN);
    this.code = new Map(table.zone.map((zone, i) => [zone, i]));
    this.unpack(table.outline!);
    table.outline = null;
  }

  unpack(outlines: number[][][][]): void {
    const rings = outlines.map((polygons) => polygons.flat());
    this.zoneStart = new Int32Array(this.size + 1);
    rings.forEach((own, i) => (this.zoneStart[i + 1] = this.zoneStart[i] + own.length));
    const all = rings.flat();
    this.ringStart = new Int32Array(all.length + 1);
    all.forEach((ring, r) => (this.ringStart[r + 1] = this.ringStart[r] + ring.length / 2));
    this.x = new Float64Array(this.ringStart[all.length]);
    this.y = new Float64Array(this.x.length);
    let next = 0;
    for (const ring of all) {
      let longitude = 0;
      let latitude = 0;
      for (let p = 0; p < ring.length; p += 2) {
        longitude += ring[p];
        latitude += ring[p + 1];
        this.x[next] = longitude / 1e6;
        this.y[next++] = latitude / 1e6;
      }
    }
  }

  // From degrees to the plane of `projection`, with the box of every zone.
  project(projection: Projection): void {
    for (let p = 0; p < this.x.length; p++) this.x[p] = (this.x[p] - projection.meridian) * projection.squeeze;
    this.box = new Float64Array(4 * this.size);
    for (let i = 0; i < this.size; i++) {
      const first = this.ringStart[this.zoneStart[i]];
      const last = this.ringStart[this.zoneStart[i + 1]];
      this.box.set(extent(this.x, this.y, first, last), 4 * i);
    }
  }

  centre(i: number): Point {
    return [(this.box[4 * i] + this.box[4 * i + 2]) / 2, (this.box[4 * i + 1] + this.box[4 * i + 3]) / 2];
  }

  width(i: number): number {
    return Math.max(this.box[4 * i + 2] - this.box[4 * i], this.box[4 * i + 3] - this.box[4 * i + 1]);
  }

  // Even-odd over all rings, which is right for holes and for parts that do not overlap.
  contains(i: number, x: number, y: number): boolean {
    let inside = false;
    for (let r = this.zoneStart[i]; r < this.zoneStart[i + 1]; r++) {
      const end = this.ringStart[r + 1];
      for (let p = this.ringStart[r], q = end - 1; p < end; q = p++) {
        const crosses = this.y[p] > y !== this.y[q] > y;
        if (crosses && x < ((this.x[q] - this.x[p]) * (y - this.y[p])) / (this.y[q] - this.y[p]) + this.x[p]) {
          inside = !inside;
        }
      }
    }
    return inside;
  }

  // The smallest zone at a place among those that pass `shown`; zones are stored largest first.
  // Zones narrower than `reach` are dots of that width.
  pick(x: number, y: number, reach: number, shown: (i: number) => boolean): number {
    for (let i = this.size - 1; i >= 0; i--) {
      const b = 4 * i;
      if (x < this.box[b] - reach / 2 || x > this.box[b + 2] + reach / 2) continue;
      if (y < this.box[b + 1] - reach / 2 || y > this.box[b + 3] + reach / 2) continue;
      if (shown(i) && (this.width(i) < reach || this.contains(i, x, y))) return i;
    }
    return -1;
  }
}

export function extent(x: Float64Array, y: Float64Array, first: number, last: number): Box {
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let p = first; p < last; p++) {
    if (x[p] < west) west = x[p];
    if (x[p] > east) east = x[p];
    if (y[p] < south) south = y[p];
    if (y[p] > north) north = y[p];
  }
  return [west, south, east, north];
}

// Equirectangular, true to scale along the middle latitude; x and y in degrees of latitude.
export class Projection {
  meridian: number;
  squeeze: number;
  box: Box;

  constructor(panels: Zones[]) {
    const boxes = panels.map((zones) => extent(zones.x, zones.y, 0, zones.x.length));
    const edge = (k: number, choose: (...values: number[]) => number) => choose(...boxes.map((box) => box[k]));
    let [west, south] = [edge(0, Math.min), edge(1, Math.min)];
    let [east, north] = [edge(2, Math.max), edge(3, Math.max)];
    if (!(west <= east)) [west, south, east, north] = [-180, -90, 180, 90];
    this.meridian = (west + east) / 2;
    this.squeeze = Math.max(0.2, Math.cos((((south + north) / 2) * Math.PI) / 180));
    const reach = ((east - west) / 2) * this.squeeze;
    this.box = [-reach, south, reach, north];
  }

  // Degrees on the plane, on the side of the antimeridian where the zones are.
  place([longitude, latitude]: number[]): Point {
    const east = longitude - this.meridian;
    return [(east - 360 * Math.round(east / 360)) * this.squeeze, latitude];
  }

  longitude(x: number): number {
    const longitude = x / this.squeeze + this.meridian;
    return longitude - 360 * Math.round(longitude / 360);
  }

  metresPerUnit(latitude: number): number {
    const here = Math.max(0.05, Math.cos((Math.min(89, Math.abs(latitude)) * Math.PI) / 180));
    return (METRES_PER_DEGREE * here) / this.squeeze;
  }
}

export class View {
  box: Box;
  x: number;
  y: number;
  scale: number;
  moved: boolean;
  least = 0;
  most = Infinity;
  all: Box;

  // Home is where nearly everything lies; what lies beyond can be gone to.
  constructor(box: Box, all: Box = box) {
    this.box = box;
    this.all = all;
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.moved = false;
  }

  fit(width: number, height: number): void {
    const [west, south, east, north] = this.box;
    const margin = Math.min(30, width / 8, height / 8);
    const smallest = 100 / METRES_PER_DEGREE;
    this.x = (west + east) / 2;
    this.y = (south + north) / 2;
    this.scale = Math.min(
      (width - 2 * margin) / Math.max(east - west, smallest),
      (height - 2 * margin) / Math.max(north - south, smallest),
    );
    const whole = Math.min(width / Math.max(this.all[2] - this.all[0], smallest), height / Math.max(this.all[3] - this.all[1], smallest));
    this.least = Math.min(this.scale, whole) / 3;
    this.most = Math.max(this.scale * 8, METRES_PER_DEGREE / 0.25);
    this.moved = false;
  }

  pan(dx: number, dy: number): void {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
    this.keepInReach();
  }

  // Zooms about a point given in pixels from the middle of the panel.
  zoom(factor: number, dx: number, dy: number): void {
    const scale = Math.max(this.least, Math.min(this.most, this.scale * factor));
    this.x += dx / this.scale - dx / scale;
    this.y -= dy / this.scale - dy / scale;
    this.scale = scale;
    this.keepInReach();
  }

  keepInReach(): void {
    this.x = Math.max(this.all[0], Math.min(this.all[2], this.x));
    this.y = Math.max(this.all[1], Math.min(this.all[3], this.y));
    this.moved = true;
  }
}

const STRAY = 0.005; // the share of the volume beyond each side that does not decide on the first view
const FAR = 2; // how much wider everything must be than nearly everything before that is shown instead

// Where 99 % of the volume lies, once projected: one stray trip must not shrink the city to a dot.
export function homeOf(sides: Zones[], whole: Box): Box {
  const zones = sides.flatMap((own) => Array.from({ length: own.size }, (_, i) => ({ own, i, weight: own.volume[i] || 0 })));
  const known = zones.filter(({ own, i }) => own.box[4 * i] <= own.box[4 * i + 2]);
  const total = known.reduce((sum, { weight }) => sum + weight, 0);
  if (!(total > 0)) return whole;
  const ends = [0, 1].map((side) => {
    const sorted = known.map(({ own, i, weight }): [number, number] => [own.centre(i)[side], weight]).sort((a, b) => a[0] - b[0]);
    return [quantile(sorted, STRAY * total), quantile(sorted, (1 - STRAY) * total)];
  });
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { own, i } of known) {
    if (own.centre(i).some((at, side) => at < ends[side][0] || at > ends[side][1])) continue;
    for (const side of [0, 1]) {
      box[side] = Math.min(box[side], own.box[4 * i + side]);
      box[side + 2] = Math.max(box[side + 2], own.box[4 * i + side + 2]);
    }
  }
  const wider = [0, 1].some((side) => whole[side + 2] - whole[side] > FAR * (box[side + 2] - box[side]));
  return wider ? box : whole;
}

function quantile(sorted: [number, number][], share: number): number {
  let below = 0;
  for (const [at, weight] of sorted) {
    below += weight;
    if (below >= share) return at;
  }
  return sorted[sorted.length - 1][0];
}
