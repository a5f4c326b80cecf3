/** Run the unit tests of the page in Node: `node test.mjs [NAME...]`, of tests/page/units. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const UNITS = join(HERE, "../../tests/page/units");
const wanted = process.argv.slice(2);
const names = readdirSync(UNITS).filter((name) => name.endsWith(".test.ts") && (!wanted.length || wanted.includes(name.replace(".test.ts", ""))));
const outdir = mkdtempSync(join(tmpdir(), "units-"));
try {
  await build({
    entryPoints: [...names, "player.ts"].map((name) => join(UNITS, name)),
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "inline",
    nodePaths: [join(HERE, "node_modules")],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
    logLevel: "warning",
  });
  const files = names.map((name) => join(outdir, name.replace(/\.ts$/, ".mjs")));
  const env = { ...process.env, CONFORMANCE: join(HERE, "../../docs/conformance.json") };
  const run = (...more) => spawnSync(process.execPath, [...more, "--test", "--test-force-exit", ...files], { stdio: "inherit", env }).status ?? 1;
  // Maps make the run a third longer: only a failure needs the lines of the sources.
  process.exitCode = run();
  if (process.exitCode) run("--enable-source-maps");
} finally {
  rmSync(outdir, { recursive: true });
}
