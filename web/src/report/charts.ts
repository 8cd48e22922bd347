// Charts by uPlot, in the colours of the page; beside each stands a table with the same numbers.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isNight, readTheme, type Theme } from "../map/panel";
import { shortFigure } from "../map/scale";
import { type Chart } from "./content";

// Blue and orange of Okabe and Ito, which all eyes tell apart; on dark ground a little lighter.
const COLOURS = { light: ["#0072b2", "#d55e00", "#009e73"], dark: ["#56b4e9", "#e69f00", "#2fc79d"] };

export function drawChart(place: HTMLElement, chart: Chart): uPlot {
  const theme = readTheme();
  const colours = isNight() ? COLOURS.dark : COLOURS.light;
  const bars = chart.kind === "bars";
  const x = bars ? chart.x.names.map((_, n) => n) : chart.x.values;
  const axis = { stroke: theme.quiet, grid: { stroke: theme.grid, width: 1 }, ticks: { stroke: theme.grid, width: 1 }, font: `12px ${theme.font}`, labelFont: `12px ${theme.font}` };
  const width = Math.max(240, place.clientWidth);
  const every = Math.max(1, Math.ceil(chart.x.names.length / Math.max(2, Math.floor((width - 70) / 62))));
  const options: uPlot.Options = {
    width,
    height: 240,
    legend: { show: chart.series.length > 1, live: false },
    cursor: { show: false },
    scales: { x: { time: false, range: bars ? [-0.6, Math.max(0.6, x.length - 0.4)] : undefined }, y: { range: (_, __, most) => [0, most > 0 ? most * (chart.mark ? 1.2 : 1.06) : 1] } },
    series: [{}, ...chart.series.map((series, n) => styled(series.name, colours[n % colours.length], bars, chart.series.length, n))],
    axes: [
      bars
        ? { ...axis, label: chart.x.label, splits: () => x.filter((at) => at % every === 0), values: (_, at) => at.map((n) => chart.x.names[n] ?? ""), grid: { show: false } }
        : { ...axis, label: chart.x.label, values: (_, at) => at.map((value) => shortFigure(value)) },
      { ...axis, label: chart.y.label, size: 62, values: (_, at) => at.map((value) => (value ? shortFigure(value) : "0")) },
    ],
    hooks: { draw: [(plot) => drawMark(plot, chart, theme)] },
  };
  return new uPlot(options, [x, ...chart.series.map((series) => series.values)] as uPlot.AlignedData, place);
}

function styled(label: string, colour: string, bars: boolean, many: number, n: number): uPlot.Series {
  if (!bars) return { label, stroke: colour, width: 2, dash: n ? [6, 4] : [], points: { show: false } };
  const share = 0.86 / many;
  const align = many > 1 ? (n ? 1 : -1) : 0;
  return { label, stroke: colour, fill: n ? `${colour}66` : colour, width: n ? 1.5 : 0, paths: uPlot.paths.bars!({ size: [share, 60], align }), points: { show: false } };
}

function drawMark(plot: uPlot, chart: Chart, theme: Theme): void {
  if (!chart.mark) return;
  const { ctx, bbox } = plot;
  const left = plot.valToPos(chart.mark.at, "x", true);
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = theme.accent;
  ctx.lineWidth = 2 * devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(left, bbox.top);
  ctx.lineTo(left, bbox.top + bbox.height);
  ctx.stroke();
  ctx.font = `600 ${12 * devicePixelRatio}px ${theme.font}`;
  ctx.textAlign = "left";
  ctx.fillText(chart.mark.label, left + 6 * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
  ctx.restore();
}
