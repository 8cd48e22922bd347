// What a report embeds: the same as report.json.

import { type Town } from "../map/backdrop";
import { type Payload } from "../map/payload";

export interface ReportMap {
  title: string;
  words: string;
  volume: string;
  payload: Payload;
}

export interface Chart {
  kind: "bars" | "lines";
  title: string;
  words: string;
  x: { label: string; names: string[]; values: number[] };
  y: { label: string };
  series: { name: string; values: (number | null)[] }[];
  // A place along x, in steps of the bars or in the unit of x, and what it is.
  mark: { at: number; label: string } | null;
}

export interface Content {
  maps: ReportMap[];
  charts: Chart[];
  towns: Town[];
  background: GeoJSON.FeatureCollection | null;
}
