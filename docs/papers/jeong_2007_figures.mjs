// The figures of Jeong et al. 2007 from another brain: node jeong_2007_figures.mjs ADDRESS FOLDER [FIGURE]. The address is
// that of `voxherd view`; the Python script beside this one starts it. Places are in mm of the brain of dcm_qa_philips.
import { join } from "node:path";
import { openBrowser, openViewer, timeout } from "./browser.mjs";
import { traceStreamlines } from "./jeong_2007_streamlines.mjs";

const [address, folder, only] = process.argv.slice(2);
const browser = await openBrowser();
const { page } = await openViewer(browser, address, { width: 900, height: 520 });
await page.evaluate(() => {
  for (const id of ["controls", "numbers"]) document.getElementById(id).style.display = "none";
  document.querySelector("main").style.gridTemplateColumns = "minmax(0, 1fr)";
  voxherd.planes.nv.setCrosshairWidth(0);
});
await page.setViewportSize({ width: 900, height: 500 }); // now the pictures fill it; they are small: drawn without a GPU

const between = (from, to) => ({ from: { point: from }, to: { point: to } });
const ends = {
  genu: between([-18, 46, 21], [18, 46, 21]),
  body: between([-20.2, -6.2, 46], [20.1, -6.2, 46]),
  splenium: between([-18.4, -48.2, 13.5], [18, -46, 16]),
  leftCingulum: between([-11.4, -39.4, 36], [-6.1, 30.6, 33.5]),
  rightCingulum: between([9.6, -35.9, 36], [9.6, 30.6, 33.5]),
  corticospinal: between([20.1, -14.9, 53.5], [6.1, -21.9, -21.5]),
  arcuate: between([-34.2, 13.1, 28.5], [-42, -46, 6]),
};
const nothing = { voxherd_scene: 1, image: "FA", overlay: "", opacity: 0.9, epsilon: 5, range: 50, surface: false };
Object.assign(nothing, { metric: "jeong", alpha: 3, smooth: 0, "max-ratio": 100, "within-fa": 0 });
Object.assign(nothing, { shown_cost: "total", kept: [] });

async function show(scene) {
  const text = JSON.stringify({ ...nothing, ...scene });
  await page.evaluate((json) => voxherd.showScene(JSON.parse(json)), text);
  await page.waitForFunction(() => document.documentElement.dataset.solved !== "no", null, { timeout });
  await new Promise((resolve) => setTimeout(resolve, 500));
}

// A picture of one canvas, as a data: address.
async function picture(kind, crop = {}) {
  await page.evaluate((name) => voxherd[name].draw(), kind);
  const box = await page.locator(`#${kind}`).boundingBox();
  const { left = 0, top = 0, right = 1, bottom = 1 } = crop;
  const clip = {
    x: box.x + left * box.width,
    y: box.y + top * box.height,
    width: (right - left) * box.width,
    height: (bottom - top) * box.height,
  };
  const png = await page.screenshot({ clip });
  return `data:image/png;base64,${png.toString("base64")}`;
}

// Pictures beside each other, with a letter each.
async function save(name, pictures, height = 300) {
  const sheet = await browser.newPage({ viewport: { width: 1000, height: 400 } });
  const cell = (source, i) => `<div><img src="${source}" style="height:${height}px;display:block"><b>${"abcdef"[i]}</b></div>`;
  await sheet.setContent(
    `<style>body{margin:0}main{width:max-content;display:flex;gap:2px;font:15px sans-serif}div{position:relative}
    b{position:absolute;left:6px;top:4px;color:#fff}</style><main>${pictures.map(cell).join("")}</main>`,
  );
  await sheet.evaluate(() => Promise.all([...document.images].map((image) => image.decode())));
  await sheet.locator("main").screenshot({ path: join(folder, `jeong-2007-figure-${name}.png`) });
  await sheet.close();
}

const axialOnly = (isOn) =>
  page.evaluate((on) => {
    const tile = (sliceType, position) => ({ sliceType, position });
    const three = [tile(0, [0, 0, 1, 0.44]), tile(1, [0, 0.44, 1, 0.28]), tile(2, [0, 0.72, 1, 0.28])];
    voxherd.planes.nv.setCustomLayout(on ? [tile(0, [0, 0, 1, 1])] : three);
  }, isOn);

const setVolume = (options) =>
  page.evaluate(({ opacity = 1, clip = [2, 0, 0], crosshair = false }) => {
    const { nv } = voxherd.volume;
    nv.opts.show3Dcrosshair = crosshair;
    nv.opts.isOrientCube = false;
    nv.setClipPlaneColor([0, 0, 0, 0]);
    nv.setClipPlane(clip);
    nv.setOpacity(0, opacity);
  }, options);

const axial = { left: 0.15, right: 0.85 };
// Turns the volume about a place and shows only so much about it; without a place, all of it. NiiVue has only its middle.
const lookAt = (place, radius) =>
  page.evaluate(
    ([mm, mmAround]) => {
      const { nv } = voxherd.volume;
      delete nv.setPivot3D;
      const usual = nv.setPivot3D.bind(nv);
      if (!mm) return;
      nv.setPivot3D = () => {
        usual();
        nv.pivot3D = mm;
        nv.furthestFromPivot = mmAround;
      };
    },
    [place ?? null, radius],
  );

const views = {
  front: { azimuth: 150, elevation: 25, zoom: 1.6 },
  left: { azimuth: 250, elevation: 12, zoom: 1.9 },
  above: { azimuth: 110, elevation: 30, zoom: 1.9 },
};

const figures = {
  async 1() {
    const place = { crosshair_mm: [-1, 40, 21], camera: views.front };
    await setVolume({});
    await show(place);
    const volume = await picture("volume");
    await axialOnly(true);
    await setVolume({ opacity: 0.5 });
    await show({ ...place, ends: ends.genu, range: 100 });
    const costs = await picture("volume");
    await show({ ...place, ends: ends.genu, opacity: 0, surface: true, shown_cost: "none" });
    await save("1", [volume, await picture("planes", axial), costs, await picture("volume")]);
    await axialOnly(false);
  },

  async 2() {
    await axialOnly(true);
    const pictures = [];
    for (const shown_cost of ["from", "to", "total"]) {
      await show({ ends: ends.genu, crosshair_mm: [-1, 34, 21], shown_cost, range: 100, opacity: 1 });
      pictures.push(await picture("planes", axial));
    }
    await axialOnly(false);
    await save("2", pictures);
  },

  async 6() {
    const tract = { ends: ends.corticospinal, crosshair_mm: [15, -18, 20], camera: views.above };
    await show({ ...tract, range: 60 });
    await setVolume({ opacity: 0 });
    const costs = await picture("volume");
    const names = ["genu", "body", "splenium", "leftCingulum", "rightCingulum"];
    const colours = ["#00e0e0", "#ffe000", "#f03030", "#30c840", "#4070ff"];
    const settings = { metric: "jeong", alpha: 3, smooth: 0, "max-ratio": 100, "within-fa": 0 };
    const kept = names.map((name, i) => ({ name, colour: colours[i], ends: ends[name], epsilon: 0.03, ...settings }));
    await show({ kept, camera: views.above, crosshair_mm: [-1, 0, 20] });
    await setVolume({ clip: [0.1, 0, 90] });
    const withSlice = await picture("volume");
    await setVolume({ opacity: 0 });
    await save("6", [costs, withSlice, await picture("volume")]);
    await setVolume({});
  },

  async 7() {
    await show({ ends: ends.genu, glyphs: true, camera: views.above, crosshair_mm: [-1, 34, 21] });
    await page.waitForFunction(() => voxherd.volume.meshes.has("glyphs"), null, { timeout });
    await setVolume({ opacity: 0.4 });
    const all = await picture("volume");
    await lookAt([-1, 36, 22], 26);
    await setVolume({ opacity: 0 });
    await save("7", [all, await picture("volume")]);
    await lookAt();
    await setVolume({});
  },

  async 9() {
    const tract = { ends: ends.arcuate, epsilon: 3, crosshair_mm: [-30, -28, 31], camera: views.left };
    await show({ ...tract, surface: true, shown_cost: "none" });
    await setVolume({ opacity: 0.3 });
    const pathway = await picture("volume");
    await show({ ...tract, shown_cost: "none" });
    await traceStreamlines(page, ends.arcuate.from.point);
    await setVolume({ opacity: 0.3 });
    await save("9", [pathway, await picture("volume")]);
  },
};

for (const [name, make] of Object.entries(figures)) if (!only || only === name) await make();
await browser.close();
