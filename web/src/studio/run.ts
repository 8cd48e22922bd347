// One run: its progress, then its map, verdict, losses, and what can be taken away.

import { ask, start, type Run } from "./api";
import { openLedger } from "./approval";
import { fill, h, number, table, type Child } from "./dom";
import { copied, frame, STATES, watch, wrong } from "./parts";
import { take } from "./settings";

export async function runView(main: HTMLElement, id: number): Promise<void> {
  const first = await ask<Run>(`/api/runs/${id}`);
  const place = h("div", {});
  const settings = Object.entries(first.settings).map(([name, value]) => `${name} = ${String(value)}`).join(", ") || "all settings as they are by default";
  fill(main, h("h1", {}, `Run ${id}: ${first.command} ${first.input_name}`), h("p", {}, settings), place, first.recipe && copied(first.recipe, `/api/runs/${id}/run.ipynb`));
  await watch(place, id, (run) => [
    run.command === "anonymise" ? released(run) : run.command === "audit" ? audited(run.result) : run.command === "compare" ? compared(run) : plain(run.result),
  ].flat());
}

function released(run: Run): Child[] {
  const told = run.result ?? {};
  const audit = told.audit ?? {};
  const checks = h("div", {});
  const measures = run.measured ?? [];
  const ledger = run.settings["ledger"];
  return [
    h("section", { class: audit.safe ? "card verdict safe" : "card verdict unsafe" },
      h("h2", {}, audit.safe ? "Safe: the audit found every promise kept" : "The audit says no"),
      ((told.plain_words ?? []) as string[]).map((one) => h("p", {}, one)), ((told.notes ?? []) as string[]).map((one) => h("p", {}, `Note: ${one}`)),
      h("p", { class: "row" },
        h("a", { class: "button main", href: `/api/runs/${run.id}/release.zip`, download: "" }, "Download the release"),
        h("a", { class: "button", href: `/api/runs/${run.id}/report.html`, download: "" }, "Download the report"),
        h("button", { type: "button", onclick: () => { take(run.input, run.settings); location.hash = `#/settings/${run.input}`; } }, "Change a setting"),
        h("a", { class: "button", href: `#/beside/${run.id}` }, "Lay beside another run"),
        typeof ledger === "string" && h("a", { class: "button", href: "#/approval", onclick: () => openLedger(ledger) }, "Go to its approval"))),
    h("section", { class: "card" }, h("h2", {}, "The map of the release"), frame(`/api/runs/${run.id}/show/map`, `Map of the release of run ${run.id}`)),
    h("section", { class: "card" }, h("h2", {}, "The audit"), h("p", {}, "A second program counts the raw input afresh and tries every rule on the files."),
      h("button", { type: "button", onclick: () => { void check(run, checks); } }, "Audit against the raw input"), checks),
    measures.length > 0 && h("section", { class: "card" }, h("h2", {}, "What is lost"),
      table("Measure by measure", ["Measure", "Value", "What it is"], measures),
      h("p", { class: "help" }, "These numbers look at unreleased data: keep them inside.")),
  ];
}

/** Numbers by name; of a distribution, its median. */
function flat(told: Record<string, unknown> | undefined): Record<string, number> {
  const medians = Object.entries(told ?? {}).map(([name, value]) => typeof value === "object" && value !== null && "median" in value ? [`${name} (median)`, value.median] : [name, value]);
  return Object.fromEntries(medians.filter(([, value]) => typeof value === "number")) as Record<string, number>;
}

async function check(run: Run, place: HTMLElement): Promise<void> {
  try {
    const made = await start("audit", run.input, {}, run.id);
    await watch(place, made.id, (done) => audited(done.result));
  } catch (error) { fill(place, wrong(error)); }
}

interface Finding { rule: string; ok: boolean; state: string; words: string }

function audited(told: Run["result"]): Child[] {
  const findings = [...((told?.findings ?? []) as Finding[])].sort((one, other) => Number(one.ok) - Number(other.ok));
  const least = Object.entries((told?.smallest_support ?? {}) as Record<string, number>).map(([unit, held]) => `${number(held)} ${unit}`).join(", ");
  return [
    h("p", { class: told?.safe ? "good" : "wrong" }, h("strong", {}, told?.safe ? "Safe. " : "Not safe. "), least && `The smallest flow holds ${least}. `, told?.counted?.words ?? ""),
    ((told?.notes ?? []) as string[]).map((one) => h("p", {}, one)),
    table("Rule by rule", ["Rule", "Finding", "What it holds"], findings.map((one) => [one.rule, one.ok ? (one.state === "ok" ? "holds" : one.state) : "BROKEN", one.words])),
  ].flat();
}

function compared(run: Run): Child[] {
  return [h("p", {}, h("a", { class: "button main", href: `#/methods/${run.input}/${run.id}` }, "Look at the methods side by side"))];
}

function plain(told: unknown): HTMLElement {
  return h("pre", { tabindex: 0 }, JSON.stringify(told, null, 2));
}

/** Two runs side by side, with what differs. */
export async function besideView(main: HTMLElement, one: number, other: number | null): Promise<void> {
  const left = await ask<Run>(`/api/runs/${one}`);
  const page = await ask<{ runs: Run[] }>(`/api/runs?limit=100&command=anonymise`);
  const others = page.runs.filter((run) => run.id !== one && run.state === "done" && run.wing === left.wing);
  const chosen = other ?? others.find((run) => run.input === left.input)?.id ?? others[0]?.id;
  const place = h("div", {});
  const pick = h("select", { id: "other", onchange: () => { location.hash = `#/beside/${one}/${pick.value}`; } },
    others.map((run) => h("option", { value: run.id, selected: run.id === chosen }, `Run ${run.id}: ${run.input_name}, ${Object.entries(run.settings).map(([name, value]) => `${name} ${String(value)}`).join(", ") || "defaults"}`)));
  fill(main, h("h1", {}, `Run ${one} beside another`), others.length ? h("p", { class: "field" }, h("label", { for: "other" }, "The other run"), pick) : h("p", {}, "There is no other release yet: change a setting and run it."), place);
  if (chosen === undefined) return;
  const right = await ask<Run>(`/api/runs/${chosen}`);
  fill(place, differences(left, right),
    h("div", { class: "two" }, [left, right].map((run) => h("section", { class: "card" }, h("h2", {}, `Run ${run.id}`), frame(`/api/runs/${run.id}/show/map`, `Map of run ${run.id}`)))));
}

function differences(left: Run, right: Run): HTMLElement {
  const names = [...new Set([...Object.keys(left.settings), ...Object.keys(right.settings)])];
  const asked = names.filter((name) => String(left.settings[name]) !== String(right.settings[name]))
    .map((name) => [name, String(left.settings[name] ?? "default"), String(right.settings[name] ?? "default"), "", "as asked for"]);
  const numbers = (run: Run): Record<string, number> => {
    const told = run.result ?? {};
    return flat({ groups: told.groups, ...told.zones, ...told.released, ...told.measures });
  };
  const words = new Map((left.measured ?? []).map(([name, , told]) => [name, told]));
  const a = numbers(left), b = numbers(right);
  const rows = Object.keys(a).filter((name) => name in b).map((name) => {
    const change = a[name] ? (b[name]! / a[name]! - 1) * 100 : 0;
    const told = words.get(name.replaceAll("_", " ").replace(" (median)", "")) ?? "";
    return [name.replaceAll("_", " "), number(a[name]), number(b[name]), a[name] === b[name] ? "same" : `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(1)} %`, told];
  });
  return h("section", { class: "card" }, h("h2", {}, "The difference"), table("What was asked for, and what came out", ["", `Run ${left.id} (${STATES[left.state]})`, `Run ${right.id} (${STATES[right.state]})`, "Change", "What it is"], [...asked, ...rows]));
}
