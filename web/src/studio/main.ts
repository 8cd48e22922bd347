// The studio: the address says what is shown, so that going back is undoing.

import { approvalView } from "./approval";
import { fill, h } from "./dom";
import { inputView } from "./input";
import { methodsView } from "./methods";
import { wrong } from "./parts";
import { besideView, runView } from "./run";
import { settingsView } from "./settings";
import { startView } from "./start";

const VIEWS: Record<string, (main: HTMLElement, one: number, other: number | null) => Promise<void> | void> = {
  "": (main) => startView(main),
  input: (main, one) => inputView(main, one),
  settings: (main, one) => settingsView(main, one),
  run: (main, one) => runView(main, one),
  beside: (main, one, other) => besideView(main, one, other),
  methods: (main, one, other) => methodsView(main, one, other),
  approval: (main) => approvalView(main),
};

async function show(first = false): Promise<void> {
  const [, name = "", one, other] = location.hash.split("/");
  const main = document.getElementById("main")!;
  const fresh = h("div", { class: "view" }, h("p", { role: "status" }, "One moment…"));
  fill(main, fresh);
  for (const link of document.querySelectorAll("#nav a")) link.toggleAttribute("aria-current", link.getAttribute("href") === `#/${name === "approval" ? name : ""}`);
  if (!first) main.focus({ preventScroll: true });
  window.scrollTo(0, 0);
  const view = VIEWS[name];
  try {
    if (!view) throw new Error("There is no such view.");
    await view(fresh, Number(one), other === undefined ? null : Number(other));
  } catch (error) {
    if (fresh.isConnected) fill(fresh, wrong(error), h("p", {}, h("a", { href: "#/" }, "Back to the start")));
  }
  document.title = `${fresh.querySelector("h1")?.textContent ?? "tripcloak studio"}`;
}

fill(document.getElementById("nav")!, h("a", { href: "#/" }, "Files and runs"), h("a", { href: "#/approval" }, "Approval"), h("a", { href: "/api/docs", target: "_blank" }, "API"));
window.addEventListener("hashchange", () => void show());
void show(true);
