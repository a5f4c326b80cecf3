/**
 * Build the page: `make page`, or `node build.mjs FOLDER` to build elsewhere.
 *
 * The built files are committed, so that running a server does not need npm; a test compares them with a fresh build.
 * Their names never change: the server puts the hash of all files into their address.
 */

import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const SOURCES = join(HERE, "src");
const TARGET = process.argv[2] ?? join(HERE, "built");
/** Files that are copied unchanged. */
const AS_WRITTEN = ["index.html", "icon.svg", "icon-turn.svg", "icon-192.png", "icon-512.png", "icon-maskable.png", "icon-apple.png", "app.webmanifest"];
const FIRST = "src/main.ts";
/** Code that the page loads on demand, by the names of the built files. */
const LANGUAGES = ["ar", "es", "fr", "pt", "ru", "zh"];
const LATER = {
  more: "src/more.ts",
  sounds: "src/sounds.ts",
  qr: "src/qr.ts",
  tournament: "src/tournament.ts",
  ...Object.fromEntries(["words", "explained", "tournaments"].flatMap((kind) => LANGUAGES.map((code) => [`${kind}-${code}`, `src/${kind}/${code}.ts`]))),
};
const COMPRESSED = /\.(?:js|css)$/;

await rm(TARGET, { recursive: true, force: true });
await mkdir(TARGET, { recursive: true });
/**
 * Make every entry import the page itself, which is loaded before them. Then esbuild puts all code that they share with
 * the page into one chunk, `app.js`, which needs one request. No code is in two files.
 */
const besides = {
  name: "besides",
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^\./ }, ({ kind, path }) => {
      const name = nameOf(path);
      return kind === "dynamic-import" && name in LATER ? { path: LATER[name], namespace: "entry" } : null;
    });
    onResolve({ filter: /^entry:/ }, ({ path }) => ({ path: path.slice("entry:".length), namespace: "entry" }));
    onLoad({ filter: /./, namespace: "entry" }, ({ path }) => ({
      contents: `import "./${FIRST}"; export * from "./${path}";`,
      resolveDir: HERE,
      loader: "ts",
    }));
  },
};
/** The name of a built file for the path with which a module imports its source. */
const nameOf = (path) => path.replace(/^(?:\.\.?\/)+/, "").replace(/\.js$/, "").replace("/", "-");
const options = {
  absWorkingDir: HERE,
  write: false, // the names of sources in the maps are relative to `outdir`, wherever the files go
  outdir: "built",
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  sourcemap: "linked",
  sourceRoot: "page",
  charset: "utf8",
  legalComments: "none",
  logLevel: "warning",
};
const page = await build({
  ...options,
  entryPoints: { page: FIRST, style: "src/style.css", later: "src/later.css", cups: "src/cups.css", ...Object.fromEntries(Object.entries(LATER).map(([name, path]) => [name, `entry:${path}`])) },
  plugins: [besides],
  splitting: true,
  chunkNames: "app", // a second chunk would have the same name, which esbuild rejects
});
/** Scripts that run beside the page, and share no code with it. */
const workers = await build({ ...options, entryPoints: ["src/worker.ts", "src/thinker.ts"] });
for (const { path, text } of [...page.outputFiles, ...workers.outputFiles]) if (!/page\.js(\.map)?$/.test(path)) await writeFile(join(TARGET, basename(path)), compiledAhead(basename(path), text));
for (const name of AS_WRITTEN) await writeFile(join(TARGET, name), await readFile(join(SOURCES, name)));
for (const name of process.argv.includes("--plain") ? [] : await readdir(TARGET)) {
  if (!COMPRESSED.test(name)) continue;
  const plain = await readFile(join(TARGET, name));
  await writeFile(join(TARGET, `${name}.br`), compressed(plain));
}

/** Have Chromium compile what every match needs while it loads, not during the first tap; its source map gets a line more. */
function compiledAhead(name, text) {
  if (name === "app.js" || name === "more.js") return `//# allFunctionsCalledOnLoad\n${text}`;
  return name === "app.js.map" || name === "more.js.map" ? text.replace('"mappings": "', '"mappings": ";') : text;
}

/** Compress with the distance codes that suit each file best, which saves about 160 bytes per visit. */
function compressed(plain) {
  const tries = [0, 1].flatMap((postfix) => [0, 1, 2, 4, 12, 15].map((direct) => [postfix, direct << postfix]));
  const results = tries.map(([postfix, direct]) =>
    brotliCompressSync(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 11,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
        [constants.BROTLI_PARAM_NPOSTFIX]: postfix,
        [constants.BROTLI_PARAM_NDIRECT]: direct,
      },
    }),
  );
  return results.reduce((best, each) => (each.length < best.length ? each : best));
}
