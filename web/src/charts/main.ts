// The charts of a page, drawn by uPlot in the colours of the page; drawn anew when these or its width change.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { shortFigure } from "../map/scale";

interface Axis {
  label: string;
  low: number;
  high: number;
  log: boolean;
  marks?: [number, string][];
  names?: string[];
  every?: number | null;
}

interface Held {
  title: string;
  x: Axis;
  y: Axis;
  lines: { name: string; hue: number; dashed: boolean; dots: boolean; x: number[]; y: number[] }[];
  shades: { name: string; hue: number; x: number[]; low: number[]; high: number[] }[];
  diagonal: boolean;
}

const HEIGHT = 260;
const NAME = 58; // pixels that the name of a slot takes

type Table = [number[], ...number[][]];

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function axisOptions(held: Axis, width: number, across: boolean): uPlot.Axis {
  const font = `12px ${colour("font")}`;
  const line = { stroke: colour("grid"), width: 1 };
  const own: uPlot.Axis = { stroke: colour("quiet"), grid: line, ticks: line, font, labelFont: font, labelSize: 20, labelGap: 2 };
  if (held.label) own.label = held.label;
  if (!across) own.size = 62;
  if (held.names) {
    const names = held.names;
    const every = Math.max(held.every ?? 1, Math.ceil(names.length / Math.max(2, Math.floor((width - 70) / NAME))));
    return { ...own, grid: { show: false }, splits: () => names.map((_, n) => n).filter((n) => n % every === 0), values: (_, at) => at.map((n) => names[n] ?? "") };
  }
  if (held.marks) {
    const marks = held.marks;
    return { ...own, splits: () => marks.map(([at]) => at), values: () => marks.map(([, text]) => text), filter: (_, at) => at };
  }
  return { ...own, values: (_, at) => at.map((value) => (value ? shortFigure(value) : "0")) };
}

function scaleOptions(held: Axis, across: boolean): uPlot.Scale {
  const room = held.log || across ? 1 : 1.04;
  const range: uPlot.Range.MinMax = [held.low, held.high * room];
  return { time: false, distr: held.log ? 3 : 1, range: () => range };
}

function draw(place: HTMLElement, chart: Held): uPlot {
  const tables: Table[] = [];
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  const unnamed: number[] = [];
  for (const shade of chart.shades) {
    const fill = `${colour(`hue${shade.hue}`)}38`;
    tables.push([shade.x, shade.high, shade.low]);
    bands.push({ series: [series.length, series.length + 1], fill });
    unnamed.push(series.length + 1);
    for (const label of [shade.name, ""]) series.push({ label, stroke: fill, width: 0, spanGaps: true, points: { show: false } });
  }
  if (chart.diagonal) {
    const ends = [Math.max(chart.x.low, chart.y.low), Math.min(chart.x.high, chart.y.high)];
    tables.push([ends, ends]);
    series.push({ label: "no change", stroke: colour("quiet"), width: 1, dash: [2, 3], spanGaps: true, points: { show: false } });
  }
  for (const line of chart.lines) {
    const stroke = colour(`hue${line.hue}`);
    tables.push([line.x, line.y]);
    series.push({ label: line.name, stroke, width: 2, dash: line.dashed ? [6, 3] : [], spanGaps: true, points: { show: line.dots, size: 5, fill: stroke } });
  }
  const width = Math.max(240, place.clientWidth);
  const options: uPlot.Options = {
    width,
    height: HEIGHT,
    legend: {
      show: true,
      live: false,
      markers: { dash: (_, n) => (series[n].dash?.length ? "dashed" : "solid"), fill: (_, n) => (series[n].dash?.length ? "transparent" : (series[n].stroke as string)) },
    },
    cursor: { show: false },
    scales: { x: scaleOptions(chart.x, true), y: scaleOptions(chart.y, false) },
    series,
    bands,
    axes: [axisOptions(chart.x, width, true), axisOptions(chart.y, width, false)],
    padding: [8, 14, 0, 0],
  };
  const plot = new uPlot(options, uPlot.join(tables as uPlot.AlignedData[]), place);
  const rows = plot.root.querySelectorAll(".u-legend .u-series");
  // The lower edge of a band has no name of its own.
  for (const n of unnamed) rows[n - 1].remove();
  return plot;
}

const charts = JSON.parse(document.getElementById("charts")!.textContent!) as Held[];
const drawn = new Map<HTMLElement, uPlot>();

function drawAll(): void {
  for (const place of document.querySelectorAll<HTMLElement>("[data-chart]")) {
    drawn.get(place)?.destroy();
    drawn.set(place, draw(place, charts[Number(place.dataset.chart)]));
  }
}

drawAll();
matchMedia("screen and (prefers-color-scheme: dark)").addEventListener("change", drawAll);
let width = document.documentElement.clientWidth;
addEventListener("resize", () => {
  if (document.documentElement.clientWidth === width) return;
  width = document.documentElement.clientWidth;
  drawAll();
});
