// A map drawn by the graphics card: MapLibre for moving about, deck.gl for zones, flowmap.gl for flows.

import { GeoJsonLayer, PolygonLayer, ScatterplotLayer } from "@deck.gl/layers";
import { MapboxOverlay } from "@deck.gl/mapbox";
import { FlowLinesLayer } from "@flowmap.gl/layers";
import { log } from "@luma.gl/core";
import { Map as MapLibre, NavigationControl, setWorkerUrl } from "maplibre-gl";
import worker from "maplibre-gl/dist/maplibre-gl-worker.mjs?raw";
import "maplibre-gl/dist/maplibre-gl.css";
import { type Theme } from "../map/panel";
import { type Point } from "../map/payload";
import { Backdrop } from "../map/backdrop";
import { type Content } from "./content";
import { type Area, type Line, type MapModel, type Within } from "./model";
import { type MapView, type Seen, type Wanted } from "./view";

type Colour = [number, number, number, number];

// What shaders are made of is of no use to readers of a report.
log.enable(false);

let started = false;

// One file that fetches nothing: the worker is part of this script.
function startWorker(): void {
  if (started) return;
  started = true;
  setWorkerUrl(URL.createObjectURL(new Blob([worker], { type: "text/javascript" })));
}

// Whether there is WebGL, and whether a graphics card does it or the processor, which is slow at much.
export function webglWorks(): { works: boolean; slow: boolean } {
  const pen = document.createElement("canvas").getContext("webgl2");
  if (!pen) return { works: false, slow: true };
  const told = pen.getExtension("WEBGL_debug_renderer_info");
  const name = String(pen.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : pen.RENDERER));
  pen.getExtension("WEBGL_lose_context")?.loseContext();
  return { works: true, slow: /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) };
}

export class WebglView implements MapView {
  map: MapLibre;
  overlay: MapboxOverlay;
  model: MapModel;
  content: Content;
  layers = false;
  theme: Theme | null = null;
  // Names of towns above everything, as the light map sets them: crisp, and none on another.
  names: Backdrop;
  labels = document.createElement("canvas");
  moved: (() => void) | null = null;
  pointed: ((zone: number, place: Point | null) => void) | null = null;
  chosen: ((zone: number) => void) | null = null;

  // Called once, when zones are on the screen.
  constructor(stage: HTMLElement, model: MapModel, content: Content, drawn: () => void) {
    startWorker();
    this.model = model;
    this.content = content;
    const [west, south, east, north] = model.home;
    this.map = new MapLibre({
      container: stage,
      style: { version: 8, sources: {}, layers: [{ id: "ground", type: "background" }] },
      bounds: [[west, south], [east, north]],
      fitBoundsOptions: { padding: 16 },
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      cooperativeGestures: true,
      fadeDuration: 0,
      canvasContextAttributes: { preserveDrawingBuffer: true },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.addControl(new NavigationControl({ showCompass: false }), "top-right");
    let waiting = true;
    const onAfterRender = (): void => {
      if (waiting && this.layers) drawn();
      waiting &&= !this.layers;
    };
    this.overlay = new MapboxOverlay({ interleaved: false, layers: [], onAfterRender, deviceProps: { webgl: { preserveDrawingBuffer: true } } });
    this.map.addControl(this.overlay);
    this.names = new Backdrop(content.towns, null, ([lon, lat]) => [lon, lat]);
    this.labels.className = "labels";
    stage.append(this.labels);
    this.map.on("render", () => this.label());
    this.map.on("move", () => {
      this.label();
      this.moved?.();
    });
  }

  get seen(): Seen {
    const { lng, lat } = this.map.getCenter();
    return { centre: [lng, lat], zoom: this.map.getZoom() };
  }

  look({ centre, zoom }: Seen): void {
    this.map.jumpTo({ center: centre, zoom });
  }

  whole(): void {
    const [west, south, east, north] = this.model.home;
    this.map.fitBounds([[west, south], [east, north]], { padding: 16, animate: false });
  }

  draw(wanted: Wanted, theme: Theme): void {
    const ground = (): void => {
      this.layers = true;
      this.theme = theme;
      this.map.setPaintProperty("ground", "background-color", theme.ground);
      this.overlay.setProps({
        layers: [...this.back(theme), this.zones(wanted, theme), this.flows(wanted, theme), this.within(wanted, theme)],
      });
      this.label();
    };
    if (this.map.isStyleLoaded()) ground();
    else this.map.once("load", ground);
  }

  back(theme: Theme): GeoJsonLayer[] {
    const { background } = this.content;
    if (!background) return [];
    const line = hex(theme.quiet, 90);
    return [new GeoJsonLayer({ id: "back", data: background, filled: true, getFillColor: hex(theme.grid, 160), getLineColor: line, lineWidthUnits: "pixels", getLineWidth: 1 })];
  }

  zones({ axis, chosen }: Wanted, theme: Theme): PolygonLayer<Area> {
    const { zoneScale, volumes, areas } = this.model;
    const ramp = theme.ramp.map((colour) => [...colour.match(/\d+/g)!.map(Number), 200] as Colour);
    return new PolygonLayer<Area>({
      id: "zones",
      data: areas[axis],
      getPolygon: (area) => area.rings,
      getFillColor: (area) => ramp[Math.min(255, zoneScale.colourIndex(volumes[axis][area.zone]))],
      stroked: areas[axis].length < 4000,
      getLineColor: (area) => (area.zone === chosen ? hex(theme.accent, 255) : hex(theme.ground, 190)),
      getLineWidth: (area) => (area.zone === chosen ? 3 : 0.7),
      lineWidthUnits: "pixels",
      pickable: true,
      updateTriggers: { getFillColor: [axis, theme.ground], getLineColor: [chosen, theme.ground], getLineWidth: chosen },
      onHover: ({ object, x, y }) => this.pointed?.(object ? object.zone : -1, object ? [x, y] : null),
      onClick: ({ object }) => {
        if (object) this.chosen?.(object.zone);
      },
    });
  }

  flows(wanted: Wanted, theme: Theme): FlowLinesLayer<Line> {
    const lines = wanted.flows ? wanted.lines : [];
    const most = this.model.lines.length ? this.model.lines[0].volume : 1;
    const colour = hex(theme.accent, 210);
    return new FlowLinesLayer<Line>({
      id: "flows",
      // The largest on top.
      data: [...lines].reverse(),
      getSourcePosition: (line) => line.from,
      getTargetPosition: (line) => line.to,
      getThickness: (line) => Math.max(0.06, Math.sqrt(line.volume / most)),
      getColor: () => colour,
      getEndpointOffsets: () => [0, 0],
      thicknessUnit: 2,
      drawOutline: true,
      outlineColor: hex(theme.ground, 255),
      outlineThickness: 1,
      pickable: false,
    });
  }

  within({ within, axis }: Wanted, theme: Theme): ScatterplotLayer<Within> {
    const most = this.model.within.reduce((large, one) => Math.max(large, one.volume), 1);
    return new ScatterplotLayer<Within>({
      id: "within",
      data: within && axis ? this.model.within : [],
      getPosition: (one) => one.at,
      getRadius: (one) => 3 + 15 * Math.sqrt(one.volume / most),
      radiusUnits: "pixels",
      stroked: true,
      lineWidthUnits: "pixels",
      getLineWidth: 1.5,
      getFillColor: hex(theme.accent, 60),
      getLineColor: hex(theme.accent, 255),
    });
  }

  label(): void {
    const { clientWidth: width, clientHeight: height } = this.map.getContainer();
    const density = window.devicePixelRatio || 1;
    this.labels.width = Math.round(width * density);
    this.labels.height = Math.round(height * density);
    const pen = this.labels.getContext("2d")!;
    pen.scale(density, density);
    const place = (lon: number, lat: number): Point => {
      const { x, y } = this.map.project([lon, lat]);
      return [x, y];
    };
    if (this.theme) this.names.drawTowns(pen, place, this.theme, width, height);
  }

  resize(): void {
    this.map.resize();
  }

  remove(): void {
    this.map.remove();
  }
}

function hex(colour: string, alpha: number): Colour {
  const digits = colour.match(/^#(..)(..)(..)$/);
  const parts = digits ? digits.slice(1).map((pair) => parseInt(pair, 16)) : colour.match(/[\d.]+/g)!.slice(0, 3).map(Number);
  return [parts[0], parts[1], parts[2], alpha];
}
