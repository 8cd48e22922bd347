// Builds every entry into one script (and one style) that a page carries within itself, and gathers the licences of
// the libraries within them.

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { licences } from "./licences.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "..", "src", "tripcloak", "pages", "assets", "built");

// Name of the file below pages/assets/built, and where it starts.
const ENTRIES = {
  map: "map/main.ts",
  series: "series/main.ts",
  trajectory_map: "trajectories/main.ts",
  charts: "charts/main.ts",
  compare: "compare/main.ts",
  report: "report/main.ts",
  studio: "studio/main.ts",
  widget: "widget/main.ts",
};
// What notebooks load is a module; pages carry their scripts within themselves.
const MODULES = new Set(["widget"]);

const modules = new Set();
let first = true;
for (const [name, entry] of Object.entries(ENTRIES)) {
  const [made] = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: out,
      emptyOutDir: first,
      target: "es2022",
      minify: true,
      reportCompressedSize: false,
      lib: { entry: join(here, "src", entry), formats: [MODULES.has(name) ? "es" : "iife"], name: "tripcloak", fileName: () => `${name}.js`, cssFileName: name },
    },
  });
  first = false;
  for (const part of made.output) for (const module of part.moduleIds ?? []) modules.add(module);
}
writeFileSync(join(out, "licences.txt"), licences(modules));
