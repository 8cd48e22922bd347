// All methods on one file: a plot of what is withheld against what is lost, to pick from.

import { ask, settingsOf, start, type Chosen, type Input, type Run } from "./api";
import { fill, h, number, percent, svg, table, type Child } from "./dom";
import { corrected } from "./input";
import { copied, frame, watch, wrong } from "./parts";
import { take } from "./settings";

interface Row { method: string; k: number; ran: boolean; reason: string | null; suppression_limit: number; G: number | null; GDM_mean: number | null; S: number | null; groups: number | null; audit: string | null; wall_s: number | null }

export async function methodsView(main: HTMLElement, id: number, run: number | null): Promise<void> {
  const input = await ask<Input>(`/api/inputs/${id}`);
  const place = h("div", {});
  fill(main, h("h1", {}, `All methods on ${input.name}`), place);
  const show = (number: number): Promise<void> => watch(place, number, (done) => [...result(input, done), done.recipe && copied(done.recipe, `/api/runs/${done.id}/run.ipynb`)]);
  if (run !== null) { await show(run); return; }
  const { options } = await settingsOf(input.wing, "compare");
  const has = (name: string): boolean => options.some((one) => one.name === name);
  const field = (name: string, words: string, value: string, help: string): HTMLElement =>
    h("div", { class: "field" }, h("label", { for: `c-${name}` }, words), h("input", { id: `c-${name}`, name, value, autocomplete: "off" }), h("p", { class: "help" }, help));
  const told = h("div", {});
  const form = h("form", { class: "card", onsubmit: (event) => {
    event.preventDefault();
    const settings: Chosen = { ...(corrected.get(id) ?? {}) };
    for (const one of form.querySelectorAll("input")) if (one.value.trim()) settings[one.name] = one.value.trim();
    start("compare", id, settings).then((made) => { location.hash = `#/methods/${id}/${made.id}`; }, (error: unknown) => fill(told, wrong(error)));
  } }, h("h2", {}, "What is compared"), h("div", { class: "fields" },
    field("methods", "Methods", "", "Separated by commas; all if left empty."),
    field("k", "k", "", "Several separated by commas, where trips are compared."),
    has("suppress") && field("suppress", "Limit", "", "Share that may be withheld; several separated by commas."),
    has("hierarchy") && field("hierarchy", "Zones", "", "Such as h3:9."),
    has("time_limit") && field("time_limit", "Time for each", "60s", "A method that takes longer is left out.")), told, h("button", { class: "main" }, "Run all"));
  fill(place, form);
}

function result(input: Input, run: Run): Child[] {
  const told = run.result ?? {};
  const rows = ((told.rows ?? []) as Row[]);
  const ran = rows.filter((one) => one.ran !== false);
  const use = (row: Row): HTMLElement => h("button", { type: "button", onclick: () => pick(input, run, row) }, "Take");
  const words = ((told.recommendations ?? []) as { words?: string[] }[]).flatMap((one) => one.words ?? []);
  if (input.wing !== "trips") {
    const keys = Object.keys(rows[0] ?? {}).filter((key) => rows.some((row) => ["string", "number"].includes(typeof (row as unknown as Record<string, unknown>)[key])));
    return [h("section", { class: "card" }, h("h2", {}, "Side by side"), table("Methods", [...keys, ""], rows.map((row) => [...keys.map((key) => { const value = (row as unknown as Record<string, unknown>)[key]; return typeof value === "number" ? number(value) : String(value ?? "–"); }), use(row)])))];
  }
  return [
    h("section", { class: "card" }, h("h2", {}, "Pick one"), words.map((one) => h("p", {}, one)), pareto(ran, (row) => pick(input, run, row)),
      table("The same as a table", ["Method", "k", "Metres moved", "G", "Withheld", "Flows", "Audit", "Seconds", ""], [
        ...ran.map((row) => [row.method, number(row.k), number(row.GDM_mean === null ? null : Math.round(row.GDM_mean)), number(row.G === null ? null : Math.round(row.G)), percent(row.S), number(row.groups), row.audit ?? "", number(row.wall_s), use(row)]),
        ...rows.filter((one) => one.ran === false).map((row) => [row.method, number(row.k), "did not run:", row.reason ?? "", "", "", "", "", ""])])),
    h("section", { class: "card" }, h("h2", {}, "The whole comparison"), frame(`/api/runs/${run.id}/show/compare`, "Comparison of all methods")),
  ];
}

function pick(input: Input, run: Run, row: Row): void {
  const { methods: _, time_limit: __, jobs: ___, k: ____, suppress: _____, ...kept } = run.settings;
  void [_, __, ___, ____, _____];
  take(input.id, { ...kept, method: row.method, ...(row.k ? { k: row.k } : {}), ...(row.suppression_limit !== undefined ? { suppress: row.suppression_limit } : {}) });
  location.hash = `#/settings/${input.id}`;
}

/** Loss against what is withheld; a release is on the front if no other is better in both. */
function pareto(rows: Row[], chosen: (row: Row) => void): HTMLElement {
  const points = rows.filter((row) => typeof row.GDM_mean === "number" && typeof row.S === "number");
  if (!points.length) return h("p", {}, "No method has both numbers to draw.");
  const wide = 640, high = 300, left = 64, low = 250;
  const mostS = Math.max(...points.map((row) => row.S!), 0.01), mostG = Math.max(...points.map((row) => row.GDM_mean!), 1);
  const x = (row: Row): number => left + (row.S! / mostS) * (wide - left - 110), y = (row: Row): number => low - (row.GDM_mean! / mostG) * (low - 24);
  const front = points.filter((row) => !points.some((other) => other.S! <= row.S! && other.GDM_mean! <= row.GDM_mean! && (other.S! < row.S! || other.GDM_mean! < row.GDM_mean!)));
  front.sort((one, other) => one.S! - other.S!);
  const dots = points.map((row) => {
    const on = front.includes(row);
    const go = (event: Event): void => { if (!(event instanceof KeyboardEvent) || event.key === "Enter" || event.key === " ") { event.preventDefault(); chosen(row); } };
    return svg("g", { class: on ? "dot front" : "dot", tabindex: 0, role: "button", "aria-label": `Take ${row.method}, k ${row.k}: ${Math.round(row.GDM_mean!)} metres, ${percent(row.S)} withheld`, onclick: go, onkeydown: go },
      svg("circle", { cx: x(row), cy: y(row), r: 7 }), on ? svg("text", { x: x(row) + 11, y: y(row) + 4 }, row.method) : svg("text", { x: x(row) - 11, y: y(row) + 4, class: "end" }, row.method));
  });
  const drawn = svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "pareto", role: "group", "aria-label": "Methods by what is withheld and by metres that trips were moved" },
    svg("line", { x1: left, x2: wide - 20, y1: low, y2: low, class: "axis" }), svg("line", { x1: left, x2: left, y1: 14, y2: low, class: "axis" }),
    svg("polyline", { points: front.map((row) => `${x(row)},${y(row)}`).join(" "), class: "frontline" }),
    svg("text", { x: wide - 20, y: low + 34, class: "end" }, `withheld, up to ${percent(mostS)}`), svg("text", { x: 4, y: 12 }, `metres moved, up to ${number(Math.round(mostG))}`), dots);
  return h("figure", {}, drawn as unknown as HTMLElement, h("figcaption", {}, "Lower and further left is better. On the line: no other is better in both. Choose a point to take its method."));
}
