// What is in a file, and what the columns were taken for, which can be corrected.

import { ask, settingsOf, start, type Chosen, type Input, type Run } from "./api";
import { fill, h, number, percent, table, type Child } from "./dom";
import { extentMap } from "./extent";
import { Form, READING } from "./form";
import { copied, watch, wrong } from "./parts";

/** How each file is read, as corrected on the page; runs that were made keep their own. */
export const corrected = new Map<number, Chosen>();
/** What is known of each file that its settings and previews build on. */
export const found = new Map<number, Run>();

export async function inputView(main: HTMLElement, id: number): Promise<void> {
  const input = await ask<Input>(`/api/inputs/${id}`);
  const chosen = corrected.get(id) ?? {};
  corrected.set(id, chosen);
  const place = h("div", {});
  const form = h("div", {});
  fill(main, h("h1", {}, input.name),
    !input.there && wrong("The file is no longer where it was. Put it back, or choose it anew."), place,
    h("section", { class: "card" }, h("h2", {}, "Correct how it is read"),
      h("p", {}, "What is left empty is found from the file itself."), form));
  const settings = await settingsOf(input.wing, "describe");
  let late = 0;
  const look = async (): Promise<void> => {
    const mine = ++late;
    try {
      const run = await start("describe", id, chosen);
      await watch(place, run.id, (done) => {
        if (mine !== late) return null;
        if (done.state === "done") found.set(id, done);
        fields.draw();
        return described(input, done);
      });
    } catch (error) { fill(place, wrong(error)); }
  };
  const fields = new Form(settings, chosen, () => undefined, (one) => READING.includes(one.group), "reading", () => {
    const told = found.get(id)?.result;
    const taken = (told?.columns ?? {}) as Record<string, string>;
    return { taken, all: [...new Set([...Object.values(taken), ...((told?.unused ?? []) as string[])])] };
  });
  fill(form, fields.element, h("button", { type: "button", onclick: () => void look() }, "Read it anew"));
  const earlier = found.get(id);
  if (earlier && JSON.stringify(earlier.settings) === JSON.stringify(chosen)) fill(place, ...[described(input, earlier)].flat());
  else await look();
}

function described(input: Input, run: Run): Child[] {
  const told = run.result ?? {};
  const next = h("p", { class: "row" }, h("a", { class: "button main", href: `#/settings/${input.id}` }, "Choose what is protected"),
    h("a", { class: "button", href: `#/methods/${input.id}` }, "Compare all methods"));
  const cleaning = told.cleaning ?? {};
  const dropped = Object.entries((cleaning.dropped ?? {}) as Record<string, number>);
  const where = told.where?.extent as [number, number, number, number] | undefined;
  const near = told.where?.nearest_city ? `${told.where.nearest_city_km} km from ${told.where.nearest_city}` : "";
  const numbers = Object.entries((told.numbers ?? told) as Record<string, unknown>).filter(([, value]) => typeof value === "number");
  return [
    ...((told.warnings ?? []) as string[]).map((one) => h("div", { class: "warning", role: "note" }, one)),
    h("div", { class: "two" },
      h("section", { class: "card" }, h("h2", {}, "What is in it"),
        table("Numbers", ["", "Number"], [
          ["rows read", number(cleaning.read)], ["rows used", number(cleaning.kept)],
          ...dropped.map(([why, rows]) => [`dropped: ${why.replaceAll("_", " ")}`, number(rows)]),
          ...numbers.map(([name, value]) => [name.replaceAll("_", " "), number(value)]),
          ...(Array.isArray(told.period) ? [["from", told.period[0]], ["to", told.period[1]]] : []),
          ...(told.extent_km ? [["extent", `${number(told.extent_km[0])} by ${number(told.extent_km[1])} km`]] : []),
          ...(told.resolution ? [["a sample", `${number(told.resolution.seconds)} s, ${number(told.resolution.metres)} m`]] : []),
          ...(told.when ? [["from", told.when.first_day], ["to", told.when.last_day]] : []),
          ...(told.id_is ? [["an id stands for a", told.id_is]] : []),
        ])),
      h("section", { class: "card" }, h("h2", {}, "Where it is"), where ? extentMap(where, near) : h("p", {}, "No coordinates are in it, or they are not told.")),
      h("section", { class: "card" }, h("h2", {}, "What columns were taken for"),
        table("Columns", ["Column", "is the", "because"], Object.entries((told.columns ?? {}) as Record<string, string>).map(([role, column]) =>
          [column, role.replaceAll("_", " "), told.why?.[role] ?? ""])),
        told.unused?.length > 0 && h("p", {}, `Not used: ${told.unused.join(", ")}.`)),
      told.samples_per_user && h("section", { class: "card" }, h("h2", {}, "How it is spread"), spread(told)),
      told.levels && h("section", { class: "card" }, h("h2", {}, `How much is below k = ${number(told.k)}`),
        table("All zones at one height", ["Height", "Flows", ...(told.units as string[]).map((one) => `below k ${one}`)],
          told.levels.map((one: { height: number; pairs: number; below: Record<string, number> }) =>
            [String(one.height), number(one.pairs), ...(told.units as string[]).map((unit) => percent(one.below[unit]))])))),
    ...[...((told.advice ?? []) as string[]), ...((told.notes ?? []) as string[])].map((one) => h("p", {}, one)),
    h("p", { class: "help" }, "These numbers look at unreleased data: keep them inside."), next, run.recipe && copied(run.recipe, `/api/runs/${run.id}/run.ipynb`),
  ];
}

const SPREAD: [string, string][] = [["samples_per_user", "samples of one"], ["gap_minutes", "minutes to the next"], ["radius_of_gyration_km", "radius of gyration, km"]];

/** Of trajectories: how many samples, how often, how far, by share of the people. */
function spread(told: Record<string, Record<string, number> | undefined>): HTMLElement {
  const known = SPREAD.filter(([name]) => told[name]);
  const shares = Object.keys(told[known[0]![0]]!);
  return table("By share of those who have less", ["", ...shares], known.map(([name, words]) => [words, ...shares.map((share) => number(told[name]![share]))]));
}
