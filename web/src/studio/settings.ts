// What is protected and how, with a preview on a sample of what a change costs.

import { ask, settingsOf, start, type Chosen, type Input, type Recipe, type Run, type Settings, type Wing } from "./api";
import { area, fill, h, number, percent, table, type Child } from "./dom";
import { Form, READING } from "./form";
import { corrected, found } from "./input";
import { copied, wrong } from "./parts";

interface Cost {
  error?: string; overtaken?: boolean;
  // Of trips.
  trips: number; one_in: number; groups: number; origins: number; destinations: number; G: number | null; S: number | null; zone_km2: number | null;
  // Of trajectories.
  people: number; trajectories: number; samples: number; km: number | null; minutes: number | null; deleted: number | null;
}

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
    if (!preview.hasChildNodes()) fill(preview, h("h2", {}, "What a change costs"), h("p", {}, "Reading a sample…"));
    preview.classList.add("busy");
    await showCosts(preview, input.wing, await rows(input), choices(settings, chosen), () => preview.isConnected);
  };
  const run = async (): Promise<void> => {
    try { location.hash = `#/run/${(await start("anonymise", id, chosen)).id}`; }
    catch (error) { fill(told, wrong(error)); }
  };
  const form = new Form(settings, chosen, changed, (one) => !READING.includes(one.group) && !["sign", "formats"].includes(one.name), input.wing);
  fill(main, h("h1", {}, `What is protected in ${input.name}`),
    h("div", { class: "two" }, h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); void run(); } }, h("h2", {}, "Settings"), form.element, told, h("button", { class: "main" }, "Run")),
      preview),
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

/** What is chosen, and the same with k and with the limit halved and doubled, where there are such settings. */
function choices({ options }: Settings, chosen: Chosen): [string, Chosen][] {
  const now = (name: string): number => share(chosen[name] ?? options.find((one) => one.name === name)?.default);
  const made: [string, Chosen][] = [["as chosen", chosen]];
  const half = Math.max(2, Math.round(now("k") / 2));
  for (const k of [half, now("k") * 2]) if (Number.isFinite(k) && k !== now("k")) made.push([`k = ${k}`, { ...chosen, k }]);
  for (const limit of [now("suppress") / 2, Math.min(now("suppress") * 2, 0.9)]) if (Number.isFinite(limit)) made.push([`limit ${percent(limit)}`, { ...chosen, suppress: limit }]);
  return made;
}

async function showCosts(place: HTMLElement, wing: Wing, asked: object, tried: [string, Chosen][], there: () => boolean): Promise<void> {
  const mine = ++newest;
  const answers: [string, Cost][] = [];
  for (const [name, settings] of tried) {
    let cost: Cost;
    try { cost = await ask<Cost>("/api/preview", "POST", { ...asked, settings }); }
    catch (error) { cost = { error: error instanceof Error ? error.message : "" } as Cost; }
    if (mine !== newest || !there() || cost.overtaken) return;
    answers.push([name, cost]);
    place.classList.remove("busy");
    fill(place, h("h2", {}, "What a change costs"), (wing === "trips" ? costs : costsToPeople)(answers, tried.length));
  }
}

function share(value: unknown): number {
  const text = String(value);
  return text.endsWith("%") ? Number(text.slice(0, -1)) / 100 : Number(text);
}

function change(now: number | null, then: number | null): string {
  return now === null || then === null || !then || now === then ? "" : ` (${now > then ? "+" : "−"}${Math.abs(Math.round(100 * (now / then - 1)))}\u00a0%)`;
}

function costsToPeople(answers: [string, Cost][], all: number): Child {
  const base = answers[0]![1];
  if (base.error) return wrong(base.error);
  const rows = answers.map(([name, cost]) => cost.error ? [name, cost.error, "", "", ""] : [
    name, number(cost.trajectories), `${number(cost.samples)}${change(cost.samples, base.samples)}`, `${number(cost.km)} km${change(cost.km, base.km)}`,
    `${number(cost.minutes === null ? null : Math.round(cost.minutes))} minutes${change(cost.minutes, base.minutes)}`, percent(cost.deleted)]);
  return h("div", {}, table("Beside what is chosen", ["", "Trajectories", "Samples", "Moved by", "and by", "Samples withheld"], rows),
    h("p", { class: "help" }, `On ${number(base.people)} people: among more, others who are alike are nearer, so compare the rows with each other.`, answers.length < all ? " More is being tried…" : ""));
}

function costs(answers: [string, Cost][], all: number): Child {
  const base = answers[0]![1];
  if (base.error) return wrong(base.error);
  const rows = answers.map(([name, cost]) => cost.error ? [name, cost.error, "", "", ""] : [
    name, `${number(cost.groups)}${change(cost.groups, base.groups)}`, `${number(cost.origins)}\u00a0×\u00a0${number(cost.destinations)}`,
    `${area(cost.zone_km2)}`, `${percent(cost.S)}`, `${number(cost.G === null ? null : Math.round(cost.G))}${change(cost.G, base.G)}`]);
  const sample = base.one_in > 1 ? `On ${number(base.trips)} trips of 1 in ${base.one_in} people; all people together allow finer zones, so compare the rows with each other.` : `On all ${number(base.trips)} trips, tried in a hurry: the run itself may find finer zones.`;
  return h("div", {}, table("Beside what is chosen", ["", "Flows", "Zones", "Typical zone", "Withheld", "Tiles a trip may be from and to (G)"], rows),
    h("p", { class: "help" }, sample, answers.length < all ? " More is being tried…" : ""));
}
