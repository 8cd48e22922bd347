// Settings as fields: each is what its option declares, with one line of help and its own default.

import { fill, h } from "./dom";
import type { Chosen, Method, Option, Settings } from "./api";

const FIRST: Record<string, string[]> = {
  trips: ["method", "k", "unit", "suppress", "hierarchy"],
  trajectories: ["method", "k", "metres", "seconds"],
  reading: ["id_is", "form", "preset", "timezone"],
};
const NAMES: Record<string, string> = {
  method: "Method", k: "Smallest group, k", unit: "What k counts", suppress: "Limit: share that may be withheld", hierarchy: "Zones",
  metres: "Width of a sample in metres", seconds: "Length of a sample in seconds", id_is: "What the id stands for",
};
const HEADINGS: Record<string, string> = {
  privacy: "Privacy", zones: "Zones and times", segments: "Segments", run: "Run", "method option": "Options of the method",
  column: "Columns", reading: "Rows of the input", counts: "Tables of counts", samples: "Samples", compared: "What is compared",
};
// What people mostly choose, where an option takes more than a list could hold.
const OFFERED: Record<string, [string, string][]> = {
  unit: [["travellers", "different people, vehicles or devices"], ["trips", "trips, whoever made them"], ["population", "people that trips stand for"]],
  hierarchy: [["h3:7", "hexagons of 5 km²"], ["h3:8", "hexagons of 0.7 km²"], ["h3:9", "hexagons of 0.1 km²"], ["h3:10", "hexagons of 1.5 ha"], ["quadtree:12", "squares"], ["dendrogram", "zones of a file"]],
  timezone: Intl.supportedValuesOf("timeZone").map((zone) => [zone, ""]),
};
// Plainer than what the command line says, for the settings that everybody meets.
const WORDS: Record<string, string> = {
  k: "No flow of fewer is published.", suppress: "What cannot be told safely is left out, up to this share: 0.1 or 10%.",
  hierarchy: "Where zones begin, before they are joined: h3:7 for a region, h3:9 for a city, h3:10 for streets.",
};
const CLOSED: Record<string, string[]> = { id_is: ["person", "vehicle", "device", "card", "household"] };
const SHORT = 20; // letters of a default that fit a field
export const READING = ["column", "reading", "counts", "samples"];

export const called = (name: string): string => NAMES[name] ?? name.replaceAll("_", " ");

export class Form {
  readonly element: HTMLElement;

  constructor(
    private readonly settings: Settings, readonly chosen: Chosen, private readonly changed: () => void,
    private readonly shows: (option: Option) => boolean, private readonly wing: string,
    private readonly columns: () => { taken: Record<string, string>; all: string[] } = () => ({ taken: {}, all: [] }),
  ) {
    this.element = h("div", { class: "form" });
    this.draw();
  }

  draw(): void {
    const own = this.method()?.options ?? [];
    const shown = this.settings.options.filter((one) => this.shows(one) && (one.group !== "method option" || own.includes(one.name)));
    const first = (FIRST[this.wing] ?? []).map((name) => shown.find((one) => one.name === name)).filter((one) => one !== undefined);
    const groups = [...new Set(shown.map((one) => one.group))];
    fill(this.element,
      h("datalist", { id: "columns" }, this.columns().all.map((one) => h("option", { value: one }))),
      h("div", { class: "fields" }, first.map((one) => this.field(one))),
      groups.map((group) => {
        const rest = shown.filter((one) => one.group === group && !first.includes(one));
        if (!rest.length) return null;
        const open = rest.some((one) => this.chosen[one.name] !== undefined) || (this.wing === "reading" && group === "column");
        return h("details", { open }, h("summary", {}, HEADINGS[group] ?? group), h("div", { class: "fields" }, rest.map((one) => this.field(one))));
      }));
  }

  private method(): Method | undefined {
    const name = this.chosen["method"] ?? this.settings.options.find((one) => one.name === "method")?.default;
    return this.settings.methods.find((one) => one.name === name);
  }

  private field(option: Option): HTMLElement {
    const id = `setting-${option.name}`;
    const value = this.chosen[option.name];
    const said = { id, name: option.name, "aria-describedby": `${id}-help` };
    const { taken } = this.columns();
    let input: HTMLInputElement | HTMLSelectElement;
    const values = option.name === "method" ? this.settings.methods.map((one) => one.name) : (CLOSED[option.name] ?? option.values);
    const offered = OFFERED[option.name] ?? [];
    // A long default is told below the field, where all of it can be read.
    const long = option.told_default.length > SHORT;
    if (option.kind === "switch") {
      input = h("input", { ...said, type: "checkbox" });
      (input as HTMLInputElement).checked = value === true;
    } else if (values.length) {
      input = h("select", said, option.default === null && h("option", { value: "" }, long ? "automatic" : option.told_default || "not asked for"),
        values.map((one) => h("option", { value: one, selected: one === (value ?? option.default) }, one)));
    } else {
      const numeric = (option.kind === "number" || option.kind === "whole number") && option.name !== "suppress";
      input = h("input", { ...said, type: numeric ? "number" : "text", step: option.kind === "whole number" ? 1 : "any",
        placeholder: option.group === "column" ? (taken[option.name] ?? "") : long ? "automatic" : option.told_default, list: option.group === "column" ? "columns" : offered.length ? `${id}-offered` : null, value: value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value), autocomplete: "off", spellcheck: "false" });
    }
    input.addEventListener("change", () => this.take(option, input));
    const words = option.name === "method" ? (this.method()?.summary ?? option.help) : this.wing === "trips" ? (WORDS[option.name] ?? option.help) : option.help;
    const help = long && option.group !== "column" ? `${words} Left empty: ${option.told_default}.` : words;
    const field = h("div", { class: option.kind === "switch" ? "field switch" : "field" },
      h("label", { for: id }, called(option.name)), input, offered.length > 0 && h("datalist", { id: `${id}-offered` }, offered.map(([one, told]) => h("option", { value: one, label: told || null }))), h("p", { id: `${id}-help`, class: "help" }, help));
    return field;
  }

  private take(option: Option, input: HTMLInputElement | HTMLSelectElement): void {
    const text = input.value.trim();
    let value: unknown = text;
    if (option.kind === "switch") value = (input as HTMLInputElement).checked || undefined;
    else if (text === "" || text === String(option.default)) value = undefined;
    else if (option.kind === "texts") value = text.split(",").map((one) => one.trim()).filter(Boolean);
    else if (input instanceof HTMLInputElement && input.type === "number") value = Number(text);
    if (value === undefined) Reflect.deleteProperty(this.chosen, option.name);
    else this.chosen[option.name] = value;
    if (option.name === "method") {
      const own = this.method()?.options ?? [];
      for (const one of this.settings.options)
        if (one.group === "method option" && !own.includes(one.name)) Reflect.deleteProperty(this.chosen, one.name);
      this.draw();
      document.getElementById("setting-method")?.focus();
    }
    this.changed();
  }
}
