// The paths of a result: colour, threshold, slab, a table of them, and those that start at the crosshair.
import { displayRange } from "./colours.js";
import { Solver } from "./connection.js";
import { fetchStreamlineFile, fetchStreamlines } from "./server.js";
import { debounce, make, makeField, makeFoldedTable, makeMenu, makeTable, numberText, valueText, withUnit } from "./elements.js";
import { FibreChoice } from "./fibre_choice.js";
import { RayList } from "./ray_list.js";
import { saveBytes } from "./save.js";
import { findMiddle, selectFibres, spreadOverPoints } from "./streamlines.js";

const standardCount = 2000;
const maxListed = 50;
const waitMs = 150;
const axes = { axial: 2, coronal: 1, sagittal: 0 };

// What paths are best known by.
const ranking = ["measure", "relative", "cost", "mean_FA", "length_mm"];

export class StreamlinePanel {
  static async open(page, section, say) {
    const panel = new StreamlinePanel(page, section, say);
    await panel.load();
    return panel;
  }

  constructor(page, section, say) {
    Object.assign(this, { page, say });
    this.requests = new Solver();
    const { measures, groupings } = page.state.details.streamlines;
    this.measures = measures;
    this.choice = new FibreChoice(page.state.regions, groupings, debounce(() => this.load(), waitMs));
    section.append(make("h2", {}, "Paths of the result"), ...this.makeControls());
    section.hidden = false;
    this.listen();
  }

  makeControls() {
    const stored = this.page.state.details.streamlines.stored;
    const names = this.measures.map(({ name, unit }) => [withUnit(name, unit), name]);
    const number = (id, attributes) => make("input", { id, type: "number", ...attributes });
    this.status = make("p", { role: "status", id: "streamline-count" });
    this.count = number("streamline-limit", { min: 1, max: 20000, value: Math.min(stored, standardCount) });
    this.colour = makeMenu("streamline-colour", [["direction", ""], ...names]);
    this.legend = make("p", { class: "legend", hidden: "" });
    this.measure = makeMenu("streamline-measure", names);
    this.measure.value = ranking.find((name) => this.measures.some((m) => m.name === name)) ?? names[0]?.[1] ?? "";
    this.threshold = make("input", { id: "streamline-threshold", type: "range", min: 0, max: 100, value: 0 });
    this.limit = make("output", { for: "streamline-threshold" });
    this.side = makeMenu("streamline-side", [
      ["at least", "low"],
      ["at most", "high"],
    ]);
    // Of costs the small ones are the best.
    this.side.value = this.measure.value.endsWith("cost") ? "high" : "low";
    this.slab = number("streamline-slab", { min: 0, max: 1000, step: "any", value: 3 });
    this.cut = makeMenu("streamline-cut", [["complete", ""], ...Object.keys(axes).map((name) => [`${name} slab`, name])]);
    const thresholdLabel = make("label", { for: "streamline-threshold" }, "Threshold ", this.limit);
    this.table = makeFoldedTable("Paths as a table", this.tableHeader(), () => this.tableRows());
    this.table.id = "streamline-table";
    this.rays = new RayList(this);
    this.toStart = make("button", { type: "button", id: "nearest-start" }, "Go to the nearest start of a path");
    this.saving = make("button", { type: "button", id: "save-streamlines" }, "Save these paths (TRX)");
    this.saved = make("p", { class: "hint", role: "status" });
    const byMeasure = [...makeField("Measure", this.measure), ...makeField("Show", this.side)];
    return [
      this.status,
      ...makeField(`Largest number of paths (of ${stored})`, this.count),
      ...makeField("Colour", this.colour),
      this.legend,
      ...(names.length > 0 ? [...byMeasure, thresholdLabel, this.threshold] : []),
      ...this.choice.makeControls(),
      ...makeField("Thickness of the slab around the planes (mm)", this.slab),
      ...makeField("In the volume", this.cut),
      this.table,
      this.saving,
      this.saved,
      make("h3", {}, "Paths that start at the crosshair"),
      this.toStart,
      ...this.rays.makeControls(),
    ];
  }

  listen() {
    const redraw = debounce(() => this.draw(), waitMs);
    this.count.addEventListener("change", () => this.load());
    for (const control of [this.colour, this.measure, this.side, this.cut]) control.addEventListener("change", redraw);
    for (const control of [this.threshold, this.slab]) control.addEventListener("input", redraw);
    this.toStart.addEventListener("click", () => this.goToStart());
    this.saving.addEventListener("click", () => this.save());
    const follow = debounce(() => this.follow(), waitMs);
    this.page.listeners.push(follow);
  }

  async load() {
    this.status.textContent = "Reading paths …";
    const count = Math.min(20000, Math.max(1, Math.round(Number(this.count.value) || standardCount)));
    try {
      const fibres = await this.requests.run((signal) => fetchStreamlines(count, this.choice.request(), signal));
      if (!fibres) return;
      this.fibres = fibres;
      this.rays.draw("picked", null);
      this.draw();
    } catch (error) {
      this.status.textContent = `Failed: ${error.message}`;
    }
  }

  find(name) {
    return this.fibres.measures.find((m) => m.name === name);
  }

  // Numbers of the paths that pass the threshold, which is noted for saving.
  choose() {
    const all = Array.from({ length: this.fibres.fibres }, (_, n) => n);
    const measure = this.find(this.measure.value);
    this.limits = {};
    if (!measure) return all;
    const sorted = measure.values.filter(Number.isFinite).sort();
    if (sorted.length === 0) return all;
    const isLow = this.side.value === "low";
    const part = Number(this.threshold.value) / 100;
    const limit = sorted[Math.round((isLow ? part : 1 - part) * (sorted.length - 1))];
    const words = `${isLow ? "at least" : "at most"} ${valueText(limit, measure.unit)}`;
    this.limit.textContent = part > 0 ? words : "none";
    if (part === 0) return all;
    this.limits = { measure: measure.name, [isLow ? "at_least" : "at_most"]: limit };
    return all.filter((n) => (isLow ? measure.values[n] >= limit : measure.values[n] <= limit));
  }

  // Points near the crosshair's plane.
  slabTest() {
    const axis = axes[this.cut.value];
    if (axis === undefined) return null;
    const [at, half] = [this.page.place.mm[axis], Number(this.slab.value) / 2];
    return (...point) => Math.abs(point[axis] - at) <= half;
  }

  draw() {
    if (!this.fibres) return;
    const { page, fibres } = this;
    const chosen = this.choose();
    const measure = this.find(this.colour.value);
    const values = measure ? spreadOverPoints(fibres, measure.values) : null;
    const range = measure ? displayRange(measure.values) : null;
    this.showLegend(measure, range);
    const all = selectFibres(fibres, chosen, { values });
    const isShown = this.slabTest();
    const cut = isShown ? selectFibres(fibres, chosen, { isShown, values }) : all;
    this.chosen = chosen;
    page.planes.setSlab(Number(this.slab.value));
    page.planes.setStreamlines("streamlines", all, { range });
    page.volume.setStreamlines("streamlines", cut, { range });
    this.draws = (this.draws ?? 0) + 1;
    page.planes.draw();
    page.volume.draw();
    this.status.textContent = this.describeChoice();
    if (this.table.open) this.table.querySelector("table")?.replaceWith(this.makeList());
  }

  describeChoice() {
    const drawn = `${this.chosen.length} of ${this.fibres.stored}`;
    if (!this.choice.isActive()) return `${drawn} paths are drawn.`;
    return `${drawn} paths that pass regions and groups are drawn; the result has ${this.page.state.details.streamlines.stored}.`;
  }

  // All paths of the result that pass, also those that are too many to draw.
  async save() {
    this.saved.textContent = "Writing …";
    try {
      const bytes = await fetchStreamlineFile({ ...this.choice.request(), ...this.limits });
      const [, count] = /"NB_STREAMLINES":(\d+)/.exec(new TextDecoder("latin1").decode(bytes.slice(0, 1000)));
      saveBytes(bytes, "paths.trx");
      this.saved.textContent = `${count} paths have been saved.`;
    } catch (error) {
      this.saved.textContent = `Failed: ${error.message}`;
    }
  }

  showLegend(measure, range) {
    this.legend.hidden = !measure;
    if (!measure) return;
    const scale = make("span", { class: "map scale", "aria-hidden": "true" });
    this.legend.replaceChildren(numberText(range[0], 3), scale, valueText(range[1], measure.unit));
  }

  tableHeader() {
    return ["path", ...this.measures.map(({ name, unit }) => withUnit(name, unit))];
  }

  makeList() {
    return makeTable("Paths as a table", this.tableHeader(), this.tableRows(), { hasCaption: false });
  }

  // The best of those that are drawn; a button shows one.
  tableRows() {
    const measure = this.find(this.measure.value);
    const sign = this.side.value === "low" ? -1 : 1;
    const order = [...this.chosen];
    if (measure) order.sort((a, b) => sign * (measure.values[a] - measure.values[b]));
    return order.slice(0, maxListed).map((n) => this.describeFibre(this.fibres, n));
  }

  describeFibre(fibres, n) {
    const button = make("button", { type: "button", class: "pair" }, `${n + 1}`);
    button.addEventListener("click", () => {
      this.rays.draw("picked", selectFibres(fibres, [n]));
      this.page.moveTo(findMiddle(fibres, n));
    });
    return [button, ...fibres.measures.map((m) => numberText(m.values[n]))];
  }

  // What depends on the crosshair.
  follow() {
    if (this.cut.value) this.draw();
    this.rays.follow();
  }

  // Starts are voxels of the page.
  goToStart() {
    const [nx, ny] = this.page.state.grid.size;
    const here = this.page.place.voxel;
    let best = null;
    for (const n of this.chosen) {
      const start = this.fibres.starts[n];
      const voxel = [start % nx, Math.floor(start / nx) % ny, Math.floor(start / (nx * ny))];
      const distance = Math.hypot(...voxel.map((x, d) => x - here[d]));
      if (!best || distance < best.distance) best = { distance, voxel };
    }
    if (best) this.page.moveTo(this.page.toMm(best.voxel));
  }
}
