// What is in the pathway: least-cost paths, and tensors as glyphs, each asked for when it is shown; and the
// numbers of the connection.
import { drawCurve } from "./chart.js";
import { Solver, commandLine } from "./connection.js";
import { makeGlyphs } from "./glyphs.js";
import { saveBytes } from "./save.js";
import * as server from "./server.js";

const byId = (id) => document.getElementById(id);
const maxFibres = 300;
const maxGlyphs = 2000;

export class PathwayDetails {
  // `panel`: with the connection, epsilon(), page and say().
  constructor(panel) {
    this.panel = panel;
    this.tracer = new Solver();
    this.glyphAsker = new Solver();
    byId("epsilon").addEventListener("change", () => this.show());
    byId("fibres").addEventListener("change", () => this.showFibres());
    byId("glyphs").addEventListener("change", () => this.showGlyphs());
    byId("save-fibres").addEventListener("click", () => this.try(() => this.saveFibres()));
  }

  show() {
    return Promise.all([this.showFibres(), this.showGlyphs()]);
  }

  showFibres() {
    return this.try(() => this.drawFibres());
  }

  showGlyphs() {
    return this.try(() => this.drawGlyphs());
  }

  async try(action) {
    try {
      await action();
    } catch (error) {
      this.panel.say(`Failed: ${error.message}`);
    }
  }

  // `count`: at most so many.
  request(count) {
    return { connection: this.panel.connection.connection, epsilon: this.panel.epsilon(), count };
  }

  async drawFibres() {
    const { connection, page } = this.panel;
    const isWanted = connection && byId("fibres").checked;
    if (!isWanted && !page.volume.meshes.has("fibres")) return;
    const fibres = isWanted
      ? await this.tracer.run((signal) => server.fetchFibres(this.request(maxFibres), signal))
      : { offsets: [0] };
    if (!fibres) return;
    const count = page.volume.setFibres(fibres);
    byId("fibre-count").textContent = isWanted ? String(count) : "not shown";
    page.volume.draw();
  }

  async drawGlyphs() {
    const { connection, page } = this.panel;
    const isWanted = connection && byId("glyphs").checked;
    if (!isWanted && !page.volume.meshes.has("glyphs")) return;
    const answer = isWanted
      ? await this.glyphAsker.run((signal) => server.fetchGlyphs(this.request(maxGlyphs), signal))
      : { voxels: [], eigen: new Float32Array(0), stride: 1 };
    if (!answer) return;
    const { size, voxel_mm } = page.state.grid;
    const place = (v) => page.toMm([v % size[0], Math.floor(v / size[0]) % size[1], Math.floor(v / size[0] / size[1])]);
    const half = 0.5 * Math.min(...voxel_mm) * Math.cbrt(answer.stride);
    page.volume.setColouredSurface("glyphs", makeGlyphs(Array.from(answer.voxels, place), answer.eigen, half));
    const share = answer.stride > 1 ? ` (one voxel of ${answer.stride})` : "";
    byId("glyph-count").textContent = isWanted ? `${answer.voxels.length}${share}` : "not shown";
    page.volume.draw();
  }

  async saveFibres() {
    saveBytes(await server.fetchTrx(this.request(maxFibres)), "paths.trx");
  }
}

// A command line whose words are not broken at their hyphens.
function showCommand(element, text) {
  const words = text.split(" ").flatMap((word, i) => {
    const span = Object.assign(document.createElement("span"), { className: "word", textContent: word });
    return i === 0 ? [span] : [" ", span];
  });
  element.replaceChildren(...words);
}

// Returns how many voxels the pathway has.
export function showNumbers(page, connection, epsilon) {
  const FA = page.image.name === "FA" ? page.image.values : null;
  const pathway = connection.measure(epsilon, FA);
  byId("numbers").hidden = false;
  byId("cost").textContent = `${connection.cost.toPrecision(6)} ${connection.unit}`;
  byId("length").textContent = `${connection.length_mm.toFixed(1)} mm`;
  byId("path-FA").textContent = connection.path_FA === null ? "no path" : connection.path_FA.toFixed(3);
  byId("pathway-volume").textContent = `${pathway.ml.toFixed(2)} ml (${pathway.count} voxels)`;
  byId("mean-FA").textContent = FA ? pathway.mean.toFixed(3) : "shown with FA as picture";
  byId("gap").textContent = `${(100 * connection.gap).toFixed(1)} % (0 for an exact solution)`;
  const warning = connection.describeGreyMatter(page.state.connect.white_matter);
  byId("grey-matter").hidden = warning === "";
  byId("grey-matter").textContent = warning;
  const { epsilon: epsilons, voxels } = connection.curve;
  const volumes = voxels.map((n) => n * connection.voxelMl);
  drawCurve(byId("curve"), epsilons, volumes, epsilon);
  showCommand(byId("command"), commandLine(connection.words, epsilon));
  return pathway.count;
}
