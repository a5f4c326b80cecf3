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
const AS_WRITTEN = ["index.html", "icon.svg", "icon-turn.svg", "icon-192.png", "icon-512.png", "icon-maskable.png", "icon-apple.png", "app.webmanifest"];
const FIRST = { app: "src/main.ts", style: "src/style.css" };
/** What is fetched only when it is wanted. */
const LANGUAGES = ["ar", "es", "fr", "pt", "ru", "zh"];
const LATER = {
  later: "src/later.css",
  more: "src/more.ts",
  sounds: "src/sounds.ts",
  qr: "src/qr.ts",
  ...Object.fromEntries(["words", "explained"].flatMap((kind) => LANGUAGES.map((code) => [`${kind}-${code}`, `src/${kind}/${code}.ts`]))),
};
const COMPRESSED = /\.(?:js|css)$/;

await rm(TARGET, { recursive: true, force: true });
await mkdir(TARGET, { recursive: true });
/** Have the page fetch what is fetched later by the names of the built files. */
const fetching = {
  name: "fetching",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\./ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: path.replace(/^\.\/(.+\/)?(\w+)\.js$/, (_, folder, name) => `./${folder ? `${folder.slice(0, -1)}-` : ""}${name}.js`), external: true } : null,
    ),
};
/** Have code that is fetched later take what it shares with the page from the page's own script, which is there by then. */
const sharing = (inPage) => ({
  name: "sharing",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/shared\.js$/ }, () => ({ path: "./app.js", external: true }));
    onResolve({ filter: /^\.\// }, ({ importer, path, kind }) => {
      const isTwice = kind !== "entry-point" && inPage.has(`src/${basename(path, ".js")}.ts`);
      return isTwice ? { errors: [{ text: `${importer}: import ${path} from shared.ts` }] } : null;
    });
  },
});
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
const page = await build({ ...options, entryPoints: FIRST, plugins: [fetching], metafile: true });
const inPage = new Set(Object.keys(page.metafile.inputs));
const later = await build({ ...options, entryPoints: LATER, plugins: [fetching, sharing(inPage)] });
for (const { path, contents } of [...page.outputFiles, ...later.outputFiles]) await writeFile(join(TARGET, basename(path)), contents);
for (const name of AS_WRITTEN) await writeFile(join(TARGET, name), await readFile(join(SOURCES, name)));
for (const name of await readdir(TARGET)) {
  if (!COMPRESSED.test(name)) continue;
  const plain = await readFile(join(TARGET, name));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length };
  await writeFile(join(TARGET, `${name}.br`), brotliCompressSync(plain, { params }));
}
