// Released flows as columns, with the list of every zone's own flows.

const AXES = ["origin", "destination"];

class Flows {
  constructor(table, volume, zones) {
    this.table = table;
    this.size = table.origin.length;
    this.volume = Float64Array.from(table[volume]);
    this.zones = zones;
    this.start = {};
    this.list = {};
    for (const axis of AXES) this.index(axis, zones[axis].size);
  }

  index(axis, size) {
    const start = new Int32Array(size + 1);
    for (const zone of this.table[axis]) start[zone + 1]++;
    for (let zone = 0; zone < size; zone++) start[zone + 1] += start[zone];
    const next = start.slice();
    this.list[axis] = new Int32Array(this.size);
    this.table[axis].forEach((zone, flow) => (this.list[axis][next[zone]++] = flow));
    this.start[axis] = start;
  }

  of(axis, zone) {
    return this.list[axis].subarray(this.start[axis][zone], this.start[axis][zone + 1]);
  }

  degree(axis, zone) {
    return this.start[axis][zone + 1] - this.start[axis][zone];
  }

  between({ axis, zone }, partner) {
    const other = axis === "origin" ? "destination" : "origin";
    const flow = this.of(axis, zone).find((candidate) => this.table[other][candidate] === partner);
    return flow === undefined ? -1 : flow;
  }

  // The largest of some flows, ties by zone ids so that every browser shows the same ones.
  largest(flows, most) {
    const volumes = Float64Array.from(flows, (flow) => this.volume[flow]).sort();
    const least = volumes[Math.max(0, volumes.length - most)];
    const name = (flow) => AXES.map((axis) => this.zones[axis].id[this.table[axis][flow]]).join(" ");
    return Array.from(flows)
      .filter((flow) => this.volume[flow] >= least)
      .map((flow) => [this.volume[flow], name(flow), flow])
      .sort((one, other) => other[0] - one[0] || (one[1] < other[1] ? -1 : 1))
      .slice(0, most)
      .map((row) => row[2]);
  }
}
