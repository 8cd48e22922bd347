// What is protected and how, with a preview on a sample of what a change costs.

import { ask, settingsOf, start, type Chosen, type Input, type Recipe, type Run } from "./api";
import { area, fill, h, number, percent, table, type Child } from "./dom";
import { Form, READING } from "./form";
import { corrected, found } from "./input";
import { copied, wrong } from "./parts";

interface Cost { trips: number; one_in: number; groups: number; origins: number; destinations: number; G: number | null; S: number | null; zone_km2: number | null; error?: string; overtaken?: boolean }

/** What is chosen for each file, until the page is left. */
const drafts = new Map<number, Chosen>();

export function take(input: number, settings: Chosen): void {
  drafts.set(input, { ...settings });
}

export async function settingsView(main: HTMLElement, id: number): Promise<void> {
  const input = await ask<Input>(`/api/inputs/${id}`);
  const settings = await settingsOf(input.wing, "anonymise");
  const chosen = drafts.get(id) ?? { ...(corrected.get(id) ?? {}) };
  drafts.set(id, chosen);
  const preview = h("section", { class: "card", "aria-live": "polite" });
  const recipe = h("div", {});
  const told = h("div", {});
  const changed = (): void => { void previewed(); void recipes(); };
  const recipes = async (): Promise<void> => {
    try { fill(recipe, copied(await ask<Recipe>("/api/recipes", "POST", { input: id, command: "anonymise", settings: chosen }))); fill(told); }
    catch (error) { fill(recipe); fill(told, wrong(error)); }
  };
  const previewed = async (): Promise<void> => {
    if (input.wing !== "trips") { preview.remove(); return; }
    if (!preview.hasChildNodes()) fill(preview, h("h2", {}, "What a change costs"), h("p", {}, "Reading a sample…"));
    preview.classList.add("busy");
    await showCosts(preview, await rows(input), chosen, () => preview.isConnected);
  };
  const run = async (): Promise<void> => {
    try { location.hash = `#/run/${(await start("anonymise", id, chosen)).id}`; }
    catch (error) { fill(told, wrong(error)); }
  };
  const form = new Form(settings, chosen, changed, (one) => !READING.includes(one.group) && !["sign", "formats"].includes(one.name), input.wing);
  fill(main, h("h1", {}, `What is protected in ${input.name}`),
    h("div", { class: "two" }, h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); void run(); } }, h("h2", {}, "Settings"), form.element, told, h("button", { class: "main" }, "Run")),
      input.wing === "trips" && preview),
    recipe);
  changed();
}

/** What is known of a file's rows and ids: a preview draws people with all their trips. */
async function rows(input: Input): Promise<{ input: number; rows: number | null; person: string | null }> {
  if (!found.has(input.id)) {
    const page = await ask<{ runs: Run[] }>(`/api/runs?limit=5&command=describe&input=${input.id}`);
    const done = page.runs.find((one) => one.state === "done");
    if (done) found.set(input.id, await ask<Run>(`/api/runs/${done.id}`));
  }
  const told = found.get(input.id)?.result;
  return { input: input.id, rows: told?.cleaning?.kept ?? null, person: told?.columns?.person ?? null };
}

let newest = 0;

async function showCosts(place: HTMLElement, asked: object, chosen: Chosen, there: () => boolean): Promise<void> {
  const mine = ++newest;
  const k = Number(chosen["k"] ?? 10), limit = share(chosen["suppress"] ?? 0.1);
  const choices: [string, Chosen][] = [
    ["as chosen", {}], [`k = ${Math.max(2, Math.round(k / 2))}`, { k: Math.max(2, Math.round(k / 2)) }], [`k = ${k * 2}`, { k: k * 2 }],
    [`limit ${percent(limit / 2)}`, { suppress: limit / 2 }], [`limit ${percent(Math.min(limit * 2, 0.9))}`, { suppress: Math.min(limit * 2, 0.9) }],
  ];
  const answers: [string, Cost][] = [];
  for (const [name, change] of choices) {
    let cost: Cost;
    try { cost = await ask<Cost>("/api/preview", "POST", { ...asked, settings: { ...chosen, ...change } }); }
    catch (error) { cost = { error: error instanceof Error ? error.message : "" } as Cost; }
    if (mine !== newest || !there() || cost.overtaken) return;
    answers.push([name, cost]);
    place.classList.remove("busy");
    fill(place, h("h2", {}, "What a change costs"), costs(answers, choices.length));
  }
}

function share(value: unknown): number {
  const text = String(value);
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
}

function costs(answers: [string, Cost][], all: number): Child {
  const base = answers[0]![1];
  if (base.error) return wrong(base.error);
  const change = (now: number | null, then: number | null): string =>
    now === null || then === null || !then || now === then ? "" : ` (${now > then ? "+" : "−"}${Math.abs(Math.round(100 * (now / then - 1)))}\u00a0%)`;
  const rows = answers.map(([name, cost]) => cost.error ? [name, cost.error, "", "", ""] : [
    name, `${number(cost.groups)}${change(cost.groups, base.groups)}`, `${number(cost.origins)}\u00a0×\u00a0${number(cost.destinations)}`,
    `${area(cost.zone_km2)}`, `${percent(cost.S)}`, `${number(cost.G === null ? null : Math.round(cost.G))}${change(cost.G, base.G)}`]);
  const sample = base.one_in > 1 ? `On ${number(base.trips)} trips of 1 in ${base.one_in} people; all people together allow finer zones, so compare the rows with each other.` : `On all ${number(base.trips)} trips, tried in a hurry: the run itself may find finer zones.`;
  return h("div", {}, table("Beside what is chosen", ["", "Flows", "Zones", "Typical zone", "Withheld", "Tiles a trip may be from and to (G)"], rows),
    h("p", { class: "help" }, sample, answers.length < all ? " More is being tried…" : ""));
}
