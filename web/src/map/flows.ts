// Released flows as columns, with the list of every zone's own flows.

import { AXES, type Axis, type Chosen, type FlowTable, type FlowVolume, type OfAxes, other } from "./payload";
import { type Zones } from "./zones";

export class Flows {
  table: FlowTable;
  size: number;
  volume: Float64Array;
  zones: OfAxes<Zones>;
  start: OfAxes<Int32Array>;
  list: OfAxes<Int32Array>;

  constructor(table: FlowTable, volume: FlowVolume, zones: OfAxes<Zones>) {
    this.table = table;
    this.size = table.origin.length;
    this.volume = Float64Array.from(table[volume]!, (value) => value ?? NaN);
    this.zones = zones;
    const none = new Int32Array(0);
    this.start = { origin: none, destination: none };
    this.list = { origin: none, destination: none };
    for (const axis of AXES) this.index(axis, zones[axis].size);
  }

  index(axis: Axis, size: number): void {
    const start = new Int32Array(size + 1);
    for (const zone of this.table[axis]) start[zone + 1]++;
    for (let zone = 0; zone < size; zone++) start[zone + 1] += start[zone];
    const next = start.slice();
    this.list[axis] = new Int32Array(this.size);
    this.table[axis].forEach((zone, flow) => (this.list[axis][next[zone]++] = flow));
    this.start[axis] = start;
  }

  of(axis: Axis, zone: number): Int32Array {
    return this.list[axis].subarray(this.start[axis][zone], this.start[axis][zone + 1]);
  }

  // Whether a flow begins and ends in one zone.
  within(flow: number): boolean {
    return this.zones.origin.id[this.table.origin[flow]] === this.zones.destination.id[this.table.destination[flow]];
  }

  degree(axis: Axis, zone: number): number {
    return this.start[axis][zone + 1] - this.start[axis][zone];
  }

  between({ axis, zone }: Chosen, partner: number): number {
    const flow = this.of(axis, zone).find((candidate) => this.table[other(axis)][candidate] === partner);
    return flow === undefined ? -1 : flow;
  }

  // The largest of some flows, ties by zone ids so that every browser shows the same ones.
  largest(flows: ArrayLike<number> & Iterable<number>, most: number): number[] {
    const volumes = Float64Array.from(flows, (flow) => this.volume[flow]).sort();
    const least = volumes[Math.max(0, volumes.length - most)];
    const name = (flow: number): string => AXES.map((axis) => this.zones[axis].id[this.table[axis][flow]]).join(" ");
    return Array.from(flows)
      .filter((flow) => this.volume[flow] >= least)
      .map((flow): [number, string, number] => [this.volume[flow], name(flow), flow])
      .sort((one, other) => other[0] - one[0] || (one[1] < other[1] ? -1 : 1))
      .slice(0, most)
      .map((row) => row[2]);
  }
}
