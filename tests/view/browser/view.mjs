// What a user does, by keyboard: node view.mjs ADDRESS SCREENSHOTS. Prints what was seen as JSON.
import { join } from "node:path";
import { openBrowser, openViewer, textOf, timeout, waitForSolution } from "./browser.mjs";

const [address, screenshots] = process.argv.slice(2);
const browser = await openBrowser(["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
const { page, complaints, addresses } = await openViewer(browser, address);
const seen = {};

async function press(key, times = 1) {
  for (let i = 0; i < times; i++) await page.keyboard.press(key);
}

// Colours of the overlay: blue is the cheapest.
const countColours = () =>
  page.evaluate(() => {
    const colours = voxherd.rgba.planes;
    let shown = 0;
    let blue = 0;
    for (let i = 0; i < colours.length; i += 4) {
      if (colours[i + 3] === 0) continue;
      shown++;
      if (colours[i + 2] > 200 && colours[i] < 60) blue++;
    }
    return { shown, blue };
  });

// Pixels of the picture that are coloured, not grey.
const countPixels = (view) =>
  page.evaluate((name) => {
    const { gl } = voxherd[name].nv;
    voxherd[name].draw();
    const [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const pixels = new Uint8Array(4 * w * h);
    gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    let count = 0;
    for (let i = 0; i < pixels.length; i += 4)
      if (Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 60)
        count++;
    return count;
  }, view);

async function pickPoints() {
  await page.focus("#planes");
  seen.start = await page.evaluate(() => voxherd.place.voxel);
  await press("ArrowLeft", 4);
  seen.firstPoint = await page.evaluate(() => voxherd.place.mm);
  await press("f");
  seen.afterOne = await textOf(page, "status");
  seen.pixelsBefore = await countPixels("planes");
  await press("ArrowRight", 8);
  seen.secondPoint = await page.evaluate(() => voxherd.place.mm);
  await press("t");
  await waitForSolution(page);
  seen.points = await readNumbers();
  seen.pixelsAfter = await countPixels("planes");
}

async function readNumbers() {
  const texts = {};
  for (const id of ["status", "cost", "length", "path-FA", "pathway-volume", "mean-FA", "gap", "command", "location"])
    texts[id] = await textOf(page, id);
  const exact = await page.evaluate(() => ({
    cost: voxherd.connect.connection.cost,
    voxels: voxherd.connect.pathwayVoxels,
    triangles: voxherd.connect.triangles,
    pathFA: voxherd.connect.connection.path_FA,
  }));
  return { ...texts, ...exact };
}

// Tab to a menu and choose by typing, as without a mouse.
async function pickRegions() {
  await page.focus("#from");
  await page.keyboard.type("region 1");
  await press("Tab", 2);
  await page.keyboard.type("region 2");
  await page.waitForFunction(() => document.getElementById("to").value === "2", null, { timeout });
  await waitForSolution(page);
  seen.regions = await readNumbers();
  seen.regions.middle = await page.evaluate(() => voxherd.connect.connection.middle());
  seen.regions.crosshair = await page.evaluate(() => voxherd.place.mm);
  seen.colours = await countColours();
}

async function slide() {
  const requests = [];
  const note = (request) => requests.push(request.url());
  page.on("request", note);
  await page.focus("#epsilon");
  await press("PageUp", 2);
  await page.waitForFunction((before) => voxherd.connect.pathwayVoxels > before, seen.regions.voxels, { timeout });
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 300))));
  page.off("request", note);
  seen.slider = { requests: requests.filter((url) => !url.endsWith("/api/alive")), ...(await readNumbers()) };
}

// Whether each option of the command line is in one line, as far as it fits.
async function readWords() {
  seen.words = await page.evaluate(() =>
    [...document.querySelectorAll("#command .word")].map((word) => {
      const room = document.getElementById("command").parentElement.clientWidth;
      const range = document.createRange();
      range.selectNodeContents(word);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      return { text: word.textContent, lines: lines.size, fills: range.getBoundingClientRect().width > 0.7 * room };
    }),
  );
}

async function showFibres() {
  await page.focus("#fibres");
  await press("Space");
  await page.waitForFunction(() => /^\d+$/.test(document.getElementById("fibre-count").textContent), null, { timeout });
  seen.fibres = Number(await textOf(page, "fibre-count"));
  seen.drawnFibres = await page.evaluate(() => voxherd.volume.meshes.get("fibres").offsetPt0.length - 1);
  seen.volumePixels = await countPixels("volume");
  await page.screenshot({ path: join(screenshots, "fibres.png") });
}

async function showGlyphs() {
  await page.uncheck("#surface");
  await page.uncheck("#fibres");
  const without = await countPixels("volume");
  await page.focus("#glyphs");
  await press("Space");
  await page.waitForFunction(() => /^\d+/.test(document.getElementById("glyph-count").textContent), null, { timeout });
  seen.glyphs = {
    count: Number(await textOf(page, "glyph-count")),
    triangles: await page.evaluate(() => voxherd.volume.meshes.get("glyphs").tris.length / 3),
    newPixels: (await countPixels("volume")) - without,
  };
  await page.screenshot({ path: join(screenshots, "glyphs.png") });
  await press("Space");
  seen.glyphs.after = await page.evaluate(() => voxherd.volume.meshes.has("glyphs"));
  await page.check("#surface");
}

// A pathway is kept while another one is solved for, and its colour is seen in the planes.
async function keepPathway() {
  const paintedAs = (kept) =>
    page.evaluate((number) => {
      const { voxels, colour } = voxherd.connect.kept.list[number];
      const bytes = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
      const rgba = voxherd.rgba.planes;
      return [...voxels].filter((v) => bytes.every((byte, k) => rgba[4 * v + k] === byte)).length;
    }, kept);
  seen.kept = {};
  await page.focus("#keep");
  await press("Enter");
  seen.kept.first = await page.evaluate(() => voxherd.connect.kept.list[0].voxels.length);
  await page.selectOption("#to", "3");
  await waitForSolution(page);
  seen.kept.paintedAfterTheNext = await paintedAs(0);
  await page.click("#keep");
  await page.selectOption("#shown-cost", "none");
  seen.kept.second = await page.evaluate(() => voxherd.connect.kept.list[1].voxels.length);
  seen.kept.colours = await page.evaluate(() => voxherd.connect.kept.list.map(({ colour }) => colour));
  seen.kept.painted = await paintedAs(1);
  seen.kept.names = await page.$$eval("#kept input[type=text]", (names) => names.map(({ value }) => value));
  await page.screenshot({ path: join(screenshots, "kept.png") });
  await saveScene();
  for (const front of ["from", "to", "total"]) {
    await page.selectOption("#shown-cost", front);
    await page.waitForFunction((f) => (f === "total") === (voxherd.connect.front === null), front, { timeout });
    seen.kept[front] = await countColours();
  }
  while ((await page.$("#kept button")) !== null) await page.click("#kept button");
  await page.selectOption("#to", "2");
  await waitForSolution(page);
  seen.kept.left = await page.evaluate(() => [
    voxherd.connect.kept.list.length,
    [...voxherd.volume.meshes].filter(([name, mesh]) => name.startsWith("kept") && mesh.visible).length,
  ]);
}

const sceneNow = () =>
  page.evaluate(() => {
    const { ends, kept, connection } = voxherd.connect;
    return {
      ends,
      kept: kept.list.map(({ name, colour, voxels }) => [name, colour, voxels.length]),
      cost: connection.cost,
      camera: voxherd.volume.getCamera(),
      crosshair: voxherd.place.voxel,
      epsilon: document.getElementById("epsilon").value,
    };
  });

async function saveScene() {
  await page.evaluate(() => voxherd.volume.setCamera({ azimuth: 33, elevation: 44, zoom: 1.25 }));
  seen.scene = { saved: await sceneNow() };
  const [download] = await Promise.all([page.waitForEvent("download", { timeout }), page.click("#save-scene")]);
  await download.saveAs(join(screenshots, "scene.json"));
}

// After everything has been changed.
async function loadScene() {
  await page.setInputFiles("#load-scene", join(screenshots, "scene.json"));
  await page.waitForFunction((n) => voxherd.connect.kept.list.length === n, seen.scene.saved.kept.length, { timeout });
  await page.waitForFunction(() => voxherd.volume.getCamera().azimuth === 33, null, { timeout });
  seen.scene.loaded = await sceneNow();
  seen.scene.image = await page.evaluate(() => document.getElementById("image").selectedOptions[0].textContent);
  await page.setInputFiles("#load-scene", { name: "wrong.json", mimeType: "application/json", buffer: Buffer.from("{}") });
  await page.waitForFunction(() => document.getElementById("status").textContent.startsWith("Failed"), null, { timeout });
  seen.scene.wrong = await textOf(page, "status");
}

// Files that the browser saves.
async function saveFiles() {
  const files = {
    "save-costs": ["total.nii"],
    "save-pathway": ["pathway.nii"],
    "save-fibres": ["paths.trx"],
    "save-pictures": ["planes.png", "volume.png"],
  };
  seen.saved = {};
  for (const [button, names] of Object.entries(files)) {
    const downloads = [];
    page.on("download", (download) => downloads.push(download));
    await page.click(`#${button}`);
    while (downloads.length < names.length) await page.waitForEvent("download", { timeout });
    for (const download of downloads) {
      const path = join(screenshots, download.suggestedFilename());
      await download.saveAs(path);
      seen.saved[download.suggestedFilename()] = path;
    }
    page.removeAllListeners("download");
  }
}

// Two connections are asked for at once: the second is shown.
async function replace() {
  await page.evaluate((point) => {
    voxherd.connect.ends.from = { point };
    voxherd.connect.solve();
    voxherd.connect.ends.from = { label: 1 };
    return voxherd.connect.solve();
  }, seen.firstPoint);
  seen.replaced = await readNumbers();
}

async function showMap() {
  await page.focus("#overlay");
  await page.keyboard.type("MD");
  await page.waitForFunction(() => voxherd.map?.name === "MD", null, { timeout });
  await page.waitForFunction(() => document.getElementById("location").textContent.includes("MD"), null, { timeout });
  seen.map = {
    location: await textOf(page, "location"),
    high: await textOf(page, "map-high"),
    ...(await countColours()),
  };
  await page.screenshot({ path: join(screenshots, "map.png") });
}

// What a reader of pictures needs: letters, windows, and the sides.
async function readPictures() {
  const sides = () =>
    page.evaluate(() => {
      const { isRadiologicalConvention, showAllOrientationMarkers, fontMinPx } = voxherd.planes.nv.opts;
      return [isRadiologicalConvention, showAllOrientationMarkers, fontMinPx];
    });
  seen.pictures = { window: [await textOf(page, "image-low"), await textOf(page, "image-high")], sides: [await sides()] };
  await page.check("#radiological");
  seen.pictures.sides.push(await sides());
  const before = await page.evaluate(() => voxherd.place.voxel[0]);
  await page.focus("#planes");
  await press("ArrowLeft");
  seen.pictures.step = (await page.evaluate(() => voxherd.place.voxel[0])) - before;
  await page.screenshot({ path: join(screenshots, "radiological.png") });
  await page.uncheck("#radiological");
}

// What is dragged is solved for at once.
async function setSlider(id, value) {
  await page.evaluate(
    ([name, number]) => {
      const slider = document.getElementById(name);
      slider.value = number;
      for (const event of ["input", "change"]) slider.dispatchEvent(new Event(event));
    },
    [id, value],
  );
  await waitForSolution(page);
}

// A threshold that leaves no voxel is explained in the page's words, until the crosshair moves on.
async function limitFA() {
  await setSlider("within-fa", 1);
  seen.tooMuch = [await textOf(page, "status")];
  await page.focus("#planes");
  await press("ArrowLeft");
  seen.tooMuch.push(await textOf(page, "status"));
  await setSlider("within-fa", 0.3);
  seen.withinFA = { ...(await readNumbers()), shown: await textOf(page, "within-fa-value") };
  await setSlider("within-fa", 0);
}

async function changeMetric() {
  await page.click("summary");
  await page.selectOption("#metric", "inverse");
  await page.click("#solve");
  await waitForSolution(page);
  seen.metric = await readNumbers();
}

async function useSmallScreen() {
  await page.setViewportSize({ width: 320, height: 800 });
  seen.overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  await page.screenshot({ path: join(screenshots, "small.png"), fullPage: true });
}

// Pages elsewhere, with the right token.
async function attack() {
  const { port, hash } = new URL(address);
  const other = await browser.newPage();
  seen.rebinding = (await other.goto(`http://evil.example:${port}/`)).status();
  await other.goto("data:text/html,<p>elsewhere");
  seen.foreign = await other.evaluate(
    async ([to, token]) => {
      const tries = [{ headers: { "X-Token": token } }, { mode: "no-cors", method: "POST", body: "{}" }];
      const results = [];
      for (const options of tries)
        results.push(
          await fetch(`http://127.0.0.1:${to}/api/state`, options).then(
            (r) => r.type,
            () => "failed",
          ),
        );
      return results;
    },
    [port, hash.slice("#token=".length)],
  );
  const wrong = await browser.newPage();
  await wrong.goto(address.replace(/#.*/, "#token=wrong"));
  await wrong.waitForFunction(() => document.getElementById("status").textContent.startsWith("Failed"), null, {
    timeout,
  });
  seen.wrongToken = await textOf(wrong, "status");
}

await pickPoints();
await page.screenshot({ path: join(screenshots, "points.png") });
await pickRegions();
await slide();
await readWords();
await showFibres();
await saveFiles();
await showGlyphs();
await keepPathway();
await replace();
await showMap();
await readPictures();
await changeMetric();
await limitFA();
await page.screenshot({ path: join(screenshots, "metric.png") });
await loadScene();
await useSmallScreen();
seen.address = page.url();
seen.complaints = complaints;
seen.hosts = [...addresses];
await attack();
console.log(JSON.stringify(seen));
await browser.close();
