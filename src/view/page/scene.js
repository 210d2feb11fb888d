// What the page shows, as a file: saved, and loaded again for the same image or another one.
import { saveText } from "./save.js";

const byId = (id) => document.getElementById(id);
const version = 1;
// Controls whose values are part of a scene, and their names in it.
const values = { opacity: "opacity", epsilon: "epsilon", range: "range", "shown-cost": "shown_cost" };
const switches = ["surface", "fibres", "glyphs", "radiological"];
const optionNames = (page) => (page.state.connect.options ?? []).map(({ name }) => name);

const readControl = (id) => (Number.isNaN(Number(byId(id).value)) ? byId(id).value : Number(byId(id).value));
const selectedName = (menu) => (menu.value === "" ? "" : menu.selectedOptions[0].textContent);

export function describeScene(page) {
  const scene = { voxherd_scene: version, image: selectedName(byId("image")), overlay: selectedName(byId("overlay")) };
  for (const [id, name] of Object.entries(values)) scene[name] = readControl(id);
  for (const name of optionNames(page)) scene[name] = readControl(name);
  for (const id of switches) scene[id] = byId(id).checked;
  scene.crosshair_mm = page.place.mm;
  scene.camera = page.volume.getCamera();
  if (!page.connect) return scene;
  scene.ends = page.connect.ends;
  scene.kept = page.connect.kept.list.map(({ name, colour, ends, settings, epsilon }) => ({
    ...{ name, colour, ends, epsilon },
    ...settings,
  }));
  return scene;
}

const isPoint = (p) => Array.isArray(p) && p.length === 3 && p.every(Number.isFinite);
const isEnd = (end) => end === null || isPoint(end?.point) || Number.isInteger(end?.label);

// Throws an error that says what is wrong with it.
function check(scene) {
  if (scene?.voxherd_scene !== version) throw new Error("the file is not a scene of voxherd view");
  const pairs = [scene.ends, ...(scene.kept ?? []).map(({ ends }) => ends)].filter(Boolean);
  if (!pairs.every(({ from, to }) => isEnd(from ?? null) && isEnd(to ?? null)))
    throw new Error("the scene's ends must be points or labels");
  if (scene.crosshair_mm && !isPoint(scene.crosshair_mm)) throw new Error("the scene's crosshair_mm must be a point");
}

// A map of the same name, if this image has it.
function choose(menu, name) {
  const option = [...menu.options].find(({ textContent, value }) => textContent === name || (name === "" && value === ""));
  if (!option || menu.value === option.value) return;
  menu.value = option.value;
  menu.dispatchEvent(new Event("change"));
}

function setControls(page, scene) {
  for (const name of optionNames(page)) if (name in scene) byId(name).value = scene[name];
  for (const [id, name] of Object.entries(values)) if (name in scene) byId(id).value = scene[name];
  for (const id of switches) byId(id).checked = scene[id] === true;
  page.planes.setRadiological(byId("radiological").checked);
}

async function solveKept(page, { name, colour, ends, epsilon, ...settings }) {
  const panel = page.connect;
  for (const name of optionNames(page)) if (name in settings) byId(name).value = settings[name];
  byId("epsilon").value = 100 * epsilon;
  await panel.setEnds(ends);
  if (panel.connection) panel.keep({ name, colour });
}

export async function showScene(page, scene) {
  check(scene);
  choose(byId("image"), scene.image);
  if (page.connect) {
    page.connect.kept.clear();
    for (const kept of scene.kept ?? []) await solveKept(page, kept);
    setControls(page, scene);
    page.connect.showSliders();
    const ends = scene.ends ?? {};
    if (!ends.from || !ends.to) page.connect.clear();
    await page.connect.setEnds(ends);
  }
  choose(byId("overlay"), scene.overlay);
  if (scene.crosshair_mm) page.moveTo(scene.crosshair_mm);
  if (scene.camera) page.volume.setCamera(scene.camera);
  page.paint();
}

// report(action): shows how it ended if it failed.
export function listenToScenes(page, report) {
  byId("save-scene").addEventListener("click", () =>
    saveText(`${JSON.stringify(describeScene(page), null, 2)}\n`, "scene.json"),
  );
  byId("load-scene").addEventListener("change", () => {
    const [file] = byId("load-scene").files;
    byId("load-scene").value = ""; // the same file can be chosen again
    const load = async () => showScene(page, JSON.parse(await file.text()));
    if (file) report(load());
  });
}
