// The licence texts of the libraries within the built scripts, as one file that stands beside them.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";

// Libraries whose own build already holds what they depend on, so that no module of those is met on the way.
const BUILT_WHOLE = ["maplibre-gl"];
const LICENCE = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
const RULE = "=".repeat(80);

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf-8"));

/** The folder of the package that a module is from, or null where it is our own or made by the builder. */
function packageOf(module) {
  const at = module.lastIndexOf("/node_modules/");
  if (at < 0) return null;
  const inside = module.slice(at + "/node_modules/".length).split("/");
  return join(module.slice(0, at), "node_modules", ...inside.slice(0, inside[0].startsWith("@") ? 2 : 1));
}

/** The folder of a package as another one finds it: in the nearest node_modules above. */
function found(name, from) {
  for (let above = from; above !== dirname(above); above = dirname(above)) {
    const folder = join(above, "node_modules", name);
    if (existsSync(join(folder, "package.json"))) return folder;
  }
  throw new Error(`${name}, which ${from} depends on, is not installed`);
}

/** All that a package depends on, and all that those depend on. */
function withDependencies(folder, known = new Set()) {
  if (known.has(folder)) return known;
  known.add(folder);
  for (const name of Object.keys(manifestOf(folder).dependencies ?? {}))
    if (!name.startsWith("@types/")) withDependencies(found(name, folder), known);
  return known;
}

/** What is said of one package, and the licence texts it comes with. */
function notice(folder) {
  const { name, version, license, author } = manifestOf(folder);
  const texts = readdirSync(folder)
    .filter((file) => LICENCE.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), "utf-8").replace(/\r\n?/g, "\n").replace(/[ \t]+$/gm, "").trim());
  const by = typeof author === "string" ? author : author?.name;
  const without = `No licence text comes with this package, which says: ${license}${by ? `, by ${by}` : ""}.`;
  return { name: `${name} ${version} (${license})`, text: texts.length ? texts.join("\n\n") : without };
}

/** The text of the file, sorted, one text for all packages that share it, from the modules that the scripts hold. */
export function licences(modules) {
  const folders = new Set([...modules].map(packageOf).filter((folder) => folder !== null));
  for (const folder of [...folders])
    if (BUILT_WHOLE.includes(manifestOf(folder).name)) for (const one of withDependencies(folder)) folders.add(one);
  const names = new Map();
  for (const { name, text } of [...folders].map(notice)) names.set(text, new Set([...(names.get(text) ?? []), name]));
  const parts = [...names].map(([text, these]) => [RULE, ...[...these].sort(), RULE, "", text].join("\n"));
  return `Licences of the libraries within the scripts of tripcloak's pages.\n\n${parts.sort().join("\n\n")}\n`;
}
