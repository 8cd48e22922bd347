// The report: draws maps and charts into a page whose words are there without any script.

import type uPlot from "uplot";
import { drawChart } from "./charts";
import { type Content } from "./content";
import { readTheme } from "../map/panel";
import { MapCard } from "./map_card";
import { webglWorks } from "./webgl_view";

const content = JSON.parse(document.getElementById("report")!.textContent!) as Content;
const cards = Array.from(document.querySelectorAll<HTMLElement>(".map-card"), (root) => new MapCard(root, content.maps[Number(root.dataset.map)], content));
for (const card of cards) card.linked = cards.filter((other) => other !== card);
cards[cards.length - 1]?.lead();

const MANY = 5000; // zones and flows

// Maps are there at once, on plain canvases. The graphics card takes over those that somebody looks at: to make it
// ready takes longer than anything else on this page.
function upgradeSeen(): void {
  const { works, slow } = webglWorks();
  const note = document.querySelector<HTMLElement>(".no-webgl");
  if (note) note.hidden = works;
  // Of many shapes the plain canvas is the quicker one where the processor stands in for a graphics card; maps that lie
  // side by side are of one kind.
  if (!works || (slow && cards.some(({ model }) => model.shapes > MANY))) return;
  let before = Promise.resolve();
  const watch = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      const card = cards.find(({ root }) => root === target);
      if (!isIntersecting || !card) continue;
      watch.unobserve(target);
      before = before.then(idle).then(() => card.upgrade());
    }
  }, { rootMargin: "120px" });
  for (const { root } of cards) watch.observe(root);
}

const idle = (): Promise<void> => new Promise((done) => {
  if ("requestIdleCallback" in window) requestIdleCallback(() => done(), { timeout: 1000 });
  else setTimeout(done, 200);
});

requestAnimationFrame(() => requestAnimationFrame(() => {
  document.documentElement.dataset.firstMap = String(Math.round(performance.now()));
  charts();
  if (cards.length) setTimeout(upgradeSeen);
}));

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
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
for (const on of [true, false]) {
  addEventListener(on ? "beforeprint" : "afterprint", () => {
    document.documentElement.classList.toggle("printing", on);
    charts();
    for (const card of cards) card.print(on);
    for (const card of cards) card.legend.show(card.model.zoneScale, readTheme(), card.legend.caption.textContent ?? "", false);
  });
}
addEventListener("resize", () => {
  for (const card of cards) card.view.resize();
  if (innerWidth !== width) charts();
  width = innerWidth;
});
