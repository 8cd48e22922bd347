// Zones and flows of one map, ready to be drawn: rings in degrees, flows from the largest on.

import { AXES, type Axis, type Box, type OfAxes, type Payload, type Point } from "../map/payload";
import { LogScale } from "../map/scale";

export interface Area {
  zone: number;
  rings: Point[][];
}

export interface Line {
  flow: number;
  from: Point;
  to: Point;
  volume: number;
}

export interface Within {
  at: Point;
  volume: number;
  zone: number;
}

export class MapModel {
  payload: Payload;
  areas: OfAxes<Area[]>;
  centres: OfAxes<Point[]>;
  volumes: OfAxes<number[]>;
  lines: Line[];
  shapes: number;
  within: Within[];
  zoneScale: LogScale;
  flowScale: LogScale;
  home: Box;

  constructor(payload: Payload) {
    this.payload = payload;
    this.areas = { origin: decoded(payload, "origin"), destination: decoded(payload, "destination") };
    const volumes = (axis: Axis): number[] => (payload[axis][payload.volume.zone] ?? []).map((value) => value ?? NaN);
    this.volumes = { origin: volumes("origin"), destination: volumes("destination") };
    const centres = (axis: Axis): Point[] => centresOf(this.areas[axis], payload[axis].zone.length);
    this.centres = { origin: centres("origin"), destination: centres("destination") };
    [this.lines, this.within] = this.split();
    this.shapes = this.areas.origin.length + this.areas.destination.length + this.lines.length;
    this.zoneScale = new LogScale(AXES.flatMap((axis) => this.volumes[axis]));
    this.flowScale = new LogScale(this.lines.map((line) => line.volume));
    this.home = homeOf(AXES.flatMap((axis) => this.centres[axis].map((at, zone): [Point, number] => [at, this.volumes[axis][zone]])), this);
  }

  // Flows between different zones from the largest on, and those that stay in one.
  split(): [Line[], Within[]] {
    const { origin, destination, flows, volume } = this.payload;
    const lines: Line[] = [];
    const within: Within[] = [];
    const numbers = flows[volume.flow] ?? [];
    flows.origin.forEach((from, flow) => {
      const to = flows.destination[flow];
      const [start, end] = [this.centres.origin[from], this.centres.destination[to]];
      const amount = numbers[flow] ?? 0;
      if (!Number.isFinite(start[0]) || !Number.isFinite(end[0])) return;
      if (origin.zone[from] === destination.zone[to]) within.push({ at: start, volume: amount, zone: from });
      else lines.push({ flow, from: start, to: end, volume: amount });
    });
    lines.sort((one, two) => two.volume - one.volume || one.flow - two.flow);
    return [lines, within];
  }

  name(axis: Axis, zone: number): string {
    const table = this.payload[axis];
    return table.name?.[zone] ?? table.zone[zone];
  }
}

function decoded(payload: Payload, axis: Axis): Area[] {
  return (payload[axis].outline ?? []).flatMap((polygons, zone) =>
    polygons.map((rings) => ({ zone, rings: rings.map(pointsOf) })),
  );
}

function pointsOf(steps: number[]): Point[] {
  let [lon, lat] = [0, 0];
  const points: Point[] = [];
  for (let p = 0; p < steps.length; p += 2) {
    lon += steps[p];
    lat += steps[p + 1];
    points.push([lon / 1e6, lat / 1e6]);
  }
  return points;
}

// The middle of the box around each zone; not a number where it has no outline.
function centresOf(areas: Area[], size: number): Point[] {
  const boxes = Array.from({ length: size }, (): Box => [Infinity, Infinity, -Infinity, -Infinity]);
  for (const { zone, rings } of areas) {
    const box = boxes[zone];
    for (const [lon, lat] of rings[0]) {
      box[0] = Math.min(box[0], lon);
      box[1] = Math.min(box[1], lat);
      box[2] = Math.max(box[2], lon);
      box[3] = Math.max(box[3], lat);
    }
  }
  return boxes.map(([west, south, east, north]): Point => [(west + east) / 2, (south + north) / 2]);
}

// Where 99 % of the volume is: one stray trip must not shrink the city to a dot.
function homeOf(places: [Point, number][], model: MapModel): Box {
  const known = places.filter(([at]) => Number.isFinite(at[0]));
  if (!known.length) return [-10, -10, 10, 10];
  const ends = ([0, 1] as const).map((side) => quantiles(known, side));
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity];
  for (const axis of AXES) {
    for (const { zone, rings } of model.areas[axis]) {
      const at = model.centres[axis][zone];
      if (([0, 1] as const).some((side) => at[side] < ends[side][0] || at[side] > ends[side][1])) continue;
      for (const [lon, lat] of rings[0]) {
        box[0] = Math.min(box[0], lon);
        box[1] = Math.min(box[1], lat);
        box[2] = Math.max(box[2], lon);
        box[3] = Math.max(box[3], lat);
      }
    }
  }
  return box;
}

function quantiles(places: [Point, number][], side: 0 | 1): Point {
  const sorted = [...places].sort((one, two) => one[0][side] - two[0][side]);
  const total = sorted.reduce((sum, [, volume]) => sum + (volume || 0), 0);
  const at = (share: number): number => {
    let below = 0;
    for (const [place, volume] of sorted) {
      below += volume || 0;
      if (below >= share * total) return place[side];
    }
    return sorted[sorted.length - 1][0][side];
  };
  return [at(0.005), at(0.995)];
}
