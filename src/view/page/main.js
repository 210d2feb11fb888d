// The page of `voxherd view`: an image on three planes and as a volume, with an overlay.
import { displayRange, paintMap, setMapColours } from "./colours.js";
import { ConnectPanel } from "./connect_panel.js";
import { valueText } from "./elements.js";
import { MatrixPanel } from "./matrix_panel.js";
import { ImageView } from "./niivue_adapter.js";
import { savePicture } from "./save.js";
import { listenToScenes, showScene } from "./scene.js";
import * as server from "./server.js";
import { StreamlinePanel } from "./streamline_panel.js";
import { SurfacePanel } from "./surface_panel.js";
import { VoxelPanel } from "./voxel_panel.js";

const byId = (id) => document.getElementById(id);
const say = (text) => (byId("status").textContent = text);

// What went wrong where the crosshair was is no news elsewhere.
function forgetFailure() {
  if (byId("status").textContent.startsWith("Failed")) say("");
}

const shortNumber = (value) => String(Number(value.toPrecision(3)));

// The ends of a colour bar.
function showWindow(name, [low, high], unit) {
  byId(`${name}-low`).textContent = shortNumber(low);
  byId(`${name}-high`).textContent = valueText(Number(shortNumber(high)), unit);
}

// Keys of the planes. NiiVue has letters of its own, so that these must be caught before it sees them.
const keySteps = {
  ArrowLeft: [-1, 0, 0],
  ArrowRight: [1, 0, 0],
  ArrowUp: [0, 1, 0],
  ArrowDown: [0, -1, 0],
  PageUp: [0, 0, 1],
  PageDown: [0, 0, -1],
};

// move(step): voxels to the right, to the front, upwards; setEnd("from" or "to").
function listenToKeys(canvas, { move, setEnd }) {
  const listen = (event) => {
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (keySteps[event.key]) move(keySteps[event.key]);
    else if (event.key.toLowerCase() === "f") setEnd("from");
    else if (event.key.toLowerCase() === "t") setEnd("to");
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  canvas.addEventListener("keydown", listen, true);
}

// The panels of results: what they show depends on the analysis.

async function openPanels(page, say) {
  const { voxel, matrices, streamlines, surfaces } = page.state.details;
  if (voxel) page.voxelPanel = new VoxelPanel(page, byId("voxel"));
  if (matrices) page.matrixPanel = await MatrixPanel.open(page, byId("matrix"), say);
  if (surfaces) page.surfacePanel = await SurfacePanel.open(page, byId("surfaces"));
  if (streamlines) page.streamlinePanel = await StreamlinePanel.open(page, byId("streamlines"), say);
  byId("main").classList.toggle("has-details", Boolean(voxel || matrices || streamlines || surfaces));
  for (const listen of page.listeners) listen();
}

// What is shown, shared with the panels.
class Page {
  constructor(state, planes, volume) {
    this.state = state;
    this.planes = planes;
    this.volume = volume;
    this.place = null; // of the crosshair: {mm, voxel}
    const [x, y, z] = state.grid.size;
    this.voxelCount = x * y * z;
    this.rgba = { planes: new Uint8Array(4 * x * y * z), volume: new Uint8Array(4 * x * y * z) };
    this.image = null; // {name, unit, values}
    this.map = null; // the overlay, if it is a map
    this.connect = null; // its panel, if there are connections
    this.listeners = []; // called when the crosshair has moved
  }

  opacity() {
    return Number(byId("opacity").value);
  }

  voxelIndex([i, j, k]) {
    const [x, y] = this.state.grid.size;
    return i + x * (j + y * k);
  }

  // World mm of a voxel's centre.
  toMm([i, j, k]) {
    const a = this.state.grid.affine;
    return [0, 4, 8].map((row) => a[row] * i + a[row + 1] * j + a[row + 2] * k + a[row + 3]);
  }

  // The maps, with the FA that connections are computed from first.
  listMaps() {
    const maps = this.state.maps.map((map, number) => ({ ...map, key: String(number) }));
    if (this.state.connect.available && !maps.some((map) => map.name === "FA"))
      maps.unshift({ name: "FA", unit: "1", meaning: "fractional anisotropy", key: "FA" });
    return maps;
  }

  async showImage(map) {
    const { file, values } = await server.fetchMap(map.key);
    this.image = { ...map, values, header: file.slice(0, server.niftiHeaderBytes) };
    const range = map.name === "FA" ? [0, 0.8] : displayRange(values);
    showWindow("image", range, map.unit);
    await this.planes.setImage(file, range);
    await this.volume.setImage(file.slice(0), range);
    this.paint();
  }

  async showMap(map) {
    this.map = null;
    if (map) {
      const { values } = await server.fetchMap(map.key);
      this.map = { ...map, values, range: displayRange(values) };
      showWindow("map", this.map.range, map.unit);
    }
    byId("map-legend").hidden = !map;
    this.paint();
  }

  // The connection is the overlay again.
  leaveMap() {
    this.map = null;
    byId("overlay").value = "";
    byId("map-legend").hidden = true;
  }

  paintColours(view) {
    const rgba = this.rgba[view.kind];
    if (this.map) {
      const [low, high] = this.map.range;
      paintMap(rgba, { values: this.map.values, low, high, opacity: this.opacity() });
    } else if (!this.connect?.paint(rgba, view.kind)) {
      rgba.fill(0);
    }
    view.setOverlay(rgba);
  }

  paint() {
    for (const view of [this.planes, this.volume]) {
      this.paintColours(view);
      view.draw();
    }
    this.describePlace();
  }

  // Value and unit of each map under the crosshair.
  describePlace() {
    if (!this.place || !this.image) return;
    const at = this.voxelIndex(this.place.voxel);
    const value = ({ name, unit, values }) =>
      `${name} ${Number(values[at].toPrecision(4))}${unit && unit !== "1" ? ` ${unit}` : ""}`;
    const parts = [`${this.place.mm.map((x) => x.toFixed(1)).join(", ")} mm`, `voxel ${this.place.voxel.join(" ")}`];
    if (this.state.grid.has_image) parts.push(value(this.image));
    if (this.map) parts.push(value(this.map));
    if (this.connect) parts.push(...this.connect.describe(at));
    byId("location").textContent = parts.join(" · ");
  }

  moveBy(step) {
    const size = this.state.grid.size;
    if (byId("radiological").checked) step = [-step[0], step[1], step[2]]; // the arrow's direction on the screen
    const voxel = this.place.voxel.map((x, d) => Math.min(size[d] - 1, Math.max(0, Math.round(x) + step[d])));
    this.moveTo(this.toMm(voxel));
  }

  moveTo(mm) {
    this.planes.moveTo(mm);
    this.volume.moveTo(mm);
  }
}

function fillMenus(page) {
  const maps = page.listMaps();
  for (const menu of [byId("image"), byId("overlay")])
    for (const map of maps)
      menu.add(new Option(map.unit && map.unit !== "1" ? `${map.name} (${map.unit})` : map.name, map.key));
  byId("overlay").add(new Option(page.state.connect.available ? "connection" : "none", ""), 0);
  byId("overlay").value = "";
  const find = (key) => maps.find((map) => map.key === key) ?? null;
  byId("image").addEventListener("change", () => report(page.showImage(find(byId("image").value))));
  byId("overlay").addEventListener("change", () => report(page.showMap(find(byId("overlay").value))));
  byId("opacity").addEventListener("input", () => page.paint());
  byId("radiological").addEventListener("change", () => page.planes.setRadiological(byId("radiological").checked));
  byId("save-pictures").addEventListener("click", () => {
    for (const view of [page.planes, page.volume]) savePicture(view, `${view.kind}.png`);
  });
  const names = ["mean of the series", "FA", "S0", "mean_S0", "b0"];
  const first = names.map((name) => maps.find((map) => map.name === name)).find(Boolean) ?? maps[0];
  byId("image").value = first.key;
  return first;
}

// Shows how an action ended if it failed.
function report(action) {
  return action.catch((error) => say(`Failed: ${error.message}`));
}

async function start() {
  const state = await server.fetchState();
  byId("file").textContent = `${state.file}${state.analysis ? ` (${state.analysis})` : ""}`;
  const planes = await ImageView.open(byId("planes"), "planes");
  const volume = await ImageView.open(byId("volume"), "volume");
  setMapColours(state.colours);
  const page = new Page(state, planes, volume);
  planes.onMove((place) => {
    page.place = place;
    forgetFailure();
    page.describePlace();
    for (const listen of page.listeners) listen();
  });
  await page.showImage(fillMenus(page));
  if (!state.grid.has_image) volume.forgetImage();
  byId("made-up").hidden = !state.grid.is_made_up;
  if (state.grid.is_made_up) planes.hideSides();
  planes.warmUp();
  volume.warmUp();
  if (state.connect.available) page.connect = await ConnectPanel.open(page, say);
  byId("no-connect").hidden = state.connect.available;
  byId("no-connect").textContent = `No connections: ${state.connect.why_not}.`;
  listenToKeys(byId("planes"), {
    move: (step) => page.moveBy(step),
    setEnd: (side) => page.connect?.setHere(side),
  });
  byId("planes").addEventListener("mouseup", () => volume.moveTo(page.place.mm));
  page.moveTo(page.toMm(state.grid.first_place));
  await openPanels(page, say);
  const overlay = page.listMaps().find(({ name }) => name === state.overlay);
  if (overlay) {
    byId("overlay").value = overlay.key;
    await page.showMap(overlay);
  }
  server.keepAlive();
  listenToScenes(page, report);
  say(`Ready (${state.device}).`);
  if (state.scene) await report(showScene(page, state.scene));
  document.documentElement.dataset.ready = "yes";
  page.showScene = (scene) => showScene(page, scene);
  window.voxherd = page; // for tests
}

report(start());
