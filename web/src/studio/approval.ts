// The privacy officer's view: what a ledger holds as a timeline, and what is said of a release.

import { ask } from "./api";
import { fill, h, number, say } from "./dom";
import { wrong } from "./parts";

interface Approval { by?: string; verdict?: string; comment?: string; time?: string }
interface Kept { number: number; name: string; time: string; state: string; method: string; groups: number; records: number; promise: { sentence: string }; hierarchy: { spec?: string }; covered?: { period?: string[] }; approvals: Approval[]; approvals_needed: number; may_be_published: boolean }

let last = "";

export function approvalView(main: HTMLElement): void {
  const place = h("div", {});
  const folder = h("input", { id: "ledger", type: "text", value: last, placeholder: "/home/me/ledger", autocomplete: "off", spellcheck: "false" });
  const open = async (): Promise<void> => {
    last = folder.value.trim();
    fill(place, h("p", { role: "status" }, "Reading the ledger…"));
    try { fill(place, timeline(await ask<{ releases: Kept[] }>(`/api/ledger?folder=${encodeURIComponent(last)}`), open)); }
    catch (error) { fill(place, wrong(error)); }
  };
  fill(main, h("h1", {}, "Approval"),
    h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); void open(); } },
      h("div", { class: "field" }, h("label", { for: "ledger" }, "Folder of the ledger"), folder, h("p", { class: "help" }, "Runs are recorded in it with the setting ledger. It holds every release of the same people.")),
      h("button", { class: "main" }, "Open")), place);
  if (last) void open();
}

function timeline(told: { releases: Kept[] }, again: () => Promise<void>): HTMLElement {
  if (!told.releases.length) return h("p", {}, "Nothing is recorded in it yet.");
  return h("ol", { class: "timeline" }, [...told.releases].reverse().map((one) => {
    const said = h("div", {});
    const text = (name: string, words: string, help = ""): HTMLElement => h("div", { class: "field" }, h("label", { for: `${name}-${one.number}` }, words), h("input", { id: `${name}-${one.number}`, name, autocomplete: "off" }), h("p", { class: "help" }, help));
    const form = h("form", { onsubmit: (event) => { event.preventDefault(); } }, h("div", { class: "fields" }, text("by", "Your name"), text("key", "Path of your private key", "Made with tripcloak keygen; it signs what you say."), text("comment", "A few words")),
      h("div", { class: "row" }, ([["approve", "Approve"], ["subject-to-change", "Subject to change"], ["reject", "Reject"]] as const).map(([verdict, words]) => h("button", {
        type: "button", class: verdict === "approve" ? "main" : verdict === "reject" ? "danger" : "",
        onclick: () => {
          const given = Object.fromEntries([...form.querySelectorAll("input")].map((field) => [field.name, field.value.trim()]));
          fill(said, h("p", { role: "status" }, "Signing…"));
          ask("/api/ledger/judgements", "POST", { folder: last, release: one.number, verdict, ...given })
            .then(() => { say("Signed into the ledger."); return again(); }).catch((error: unknown) => fill(said, wrong(error)));
        },
      }, words))), said);
    return h("li", { class: "card" }, h("h2", {}, `${one.number}: ${one.name}`),
      h("p", { class: one.may_be_published ? "good" : "warning" }, one.may_be_published ? "May be published." : `Waits: ${one.approvals.filter((said) => said.verdict === "approve").length} of ${one.approvals_needed} approvals.`),
      h("p", {}, `Promised: every flow holds ${one.promise.sentence}. ${number(one.groups)} flows of ${number(one.records)} records by ${one.method} in zones of ${one.hierarchy.spec ?? "a file"}.`),
      h("p", { class: "help" }, `${one.time.replace("T", " ").replace("Z", " UTC")}${one.covered?.period ? `; trips of ${one.covered.period.join(" to ")}` : ""}; ${one.state}.`),
      one.approvals.length > 0 && h("ul", {}, one.approvals.map((said) => h("li", {}, `${said.by ?? ""}: ${said.verdict ?? ""}${said.comment ? `, “${said.comment}”` : ""}`))),
      h("details", {}, h("summary", {}, "Judge it"), form));
  }));
}
