// Takes every address out of the lock file: packages are named by version and digest, wherever they are from.

import { readFileSync, writeFileSync } from "node:fs";

const lock = JSON.parse(readFileSync("package-lock.json", "utf-8"));
for (const held of Object.values(lock.packages)) for (const name of ["resolved", "funding"]) delete held[name];
writeFileSync("package-lock.json", `${JSON.stringify(lock, null, 2)}\n`);
