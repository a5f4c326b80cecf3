/** Run the unit tests of the page in Node: `node test.mjs [NAME...]` runs those of tests/page/units. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const UNITS = join(HERE, "../../tests/page/units");
const wanted = process.argv.slice(2);
const names = readdirSync(UNITS).filter((name) => name.endsWith(".test.ts") && (!wanted.length || wanted.includes(name.replace(".test.ts", ""))));
const opensPages = (name) => /\.\/(whole|player)\./.test(readFileSync(join(UNITS, name), "utf8"));
/**
 * Two processes, one for tests that open the whole page and one for the others, since starting a process takes longer
 * than most tests.
 */
const groups = [names.filter(opensPages), names.filter((name) => !opensPages(name))].filter((group) => group.length);
const outdir = mkdtempSync(join(tmpdir(), "units-"));

async function run(sourcemap, ...flags) {
  const options = {
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap,
    nodePaths: [join(HERE, "node_modules")],
    logLevel: "warning",
  };
  const address = { "import.meta.url": '"http://here/app.js"' };
  await build({ ...options, format: "cjs", outExtension: { ".js": ".cjs" }, define: address, entryPoints: [join(UNITS, "player.ts")] });
  options.banner = { js: 'import { createRequire as forBundled } from "node:module"; const require = forBundled(import.meta.url);' };
  const files = [];
  for (const [number, group] of groups.entries()) {
    const contents = group.map((name) => `import "./${name}";`).join("\n");
    files.push(join(outdir, `${number}.mjs`));
    await build({ ...options, outdir: undefined, outfile: files.at(-1), stdin: { contents, resolveDir: UNITS } });
  }
  const env = { ...process.env, CONFORMANCE: join(HERE, "../../docs/conformance.json"), WORKER: join(HERE, "built/worker.js") };
  return spawnSync(process.execPath, [...flags, "--test", "--test-force-exit", ...files], { stdio: "inherit", env }).status ?? 1;
}

try {
  // Source maps take time, and only failures need the lines of the sources.
  process.exitCode = await run(false);
  if (process.exitCode) await run("inline", "--enable-source-maps");
} finally {
  rmSync(outdir, { recursive: true });
}
