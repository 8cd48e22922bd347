// All methods on one file: a plot of what is withheld against what is lost, to pick from.

import { ask, settingsOf, start, type Chosen, type Input, type Run } from "./api";
import { fill, h, number, percent, svg, table, type Child } from "./dom";
import { corrected } from "./input";
import { copied, frame, watch, wrong } from "./parts";
import { take } from "./settings";

interface Row {
  method: string; k: number | null; reason: string | null; ran?: boolean;
  // Of trips.
  suppression_limit?: number; G?: number | null; GDM_mean?: number | null; S?: number | null; groups?: number | null; audit?: string | null; wall_s?: number | null;
  // Of trajectories.
  spatial_km?: number | null; time_minutes?: number | null; deleted?: number | null; safe?: boolean | null; guessed?: number | null; seconds?: number | null;
}

/** A number of every release that is better the smaller it is, and how it is written. */
interface Loss { of: (row: Row) => number | null | undefined; words: string; told: (value: number) => string }

const METRES: Loss = { of: (row) => row.GDM_mean, words: "metres moved", told: (value) => number(Math.round(value)) };
const WITHHELD: Loss = { of: (row) => row.S, words: "withheld", told: percent };
const KILOMETRES: Loss = { of: (row) => row.spatial_km, words: "kilometres moved", told: (value) => number(value) };
const MINUTES: Loss = { of: (row) => row.time_minutes, words: "minutes moved", told: (value) => number(Math.round(value)) };

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
    has("sample_users") && field("sample_users", "People", "", "Only so many, drawn by a hash; all if left empty."),
    has("time_limit") && field("time_limit", "Time for each", "60s", "A method that takes longer is left out.")), told, h("button", { class: "main" }, "Run all"));
  fill(place, form);
}

function result(input: Input, run: Run): Child[] {
  const told = run.result ?? {};
  const rows = ((told.rows ?? []) as Row[]);
  const ran = rows.filter((one) => one.ran !== false && !one.reason);
  const take = (row: Row): void => pick(input, run, row);
  const trips = input.wing === "trips";
  const words = trips ? ((told.recommendations ?? []) as { words?: string[] }[]).flatMap((one) => one.words ?? []) : [told.advice as string, ...((told.notes ?? []) as string[])];
  const failed = rows.filter((one) => !ran.includes(one));
  return [
    h("section", { class: "card" }, h("h2", {}, "Pick one"), words.map((one) => h("p", {}, one)),
      trips ? pareto(ran, WITHHELD, METRES, take) : pareto(ran, MINUTES, KILOMETRES, take), trips ? tripTable(ran, take) : peopleTable(ran, take),
      failed.length > 0 && h("ul", {}, failed.map((row) => h("li", {}, `${row.method} did not run: ${row.reason ?? "it was stopped"}`)))),
    h("section", { class: "card" }, h("h2", {}, "The whole comparison"), frame(`/api/runs/${run.id}/show/compare`, "Comparison of all methods")),
  ];
}

const taken = (row: Row, take: (row: Row) => void): HTMLElement => h("button", { type: "button", "aria-label": `Take ${row.method}`, onclick: () => take(row) }, "Take");
const rounded = (value: number | null | undefined): string => number(typeof value === "number" ? Math.round(value) : null);

function tripTable(rows: Row[], take: (row: Row) => void): HTMLElement {
  return table("The same as a table", ["Method", "k", "Metres moved", "G", "Withheld", "Flows", "Audit", "Seconds", ""],
    rows.map((row) => [row.method, number(row.k), rounded(row.GDM_mean), rounded(row.G), percent(row.S), number(row.groups), row.audit ?? "", number(row.wall_s), taken(row, take)]));
}

function peopleTable(rows: Row[], take: (row: Row) => void): HTMLElement {
  return table("The same as a table", ["Method", "k", "Kilometres moved", "Minutes moved", "Samples withheld", "Guessed, of 100", "Audit", "Seconds", ""],
    rows.map((row) => [row.method, number(row.k), number(row.spatial_km), rounded(row.time_minutes), percent(row.deleted), number(row.guessed), row.safe ? "safe" : "NOT SAFE", number(row.seconds), taken(row, take)]));
}

function pick(input: Input, run: Run, row: Row): void {
  const { methods: _, time_limit: __, jobs: ___, k: ____, suppress: _____, ...kept } = run.settings;
  void [_, __, ___, ____, _____];
  take(input.id, { ...kept, method: row.method, ...(row.k ? { k: row.k } : {}), ...(row.suppression_limit !== undefined ? { suppress: row.suppression_limit } : {}) });
  location.hash = `#/settings/${input.id}`;
}

/** One loss against another; a release is on the front if no other is better in both. */
function pareto(rows: Row[], across: Loss, up: Loss, chosen: (row: Row) => void): HTMLElement {
  const points = rows.flatMap((row) => { const [a, b] = [across.of(row), up.of(row)]; return typeof a === "number" && typeof b === "number" ? [{ row, a, b }] : []; });
  if (!points.length) return h("p", {}, "No method has both numbers to draw.");
  const wide = 640, high = 300, left = 64, low = 250;
  const most = (values: number[]): number => Math.max(...values) || 1;
  const mostA = most(points.map(({ a }) => a)), mostB = most(points.map(({ b }) => b));
  const x = (a: number): number => left + (a / mostA) * (wide - left - 110), y = (b: number): number => low - (b / mostB) * (low - 24);
  const front = points.filter((one) => !points.some((other) => other.a <= one.a && other.b <= one.b && (other.a < one.a || other.b < one.b))).sort((one, other) => one.a - other.a);
  const dots = points.map((point) => {
    const { row, a, b } = point;
    const on = front.includes(point);
    const go = (event: Event): void => { if (!(event instanceof KeyboardEvent) || event.key === "Enter" || event.key === " ") { event.preventDefault(); chosen(row); } };
    return svg("g", { class: on ? "dot front" : "dot", tabindex: 0, role: "button", "aria-label": `Take ${row.method}${row.k === null ? "" : `, k ${row.k}`}: ${up.told(b)} ${up.words}, ${across.told(a)} ${across.words}`, onclick: go, onkeydown: go },
      svg("circle", { cx: x(a), cy: y(b), r: 7 }), on ? svg("text", { x: x(a) + 11, y: y(b) + 4 }, row.method) : svg("text", { x: x(a) - 11, y: y(b) + 4, class: "end" }, row.method));
  });
  const drawn = svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "pareto", role: "group", "aria-label": `Methods by ${across.words} and by ${up.words}` },
    svg("line", { x1: left, x2: wide - 20, y1: low, y2: low, class: "axis" }), svg("line", { x1: left, x2: left, y1: 14, y2: low, class: "axis" }),
    svg("polyline", { points: front.map(({ a, b }) => `${x(a)},${y(b)}`).join(" "), class: "frontline" }),
    svg("text", { x: wide - 20, y: low + 34, class: "end" }, `${across.words}, up to ${across.told(mostA)}`), svg("text", { x: 4, y: 12 }, `${up.words}, up to ${up.told(mostB)}`), dots);
  return h("figure", {}, drawn as unknown as HTMLElement, h("figcaption", {}, "Lower and further left is better. On the line: no other is better in both. Choose a point to take its method."));
}
