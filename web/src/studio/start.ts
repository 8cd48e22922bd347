// The first view: choose a file, or go on with what is there.

import { ask, type Input, type Run, type Wing } from "./api";
import { fill, h, say, table } from "./dom";
import { STATES, wrong } from "./parts";

export async function startView(main: HTMLElement): Promise<void> {
  const told = h("div", {});
  const wing = (): Wing => (form.querySelector<HTMLInputElement>("input[name=wing]:checked")?.value ?? "trips") as Wing;
  const open = (input: Input): void => { location.hash = `#/input/${input.id}`; };
  const take = async (asked: Promise<Input>): Promise<void> => {
    fill(told, h("p", { role: "status" }, "Taking the file…"));
    try { open(await asked); } catch (error) { fill(told, wrong(error)); }
  };
  const path = h("input", { id: "path", type: "text", placeholder: "/home/me/trips.parquet", autocomplete: "off", spellcheck: "false" });
  const file = h("input", { id: "file", type: "file", onchange: () => { const sent = file.files?.[0]; if (sent) void take(ask<Input>(`/api/uploads/${encodeURIComponent(sent.name)}?wing=${wing()}`, "PUT", sent)); } });
  const radio = (value: Wing, words: string, checked: boolean): HTMLElement =>
    h("label", { class: "radio" }, h("input", { type: "radio", name: "wing", value, checked }), words);
  const form = h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); void take(ask<Input>("/api/inputs", "POST", { path: path.value.trim(), wing: wing() })); } },
    h("h2", {}, "Choose a file"),
    h("fieldset", {}, h("legend", {}, "What it holds"), radio("trips", "Trips, or points that trips are made of: flows are released", true), radio("trajectories", "Trajectories: whole paths of people are released", false)),
    h("div", { class: "fields" },
      h("div", { class: "field" }, h("label", { for: "path" }, "Path on this machine"), path, h("p", { class: "help" }, "CSV, Parquet, zip, xlsx or GeoJSON; a folder of such files, too. It is read where it lies."),
        h("button", { class: "main" }, "Open")),
      h("div", { class: "field" }, h("label", { for: "file" }, "Or send a file"), file, h("p", { class: "help" }, "It is copied into the workspace."))),
    told);
  fill(main, h("h1", {}, "Make mobility data safe to publish"),
    h("ol", { class: "road" }, ["Choose a file", "See what is in it", "Choose what is protected", "Run, look at the map, read the audit", "Download the release or its report"].map((step) => h("li", {}, step))), form);
  const [inputs, runs] = await Promise.all([ask<{ inputs: Input[] }>("/api/inputs?limit=20"), ask<{ runs: Run[]; before: number | null }>("/api/runs?limit=20")]);
  if (!form.isConnected) return;
  if (inputs.inputs.length) main.append(h("section", { class: "card" }, h("h2", {}, "Files"),
    table("Files in this workspace", ["File", "Holds", ""], inputs.inputs.map((one) => [
      h("a", { href: `#/input/${one.id}` }, one.name), one.wing, one.there ? "" : "no longer where it was"]))));
  if (runs.runs.length) main.append(runList(runs.runs, runs.before));
}

export function runList(runs: Run[], before: number | null): HTMLElement {
  const rows = (some: Run[]): HTMLElement[] => some.map((run) => h("tr", {},
    h("th", { scope: "row" }, h("a", { href: `#/run/${run.id}` }, `${run.id}: ${run.command}`)),
    h("td", {}, run.input_name), h("td", {}, Object.entries(run.settings).map(([name, value]) => `${name} ${String(value)}`).join(", ") || "defaults"),
    h("td", {}, h("span", { class: `state ${run.state}` }, STATES[run.state] ?? run.state)), h("td", {}, run.made.replace("T", " ").replace("Z", ""))));
  const body = h("tbody", {}, rows(runs));
  const more = h("button", { type: "button", onclick: () => {
    void ask<{ runs: Run[]; before: number | null }>(`/api/runs?limit=50&before=${before}`).then((page) => {
      body.append(...rows(page.runs));
      before = page.before;
      if (before === null) more.remove();
    }, (error: unknown) => say(String(error)));
  } }, "Older runs");
  return h("section", { class: "card" }, h("h2", {}, "Runs"),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Runs" },
      h("table", {}, h("caption", {}, "Every run stays as it was made"), h("thead", {}, h("tr", {}, ["Run", "File", "Settings", "State", "Made (UTC)"].map((one) => h("th", { scope: "col" }, one)))), body)),
    before !== null && more);
}
