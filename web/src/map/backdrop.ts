// What lies behind and between zones: streets, water and borders that the owner gave, and towns by name.

import { type Point } from "./payload";

export interface Town {
  name: string;
  lat: number;
  lon: number;
  people: number;
}

interface Shape {
  filled: boolean;
  // Each ring or line as x, y, x, y in the plane of the projection.
  parts: Float64Array[];
}

export interface Colours {
  grid: string;
  quiet: string;
  ink: string;
  halo: string;
  font: string;
}

type ToScreen = (x: number, y: number) => Point;

const MOST_LABELS = 40;
const CITY = 100000; // people from which a name is set larger

export class Backdrop {
  shapes: Shape[];
  towns: { name: string; at: Point; large: boolean }[];

  // plane: where on the map a longitude and a latitude lie.
  constructor(towns: Town[], background: GeoJSON.FeatureCollection | null, plane: (degrees: number[]) => Point) {
    const flat = (points: number[][]): Float64Array => Float64Array.from(points.flatMap(plane));
    this.shapes = (background?.features ?? []).map(({ geometry }) => ({
      filled: geometry.type.endsWith("Polygon"),
      parts: partsOf(geometry).map(flat),
    }));
    this.towns = [...towns].sort((one, two) => two.people - one.people).slice(0, MOST_LABELS)
      .map(({ name, lon, lat, people }) => ({ name, at: plane([lon, lat]), large: people >= CITY }));
  }

  get drawn(): boolean {
    return this.shapes.length > 0;
  }

  // Water and the like, below the zones; lines come above them, or zones would hide them.
  drawGrounds(pen: CanvasRenderingContext2D, place: ToScreen, colours: Colours): void {
    pen.fillStyle = colours.grid;
    for (const shape of this.shapes) {
      if (!shape.filled) continue;
      trace(pen, shape, place);
      pen.fill("evenodd");
    }
  }

  drawLines(pen: CanvasRenderingContext2D, place: ToScreen, colours: Colours): void {
    pen.strokeStyle = colours.quiet;
    pen.lineJoin = "round";
    for (const shape of this.shapes) {
      pen.globalAlpha = shape.filled ? 0.35 : 0.5;
      pen.lineWidth = shape.filled ? 0.6 : 0.9;
      trace(pen, shape, place);
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }

  // The largest towns first; a name that would lie on another is left out.
  drawTowns(pen: CanvasRenderingContext2D, place: ToScreen, colours: Colours, width: number, height: number): void {
    const taken: [number, number, number, number][] = [];
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.lineJoin = "round";
    for (const { name, at, large } of this.towns) {
      const [left, top] = place(...at);
      if (left < 0 || top < 0 || left > width || top > height) continue;
      pen.font = `${large ? 600 : 500} ${large ? 13 : 11.5}px ${colours.font}`;
      const wide = pen.measureText(name).width;
      const start = left + wide + 12 > width ? left - wide - 6 : left + 6;
      const box: [number, number, number, number] = [start - 4, top - 9, start + wide + 4, top + 9];
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) continue;
      taken.push(box);
      pen.strokeStyle = colours.halo;
      pen.fillStyle = colours.ink;
      pen.lineWidth = 3.5;
      pen.strokeText(name, start, top);
      pen.fillText(name, start, top);
      pen.beginPath();
      pen.arc(left, top, 2.2, 0, 2 * Math.PI);
      pen.lineWidth = 2;
      pen.stroke();
      pen.fill();
    }
  }
}

function partsOf(geometry: GeoJSON.Geometry): number[][][] {
  switch (geometry.type) {
    case "LineString": return [geometry.coordinates];
    case "MultiLineString":
    case "Polygon": return geometry.coordinates;
    case "MultiPolygon": return geometry.coordinates.flat();
    default: return [];
  }
}

function trace(pen: CanvasRenderingContext2D, { parts, filled }: Shape, place: ToScreen): void {
  pen.beginPath();
  for (const part of parts) {
    for (let p = 0; p < part.length; p += 2) {
      const [left, top] = place(part[p], part[p + 1]);
      if (p) pen.lineTo(left, top);
      else pen.moveTo(left, top);
    }
    if (filled) pen.closePath();
  }
}
