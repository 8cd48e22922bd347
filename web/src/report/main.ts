// The report: draws maps and charts into a page whose words are there without any script.

import type uPlot from "uplot";
import { drawChart } from "./charts";
import { type Content } from "./content";
import { MapCard } from "./map_card";
import { webglWorks } from "./webgl_view";

const content = JSON.parse(document.getElementById("report")!.textContent!) as Content;
const webgl = webglWorks();
document.querySelector<HTMLElement>(".no-webgl")!.hidden = webgl || !content.maps.length;

const cards = Array.from(document.querySelectorAll<HTMLElement>(".map-card"), (root) => new MapCard(root, content.maps[Number(root.dataset.map)], content, webgl));
for (const card of cards) card.linked = cards.filter((other) => other !== card);
cards[cards.length - 1]?.lead();
requestAnimationFrame(() => requestAnimationFrame(() => (document.documentElement.dataset.firstMap = String(Math.round(performance.now())))));

const drawn = new Map<HTMLElement, uPlot>();

function charts(): void {
  for (const place of document.querySelectorAll<HTMLElement>(".plot")) {
    drawn.get(place)?.destroy();
    drawn.set(place, drawChart(place, content.charts[Number(place.dataset.chart)]));
  }
}

function repaint(): void {
  charts();
  for (const card of cards) card.draw();
}

let width = innerWidth;
charts();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
addEventListener("beforeprint", repaint);
addEventListener("resize", () => {
  for (const card of cards) card.view.resize();
  if (innerWidth !== width) charts();
  width = innerWidth;
});
