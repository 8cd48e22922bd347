// The privacy officer's view: what a ledger holds as a timeline, and what is said of a release.

import { ask } from "./api";
import { fill, h, number, say, type Child } from "./dom";
import { wrong } from "./parts";

interface Approval { by?: string; verdict?: string; comment?: string; time?: string }
interface Kept { number: number; name: string; time: string; state: string; method: string; groups: number; records: number; promise: { sentence: string }; hierarchy: { spec?: string }; told_by: { of?: string }; covered?: { period?: string[] }; approvals: Approval[]; approvals_needed: number; may_be_published: boolean }
interface Looked { changed_files: string[]; safe: boolean | null; plain_words: string[]; check: { untouched: boolean; verdict: string; promised: string[]; not_promised: string[] } }

const VERDICTS = [["approve", "Approve"], ["subject-to-change", "Subject to change"], ["reject", "Reject"]] as const;
const SAID: Record<string, string> = { approve: "approves", "subject-to-change": "asks for a change", reject: "rejects it" };

let last = "";
// Who judges, for the next release, too; never what unlocks their key.
const officer: Record<string, string> = { by: "", key: "" };

export function openLedger(folder: string): void {
  last = folder;
}

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
    h("p", {}, "For the privacy officer: every release of the same people in the order they were made, what each promises, and your verdict, signed with your key."),
    h("form", { class: "card", onsubmit: (event) => { event.preventDefault(); void open(); } },
      h("div", { class: "field" }, h("label", { for: "ledger" }, "Folder of the ledger"), folder, h("p", { class: "help" }, "Made with tripcloak ledger init; runs are recorded in it with the setting ledger.")),
      h("button", { class: "main" }, "Open")), place);
  if (last) void open();
}

function timeline(told: { releases: Kept[] }, again: () => Promise<void>): HTMLElement {
  if (!told.releases.length) return h("p", {}, "Nothing is recorded in it yet.");
  return h("ol", { class: "timeline", reversed: true, "aria-label": "Releases, the newest first" }, [...told.releases].reverse().map((one) => kept(one, again)));
}

/** What was released, and what is promised of it; trajectories have no zones, and noise no number of people. */
function inShort(one: Kept): string {
  if (one.told_by.of === "people") return `Promised: ${one.promise.sentence}. ${number(one.groups)} trajectories of ${number(one.records)} people by ${one.method}.`;
  return `Promised: every flow holds ${one.promise.sentence}. ${number(one.groups)} flows of ${number(one.records)} records by ${one.method} in zones of ${one.hierarchy.spec ?? "a file"}.`;
}

function kept(one: Kept, again: () => Promise<void>): HTMLElement {
  const given = one.approvals.filter((said) => said.verdict === "approve").length;
  const looked = h("div", {});
  const details = h("details", { ontoggle: () => { if (details.open && !looked.hasChildNodes()) void look(one, looked); } },
    h("summary", {}, "Look at it: verdict, promise, limits"), looked);
  return h("li", { class: "card" }, h("h2", {}, `${one.number}: ${one.name}`),
    h("p", { class: one.may_be_published ? "good" : "warning" }, one.may_be_published ? "May be published." : `May not be published yet: ${given} of ${one.approvals_needed} approvals${one.approvals.length > given ? ", and somebody objects" : ""}.`),
    h("p", {}, inShort(one)),
    h("p", { class: "help" }, `${when(one.time)}${one.covered?.period ? `; trips of ${one.covered.period.join(" to ")}` : ""}; ${one.state}.`),
    one.approvals.length > 0 && h("ul", { class: "said" }, one.approvals.map((said) => h("li", {}, h("strong", {}, said.by ?? ""), ` ${SAID[said.verdict ?? ""] ?? said.verdict ?? ""}${said.comment ? `: “${said.comment}”` : ""}`, said.time && h("span", { class: "help" }, ` (signed ${when(said.time)})`)))),
    details, judging(one, again));
}

const when = (time: string): string => time.replace("T", " ").replace("Z", " UTC");

async function look(one: Kept, place: HTMLElement): Promise<void> {
  fill(place, h("p", { role: "status" }, "Checking its files…"));
  try {
    const told = await ask<Looked>(`/api/ledger/releases/${one.number}?folder=${encodeURIComponent(last)}`);
    const list = (words: string, some: string[]): Child[] => some.length ? [h("h3", {}, words), h("ul", {}, some.map((text) => h("li", {}, text)))] : [];
    const same = told.check.untouched && !told.changed_files.length;
    fill(place,
      h("p", { class: told.safe === false ? "wrong" : told.safe ? "good" : "warning" }, told.safe ? "Safe: its audit against the raw data found every promise kept." : told.safe === false ? "Not safe: its audit found a broken promise." : "Its audit cannot be read: the private part is not where it was."),
      h("p", { class: same ? "good" : "wrong" }, told.changed_files.length ? `Changed since it was recorded: ${told.changed_files.join(", ")}.` : told.check.verdict),
      ...list("What it holds", told.plain_words), ...list("What is promised", told.check.promised), ...list("What is not promised", told.check.not_promised));
  } catch (error) { fill(place, wrong(error)); }
}

function judging(one: Kept, again: () => Promise<void>): HTMLElement {
  const said = h("div", {});
  const text = (name: string, words: string, help = "", type = "text"): HTMLElement => h("div", { class: "field" }, h("label", { for: `${name}-${one.number}` }, words),
    h("input", { id: `${name}-${one.number}`, name, type, value: officer[name] ?? "", autocomplete: "off", spellcheck: "false" }), h("p", { class: "help" }, help));
  const sign = (verdict: string): void => {
    const given = Object.fromEntries([...form.querySelectorAll("input")].map((field) => [field.name, field.type === "password" ? field.value : field.value.trim()]));
    for (const name of Object.keys(officer)) officer[name] = given[name] ?? "";
    const missing = [["by", "your name"], ["key", "the path of your key"]].filter(([name]) => !given[name!]).map(([, words]) => words);
    if (missing.length) { fill(said, wrong(`Say ${missing.join(" and ")} first.`)); return; }
    const { passphrase, ...rest } = given;
    fill(said, h("p", { role: "status" }, "Signing…"));
    ask("/api/ledger/judgements", "POST", { folder: last, release: one.number, verdict, ...rest, ...(passphrase ? { passphrase } : {}) })
      .then(() => { say("Signed into the ledger."); return again(); }).catch((error: unknown) => fill(said, wrong(error)));
  };
  const form = h("form", { onsubmit: (event) => { event.preventDefault(); } },
    h("div", { class: "fields" }, text("by", "Your name"), text("key", "Path of your private key", "Made with tripcloak keygen; it signs what you say."),
      text("passphrase", "Passphrase of the key", "Only if it has one; it is kept nowhere.", "password"), text("comment", "A few words")),
    h("div", { class: "row" }, VERDICTS.map(([verdict, words]) => h("button", { type: "button", class: verdict === "approve" ? "main" : verdict === "reject" ? "danger" : "", onclick: () => sign(verdict) }, words))), said);
  return h("details", {}, h("summary", {}, "Judge it"), form);
}
