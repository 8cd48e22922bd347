// What a release's page embeds, in columns, and the small types that all parts share.

import { type Town } from "./backdrop";

export const AXES = ["origin", "destination"] as const;
export const MEASURES = ["trips", "travellers", "population"] as const;

export type Axis = (typeof AXES)[number];
export type Measure = (typeof MEASURES)[number];
export type OfAxes<Held> = Record<Axis, Held>;
export type Point = [number, number];
// West, south, east, north.
export type Box = [number, number, number, number];

export type Columns = Partial<Record<Measure, (number | null)[]>>;

export interface ZoneTable extends Columns {
  zone: string[];
  // What people call the zones, where that is known.
  name?: string[];
  height: number[];
  tiles: number[];
  area_km2: (number | null)[];
  // Polygons of rings of steps in microdegrees; unpacked once and let go.
  outline: number[][][][] | null;
}

export interface FlowTable extends Columns {
  origin: number[];
  destination: number[];
}

export type ZoneVolume = Measure;
export type FlowVolume = Measure;

export interface Volume {
  zone: ZoneVolume;
  flow: FlowVolume;
}

export interface Payload extends OfAxes<ZoneTable> {
  volume: Volume;
  flows: FlowTable;
  // What lies behind and between the zones, where the owner gave something or zones have names.
  towns?: Town[];
  background?: GeoJSON.FeatureCollection;
}

export interface Chosen {
  axis: Axis;
  zone: number;
}

export function other(axis: Axis): Axis {
  return axis === "origin" ? "destination" : "origin";
}

// What the page that this script stands in holds.
export function embedded<Held>(): Held {
  return JSON.parse(document.getElementById("release")!.textContent!) as Held;
}
