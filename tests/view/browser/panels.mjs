// The panels of results, by keyboard: node panels.mjs SCREENSHOTS NAME=ADDRESS ... Prints what was seen as JSON.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { openBrowser, openViewer, textOf, timeout, waitForSolution } from "./browser.mjs";

const [screenshots, ...viewers] = process.argv.slice(2);
const addresses = Object.fromEntries(viewers.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
const browser = await openBrowser();

const panelText = (page, selector) => page.textContent(selector);

// The page's number of the voxel under the crosshair, and what the panel has drawn of it.
const readVoxel = (page) =>
  page.evaluate(() => {
    const panel = voxherd.voxelPanel;
    const count = (selector) => document.querySelectorAll(`#voxel ${selector}`).length;
    return {
      wanted: voxherd.voxelIndex(voxherd.place.voxel.map(Math.round)),
      shown: panel.wanted,
      answer: panel.answer,
      circles: count("svg.chart circle"),
      lines: count("polyline"),
      line: panel.line.textContent,
    };
  });

async function waitForVoxel(page) {
  await page.waitForFunction(
    () => {
      const place = voxherd.place.voxel.map(Math.round);
      return document.querySelector("#voxel p").textContent.startsWith(`Voxel ${place.join(" ")}: fitted`);
    },
    null,
    { timeout },
  );
}

// Tables are opened by keyboard.
async function openTable(page, selector, content = "td") {
  await page.focus(selector);
  await page.keyboard.press("Enter");
  await page.waitForSelector(`${selector.replace(" > summary", "")} ${content}`, { timeout });
}

async function usePerfusion(page) {
  await waitForVoxel(page);
  const before = await readVoxel(page);
  await page.focus("#planes");
  await page.keyboard.press("ArrowRight");
  await waitForVoxel(page);
  const after = await readVoxel(page);
  await openTable(page, "#voxel details > summary");
  const rows = await page.locator("#voxel details tbody tr").count();
  const parameters = await panelText(page, "#voxel table");
  return { before, after, rows, parameters };
}

async function useBallstick(page) {
  await waitForVoxel(page);
  const seen = await readVoxel(page);
  await page.focus("#sphere-side");
  const pick = () => page.getAttribute("#voxel svg[aria-label^=Orientations]", "aria-label");
  const above = await pick();
  await page.keyboard.press("ArrowDown");
  return { ...seen, above, front: await pick(), menu: await page.inputValue("#sphere-side") };
}

async function useConnectome(page) {
  await page.focus("#matrix-picture");
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowRight"])
    await page.keyboard.press(key);
  const pair = await panelText(page, "#matrix-pair");
  const pixels = await page.evaluate(() => {
    const canvas = document.getElementById("matrix-picture");
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(data.buffer)).size;
  });
  await page.keyboard.press("Enter");
  await waitForSolution(page);
  const ends = [await page.inputValue("#from"), await page.inputValue("#to")];
  const cost = await page.evaluate(() => voxherd.connect.connection.cost);
  await page.focus("#matrix-search");
  await page.keyboard.type("region 9");
  const listed = await page.locator("#matrix tbody th").allTextContents();
  await page.focus("#matrix tbody button");
  await page.evaluate(() => (document.documentElement.dataset.solved = "no"));
  await page.keyboard.press("Enter");
  await waitForSolution(page);
  const searched = [await page.inputValue("#from"), await page.inputValue("#to")];
  return { pair, pixels, ends, cost, listed, searched };
}

// Fibres on the canvas of the volume: how many, and in how many points.
const countFibres = (page, name = "streamlines", view = "volume") =>
  page.evaluate(
    ([mesh, kind]) => {
      const fibres = voxherd[kind].meshes.get(mesh);
      return fibres ? { fibres: fibres.offsetPt0.length - 1, points: fibres.pts.length / 3 } : { fibres: 0, points: 0 };
    },
    [name, view],
  );

// Acts, and waits until the fibres have been drawn again.
async function redraw(page, act) {
  const before = await page.evaluate(() => voxherd.streamlinePanel.draws);
  await act();
  await page.waitForFunction((n) => voxherd.streamlinePanel.draws > n, before, { timeout });
}

// Regions and groups; each time how many fibres are drawn.
async function chooseFibres(page) {
  const found = { before: (await countFibres(page)).fibres };
  const press = (selector) => async () => {
    await page.focus(selector);
    await page.keyboard.press("Enter");
  };
  await page.selectOption("#fibre-region", "8");
  await redraw(page, press("#fibre-include"));
  found.include = (await countFibres(page)).fibres;
  await page.selectOption("#fibre-region", "9");
  await redraw(page, press("#fibre-exclude"));
  found.both = (await countFibres(page)).fibres;
  found.regions = await page.locator("#streamlines .choices li span").allTextContents();
  found.status = await textOf(page, "streamline-count");
  const [download] = await Promise.all([page.waitForEvent("download", { timeout }), press("#save-streamlines")()]);
  found.file = join(screenshots, "chosen.trx");
  await download.saveAs(found.file);
  found.saved = await page.textContent("#save-streamlines + p");
  await page.screenshot({ path: join(screenshots, "chosen_fibres.png") });
  for (let i = 0; i < 2; i++) await redraw(page, press("#streamlines .choices button"));
  await openTable(page, "#fibre-groups > summary", "li input");
  const name = await page.textContent("#fibre-groups li label");
  await redraw(page, async () => {
    await page.focus("#fibre-groups li input");
    await page.keyboard.press("Space");
  });
  found.hidden = { name, fibres: (await countFibres(page)).fibres };
  await redraw(page, () => page.click("#fibre-groups button:first-child"));
  found.after = (await countFibres(page)).fibres;
  return found;
}

// All rays of the seed at the crosshair, also rejected ones.
async function traceRays(page) {
  const press = async (selector) => {
    await page.focus(selector);
    await page.keyboard.press("Space");
  };
  await press("#trace-rays");
  await page.waitForFunction(() => voxherd.streamlinePanel.rays.found?.counts, null, { timeout });
  const found = await page.evaluate(() => voxherd.streamlinePanel.rays.found);
  const accepted = (await countFibres(page, "rays")).fibres;
  await press("#rejected-rays");
  const rejected = (await countFibres(page, "rejected")).fibres;
  const text = await page.locator("#streamlines [role=status] .hint").last().textContent();
  await page.screenshot({ path: join(screenshots, "traced_rays.png") });
  await page.focus("#planes");
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => voxherd.streamlinePanel.rays.found?.seeds === 0, null, { timeout });
  const { counts, seeds } = found;
  return { counts, seeds, accepted, rejected, text, left: await countFibres(page, "rejected") };
}

async function useFibres(page) {
  await page.waitForFunction(() => voxherd.streamlinePanel.draws > 0, null, { timeout });
  const seen = { all: await countFibres(page), planes: await countFibres(page, "streamlines", "planes") };
  await redraw(page, async () => {
    await page.focus("#streamline-threshold");
    await page.keyboard.press("PageUp");
  });
  seen.some = await countFibres(page);
  seen.status = await textOf(page, "streamline-count");
  seen.threshold = Number(await page.inputValue("#streamline-threshold"));
  await redraw(page, () => page.selectOption("#streamline-colour", "length_mm"));
  seen.coloured = await page.evaluate(() => voxherd.volume.meshes.get("streamlines").fiberColor);
  await openTable(page, "#streamline-table > summary");
  seen.rows = await page.locator("#streamline-table tbody tr").count();
  await redraw(page, () => page.selectOption("#streamline-cut", "axial"));
  seen.cut = await countFibres(page);
  await redraw(page, () => page.selectOption("#streamline-cut", ""));
  await redraw(page, () => page.focus("#streamline-threshold").then(() => page.keyboard.press("Home")));
  seen.chosen = await chooseFibres(page);
  await page.focus("#nearest-start");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => voxherd.streamlinePanel.rays.rayCount > 0, null, { timeout });
  seen.rays = await page.evaluate(() => voxherd.streamlinePanel.rays.rayCount);
  seen.drawnRays = (await countFibres(page, "rays")).fibres;
  seen.start = await page.evaluate(() => voxherd.place.mm);
  seen.traced = await traceRays(page);
  return seen;
}

// What the volume has of each surface, whose back has points of its own.
const countSurfaces = (page) =>
  page.evaluate(() =>
    voxherd.surfacePanel.surfaces.map(({ number, name }) => {
      const mesh = voxherd.volume.meshes.get(`surface ${number}`);
      const colours = new Uint32Array(mesh?.rgba255.slice().buffer ?? new ArrayBuffer(0));
      return { name, points: (mesh?.pts.length ?? 0) / 6, colours: Array.from(colours.slice(0, colours.length / 2)) };
    }),
  );

async function useSurfaces(page) {
  const redraw = async (act) => {
    const before = await page.evaluate(() => voxherd.surfacePanel.draws);
    await act();
    await page.waitForFunction((n) => voxherd.surfacePanel.draws > n, before, { timeout });
  };
  await page.waitForFunction(() => voxherd.surfacePanel.draws > 0, null, { timeout });
  const seen = { all: await countSurfaces(page), map: await page.inputValue("#surface-map") };
  seen.range = await page.evaluate(() => voxherd.surfacePanel.range);
  seen.status = await textOf(page, "surface-status");
  await page.evaluate(() => voxherd.moveTo(Array.from(voxherd.surfacePanel.surfaces[0].mesh.points.slice(3 * 84, 3 * 85))));
  await page.waitForFunction(() => voxherd.surfacePanel.nearest?.vertex === 84, null, { timeout });
  seen.place = await textOf(page, "surface-place");
  await openTable(page, "#surface-table > summary");
  seen.rows = await page.locator("#surface-table tbody tr").count();
  await page.focus("#surface-map");
  await redraw(() => page.selectOption("#surface-map", "density"));
  seen.density = await countSurfaces(page);
  await redraw(async () => {
    await page.focus("#surfaces li input");
    await page.keyboard.press("Space");
  });
  seen.hidden = await countSurfaces(page);
  seen.left = await textOf(page, "surface-status");
  return seen;
}

// Violations of accessibility rules, in light and dark.
async function look(name, address) {
  const source = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  // The page's policy forbids other scripts.
  const context = await browser.newContext({ bypassCSP: true, viewport: { width: 1300, height: 850 } });
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready === "yes", null, { timeout });
  if (await page.evaluate(() => Boolean(voxherd.voxelPanel))) await waitForVoxel(page);
  await page.evaluate(() => document.querySelectorAll("#side details").forEach((folded) => (folded.open = true)));
  await page.addScriptTag({ content: source });
  const violations = [];
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate(() => axe.run());
    for (const { id, nodes } of found.violations)
      violations.push(`${colorScheme} ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`);
    await page.screenshot({ path: join(screenshots, `${name}_${colorScheme}.png`) });
  }
  await context.close();
  return violations;
}

const acts = { perfusion: usePerfusion, ballstick: useBallstick, connectome: useConnectome, geodesic: useFibres, surfaces: useSurfaces };
const seen = {};
for (const [name, address] of Object.entries(addresses)) {
  const { page, complaints } = await openViewer(browser, address);
  seen[name] = await acts[name](page);
  seen[name].complaints = complaints;
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
  await page.setViewportSize({ width: 320, height: 800 });
  const width = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  seen[name].overflow = await page.evaluate(width);
  await page.close();
  seen[name].violations = await look(name, address);
}
console.log(JSON.stringify(seen));
await browser.close();
