/**
 * Build the page: `make page`, or `node build.mjs FOLDER` to build elsewhere.
 *
 * What is written is committed, so that nobody needs npm to run a server; a test compares it with a fresh build. The names stay
 * the same from build to build: the server puts the hash of all files into their address.
 */

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCES = join(HERE, "src");
const TARGET = process.argv[2] ?? join(HERE, "built");
/** Files that are sent as they are written. */
const AS_WRITTEN = ["index.html", "icon.svg"];
const COMPRESSED = /\.(?:js|css)$/;

await rm(TARGET, { recursive: true, force: true });
await mkdir(TARGET, { recursive: true });
const made = await build({
  write: false, // the names of sources in the maps are relative to `outdir`, wherever the files go
  absWorkingDir: HERE,
  entryPoints: { app: "src/main.js", style: "src/style.css" },
  outdir: "built",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome105", "firefox115", "safari16"],
  sourcemap: "linked",
  sourceRoot: "page",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
});
for (const { path, contents } of made.outputFiles) await writeFile(join(TARGET, basename(path)), contents);
for (const name of AS_WRITTEN) await writeFile(join(TARGET, name), await readFile(join(SOURCES, name)));
for (const name of await readdir(TARGET)) {
  if (!COMPRESSED.test(name)) continue;
  const plain = await readFile(join(TARGET, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  await writeFile(join(TARGET, `${name}.br`), brotliCompressSync(plain, { params }));
}
