// Where an input lies: its box on a small map of degrees, with the largest towns around.

import { ask } from "./api";
import { h, svg } from "./dom";

interface Towns { towns: { name: string; lat: number; lon: number }[]; attribution: string }

export function extentMap(extent: [number, number, number, number], near: string): HTMLElement {
  const [south, west, north, east] = extent;
  const wide = Math.max(east - west, 0.01), high = Math.max(north - south, 0.01);
  const squeeze = Math.max(Math.cos(((south + north) / 2) * Math.PI / 180), 0.1);
  const span = Math.max(wide * squeeze, high) * 1.7;
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 45].find((one) => span / one < 7) ?? 45;
  const middle = [(west + east) / 2, (south + north) / 2] as const;
  const x = (lon: number): number => 200 + ((lon - middle[0]) * squeeze * 300) / span;
  const y = (lat: number): number => 120 - ((lat - middle[1]) * 300) / span;
  const lines: SVGElement[] = [];
  const digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;
  for (let lon = Math.ceil((middle[0] - span / squeeze) / step) * step; lon < middle[0] + span / squeeze; lon += step) {
    if (x(lon) < 0 || x(lon) > 400) continue;
    lines.push(svg("line", { x1: x(lon), x2: x(lon), y1: 0, y2: 240, class: "grid" }));
    if (Math.round(lon / step) % 2 === 0) lines.push(svg("text", { x: x(lon) + 3, y: 236 }, `${lon.toFixed(digits)}°`));
  }
  for (let lat = Math.ceil((middle[1] - span) / step) * step; lat < middle[1] + span; lat += step) {
    if (y(lat) < 0 || y(lat) > 225) continue;
    lines.push(svg("line", { x1: 0, x2: 400, y1: y(lat), y2: y(lat), class: "grid" }), svg("text", { x: 3, y: y(lat) - 3 }, `${lat.toFixed(digits)}°`));
  }
  const places = svg("g", { class: "towns" });
  const whose = h("span", {});
  void named(span, middle, squeeze).then(({ towns, attribution }) => {
    const taken: [number, number][] = [];
    for (const { name, lat, lon } of towns) {
      const [left, top] = [x(lon), y(lat)];
      if (left < 4 || left > 330 || top < 12 || top > 220 || taken.some(([a, b]) => Math.abs(a - left) < 110 && Math.abs(b - top) < 13)) continue;
      taken.push([left, top]);
      places.append(svg("circle", { cx: left, cy: top, r: 2 }), svg("text", { x: left + 5, y: top + 4 }, name));
    }
    if (taken.length) whose.textContent = ` Names of places: ${attribution}.`;
  }, () => undefined);
  const box = svg("rect", { x: x(west), y: y(north), width: Math.max(x(east) - x(west), 3), height: Math.max(y(south) - y(north), 3), class: "extent" });
  return h("figure", {}, svg("svg", { viewBox: "0 0 400 240", role: "img", "aria-label": `Extent: ${south} to ${north} degrees north, ${west} to ${east} degrees east` }, lines, box, places) as unknown as HTMLElement,
    h("figcaption", {}, `Latitudes ${south} to ${north}, longitudes ${west} to ${east}${near ? `; the middle is ${near}` : ""}.`, whose));
}

/** The largest towns of what is drawn; none where the server has no list of places. */
function named(span: number, [lon, lat]: readonly [number, number], squeeze: number): Promise<Towns> {
  const [wide, high] = [(span * 200) / 300 / squeeze, (span * 120) / 300];
  const ends = { west: lon - wide, south: lat - high, east: lon + wide, north: lat + high };
  return ask<Towns>(`/api/towns?${Object.entries(ends).map(([name, value]) => `${name}=${value.toFixed(4)}`).join("&")}`);
}
