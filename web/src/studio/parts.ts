// Parts that several views share: a run that is under way, recipes to copy, words for what went wrong.

import { ask, follow, type Recipe, type Run } from "./api";
import { fill, h, number, say, type Child } from "./dom";

export const STATES: Record<string, string> = {
  waiting: "waits for its turn", running: "running", done: "done", failed: "failed", cancelled: "cancelled", interrupted: "interrupted",
};

export function wrong(error: unknown): HTMLElement {
  return h("div", { class: "wrong", role: "alert" }, error instanceof Error ? error.message : String(error));
}

export function copied(recipe: Recipe, notebook?: string): HTMLElement {
  const tabs: [string, string][] = [["Command line", recipe.command], ["TOML file", recipe.toml], ["Notebook", recipe.python]];
  const shown = h("pre", { tabindex: 0, "aria-label": "The same to copy" }, recipe.command);
  let text = recipe.command;
  const buttons = tabs.map(([name, words], place) => h("button", {
    type: "button", class: "tab", "aria-pressed": place === 0 ? "true" : "false",
    onclick: (event) => {
      text = words;
      shown.textContent = words;
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === event.currentTarget));
    },
  }, name));
  return h("details", { class: "card" }, h("summary", {}, "The same as a command line, a TOML file, a notebook"),
    h("div", { class: "row" }, buttons,
      h("button", { type: "button", onclick: () => { void navigator.clipboard.writeText(text).then(() => say("Copied.")); } }, "Copy"),
      notebook && h("a", { href: notebook, download: "" }, "Download the notebook")),
    shown);
}

export function progressOf(run: Run): HTMLElement {
  const { what, done, total } = run.progress;
  const bar = h("progress", total ? { max: total, value: done ?? 0, "aria-label": "Progress" } : { "aria-label": "Progress" });
  const steps = done ? (total ? ` (${number(done)} of ${number(total)})` : ` (${number(done)})`) : "";
  return h("div", { class: "progress" }, bar, h("p", {}, run.state === "waiting" ? "Waiting for its turn." : `${what ?? "starting"}${steps}`));
}

/** Shows a run in a place while it runs, and then what `ended` makes of it. */
export async function watch(place: HTMLElement, id: number, ended: (run: Run) => Child | Child[]): Promise<void> {
  const live = h("div", { "aria-live": "polite" });
  const stop = h("button", {
    type: "button", class: "danger",
    onclick: () => { stop.disabled = true; stop.textContent = "Stopping…"; ask(`/api/runs/${id}/cancel`, "POST").catch((error: unknown) => say(String(error))); },
  }, "Cancel");
  fill(place, h("section", { class: "card" }, live, stop));
  const run = await follow(id, (now) => fill(live, progressOf(now)), () => !place.isConnected);
  if (!place.isConnected) return;
  if (run.state === "done") fill(place, ...[ended(run)].flat());
  else fill(place, h("section", { class: "card" }, h("div", { class: "wrong", role: "alert" }, h("strong", {}, `This run ${run.state === "failed" ? "failed" : `was ${run.state}`}. `), run.words)), ...(run.result ? [ended(run)].flat() : []));
}

export function frame(source: string, title: string): HTMLElement {
  return h("iframe", { src: source, title, sandbox: "allow-scripts allow-downloads", class: "map", loading: "lazy" });
}
