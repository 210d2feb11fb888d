// Writes the files of the page, compressed: node bundle.mjs MODULES OUTPUT
// MODULES: the folder with node_modules; OUTPUT: the folder for view.js.gz, index.html.gz, style.css.gz, licences.txt.gz.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const esbuild = createRequire(join(modules, "package.json"))("esbuild");

async function bundleScript() {
  const result = await esbuild.build({
    entryPoints: [join(here, "main.js")],
    nodePaths: [join(modules, "node_modules")],
    alias: { zarrita: join(here, "zarr_stub.js") },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none", // licences.txt has them
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  return { code: result.outputFiles[0].contents, inputs: Object.keys(result.metafile.inputs) };
}

// "@niivue/niivue" from ".../node_modules/@niivue/niivue/dist/index.js".
function packageOf(path) {
  const inside = path.split("node_modules/").at(-1).split("/");
  return inside[0].startsWith("@") ? inside.slice(0, 2).join("/") : inside[0];
}

function licenceOf(name) {
  const folder = join(modules, "node_modules", name);
  const own = join(here, "licences", `${name.split("/").at(-1)}.txt`); // for packages without the text
  const shipped = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
  if (!shipped && !existsSync(own)) throw new Error(`${name}: no licence text`);
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `${name} ${version}\n\n${readFileSync(shipped ? join(folder, shipped) : own, "utf8")}`;
}

// NiiVue's published file already contains the packages that it depends on.
function licences(inputs) {
  const used = inputs.filter((path) => path.includes("node_modules/")).map(packageOf);
  const inNiivue = ["gl-matrix", "nifti-reader-js", "fflate", "@lukeed/uuid", "array-equal", "@ungap/structured-clone"];
  return [...new Set([...used, ...inNiivue])].map(licenceOf).join("\n----------------------------------------\n\n");
}

const script = await bundleScript();
mkdirSync(output, { recursive: true });
const files = {
  "view.js": script.code,
  "index.html": readFileSync(join(here, "index.html")),
  "style.css": readFileSync(join(here, "style.css")),
  "licences.txt": licences(script.inputs),
};
writeFileSync(join(output, "licences.txt"), files["licences.txt"]); // to be installed
for (const [name, content] of Object.entries(files))
  writeFileSync(join(output, `${name}.gz`), gzipSync(content, { level: 9 }));
