// The panel that picks two ends, has the connection solved and shows it.
import { paintArrivals, paintCosts, paintPathway } from "./colours.js";
import { Connection, Solver } from "./connection.js";
import { make, makeField, makeMenu, withUnit } from "./elements.js";
import { KeptPathways } from "./kept_pathways.js";
import { PathwayDetails, showNumbers } from "./pathway_details.js";
import { saveNifti } from "./save.js";
import * as server from "./server.js";
import { findSurface, makeBall } from "./surface.js";
import { Timing } from "./timing.js";

const byId = (id) => document.getElementById(id);
const none = { points: new Float32Array(0), triangles: new Uint32Array(0) };
const colours = { pathway: [60, 140, 255], ends: [255, 60, 60] };

// Lets the browser show what has been drawn.
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
const nameText = (name) => sentence(name.replaceAll("-", " "));

// A label and a control for an option that the program describes.
function makeOption({ name, text, unit, words, min, max }, value) {
  const control = words
    ? makeMenu(name, words.map((word) => [word, word]))
    : Object.assign(make("input", { id: name, type: "number", step: "any" }), { min, max: max ?? "" });
  control.title = text;
  control.value = value;
  return makeField(withUnit(nameText(name), unit), control);
}

// The same for an option that the program has a label for: a part of 1.
function makeSlider({ name, label, text, max }, value) {
  const slider = make("input", { id: name, type: "range", min: 0, max, step: 0.01, title: text });
  slider.value = value;
  return makeField([`${label} `, make("output", { id: `${name}-value`, for: name })], slider);
}

// The slider is in percent.
function fillSlider(slider, { name, text, max, default: value }) {
  const step = max / 5; // 500 places
  Object.assign(slider, { min: step, max: 100 * max, step, value: 100 * value });
  byId(`${slider.id}-name`).textContent = nameText(name);
  byId(`${slider.id}-hint`).textContent = `${sentence(text)}.`;
}

export class ConnectPanel {
  static async open(page, say) {
    const voxels = await server.fetchPassable();
    const labels = page.state.regions.length > 0 ? await server.fetchRegions() : null;
    return new ConnectPanel(page, say, voxels, labels);
  }

  constructor(page, say, voxels, labels) {
    Object.assign(this, { page, say, voxels, labels });
    this.names = new Map(page.state.regions.map(({ label, name }) => [label, name]));
    this.ends = { from: null, to: null }; // {point} or {label}
    this.solver = new Solver();
    this.details = new PathwayDetails(this);
    this.kept = new KeptPathways(page, () => page.paint());
    this.front = null; // arrival times of one end, if they are shown
    this.connection = null;
    this.costAt = null; // total of each voxel of the image
    this.fillControls();
    this.listen();
    byId("connect").hidden = false;
    say("Set both ends of a connection.");
  }

  fillControls() {
    for (const side of ["from", "to"]) {
      byId(side).add(new Option("not set", ""));
      byId(side).add(new Option("point", "point"));
      for (const [label, name] of this.names) byId(side).add(new Option(name, String(label)));
      byId(side).options[1].disabled = true;
    }
    const { connect } = this.page.state;
    for (const option of connect.options)
      if (option.label) byId("limits").append(...makeSlider(option, connect[option.name]));
      else byId("options").append(...makeOption(option, connect[option.name]));
    fillSlider(byId("epsilon"), connect.epsilon);
    this.showSliders();
  }

  listen() {
    for (const side of ["from", "to"]) {
      byId(side).addEventListener("change", () => this.setRegion(side, Number(byId(side).value)));
      byId(`set-${side}`).addEventListener("click", () => this.setHere(side));
    }
    let waiting = false;
    const later = () => {
      this.showSliders();
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        this.show(new Timing());
      });
    };
    for (const { name } of this.limits()) {
      byId(name).addEventListener("input", () => this.showSliders());
      byId(name).addEventListener("change", () => this.connection && this.solve());
    }
    for (const id of ["epsilon", "range", "surface"]) byId(id).addEventListener("input", later);
    byId("shown-cost").addEventListener("change", () => this.showFront());
    byId("keep").addEventListener("click", () => this.keep());
    byId("solve").addEventListener("click", () => this.solve());
    byId("save-costs").addEventListener("click", () => this.save("total", this.connection.total));
    byId("save-pathway").addEventListener("click", () => {
      const limit = this.connection.limit(this.epsilon());
      this.save(
        "pathway",
        Float32Array.from(this.connection.level, (level) => (level <= limit ? 1 : 0)),
      );
    });
  }

  epsilon() {
    return Number(byId("epsilon").value) / 100;
  }

  limits() {
    return this.page.state.connect.options.filter(({ label }) => label);
  }

  showSliders() {
    for (const { name } of this.limits()) byId(`${name}-value`).textContent = Number(byId(name).value).toFixed(2);
    byId("epsilon-value").textContent = `${byId("epsilon").value} %`;
    byId("range-value").textContent = `+${byId("range").value} %`;
    byId("legend-end").textContent = `+${byId("range").value} %`;
  }

  setHere(side) {
    const point = this.page.toMm(this.page.place.voxel).map((x) => Number(x.toFixed(3)));
    this.setEnd(side, { point });
  }

  setRegion(side, label) {
    this.setEnd(side, label > 0 ? { label } : null);
  }

  setEnd(side, end) {
    return this.setEnds({ ...this.ends, [side]: end });
  }

  setEnds(ends) {
    for (const side of ["from", "to"]) {
      this.ends[side] = ends[side] ?? null;
      const point = this.ends[side]?.point;
      byId(side).value = point ? "point" : String(this.ends[side]?.label ?? "");
      this.page.volume.setSurface(side, point ? makeBall(point, 2.5) : none, colours.ends);
      this.page.planes.setSurface(side, point ? makeBall(point, 2.5) : none, colours.ends);
    }
    const { from, to } = this.ends;
    if (from && to) return this.solve();
    this.page.paint();
    this.say(from || to ? `Set the other end.` : "Set both ends of a connection.");
    return null;
  }

  settings() {
    const value = ({ name, words }) => (words ? byId(name).value : Number(byId(name).value));
    return Object.fromEntries(this.page.state.connect.options.map((option) => [option.name, value(option)]));
  }

  async solve() {
    const [from, to] = ["from", "to"].map((side) => this.ends[side]?.point ?? this.ends[side]?.label);
    if (from === undefined || to === undefined) return this.say("Set both ends of a connection.");
    if (String(from) === String(to)) return this.say("Both ends are the same: choose another one.");
    this.say("Solving …");
    document.documentElement.dataset.solved = "no";
    const timing = new Timing();
    try {
      const answer = await this.solver.solve({ from, to, ...this.settings() });
      if (!answer) return null;
      timing.step("request and answer");
      for (const [name, seconds] of Object.entries(answer.seconds)) timing.times[`  of it ${name}`] = 1000 * seconds;
      this.accept(answer);
      if (this.frontShown()) await this.fetchFront();
      await this.show(timing);
      const warning = this.connection.describeGreyMatter(this.page.state.connect.white_matter);
      this.say(`Solved: cost ${this.connection.cost.toPrecision(5)} ${this.connection.unit}. ${warning}`.trim());
      this.details.show();
    } catch (error) {
      this.say(`Failed: ${error.message}`);
    }
    document.documentElement.dataset.solved = "yes";
    return null;
  }

  accept(answer) {
    this.connection = new Connection(answer, this.voxels, this.page.state.connect.voxel_mm3);
    this.front = null;
    byId("keep").disabled = false;
    this.solvedEnds = { ...this.ends };
    this.costAt = new Float32Array(this.page.voxelCount).fill(Infinity);
    for (let n = 0; n < this.voxels.length; n++) this.costAt[this.voxels[n]] = this.connection.total[n];
    this.page.leaveMap();
    const middle = this.connection.middle();
    if (middle && !this.solvedEnds.from.point && !this.solvedEnds.to.point) this.page.moveTo(middle);
  }

  // Whether there is something to paint. `kind`: of the view, planes or volume.
  paint(rgba, kind) {
    if (!this.connection && this.kept.list.length === 0) return false;
    if (this.connection) this.paintConnection(rgba, kind);
    else rgba.fill(0);
    if (kind === "planes") this.kept.paint(rgba, this.page.opacity());
    return true;
  }

  paintConnection(rgba, kind) {
    const { voxels, connection } = this;
    const { excess, level } = connection;
    const opacity = this.page.opacity();
    const range = Number(byId("range").value) / 100;
    const limit = connection.limit(this.epsilon());
    const faintness = kind === "planes" ? 0.8 : 0.12;
    if (byId("shown-cost").value === "none")
      paintPathway(rgba, { voxels, level, limit, colour: colours.pathway, opacity: kind === "planes" ? opacity : 0 });
    else if (this.front)
      paintArrivals(rgba, { voxels, times: this.front, high: connection.cost * (1 + range), opacity });
    else paintCosts(rgba, { voxels, excess, level, limit, range, inside: opacity, outside: faintness * opacity });
  }

  frontShown() {
    const shown = byId("shown-cost").value;
    return shown === "from" || shown === "to" ? shown : null;
  }

  async fetchFront() {
    const { connection, times } = await server.fetchArrivals(this.frontShown());
    if (connection === this.connection.connection) this.front = times;
  }

  async showFront() {
    this.front = null;
    try {
      if (this.connection && this.frontShown()) await this.fetchFront();
    } catch (error) {
      this.say(`Failed: ${error.message}`);
    }
    this.page.paint();
  }

  // `as`: its name and colour; else chosen here.
  keep(as = {}) {
    const { connection, solvedEnds } = this;
    const limit = connection.limit(this.epsilon());
    const text = ({ point, label }) => (point ? point.map((x) => x.toFixed(0)).join(" ") : this.names.get(label));
    const names = this.page.state.connect.options.map(({ name }) => name);
    this.kept.add({
      name: as.name ?? `${text(solvedEnds.from)} – ${text(solvedEnds.to)}`,
      ...(as.colour ? { colour: as.colour } : {}),
      number: connection.connection,
      ends: solvedEnds,
      settings: Object.fromEntries(names.map((name) => [name, connection[name]])),
      epsilon: this.epsilon(),
      voxels: this.voxels.filter((_, n) => connection.level[n] <= limit),
    });
    this.showSurface();
    this.page.paint();
  }

  // Nothing is connected.
  clear() {
    this.connection = this.costAt = this.front = null;
    this.page.volume.setSurface("pathway", none, colours.pathway);
    byId("numbers").hidden = true;
    byId("keep").disabled = true;
    this.details.show();
  }

  // The planes first, then what takes longer.
  async show(timing) {
    if (!this.connection) return;
    const { page, connection } = this;
    page.paintColours(page.planes);
    timing.step("colours of the planes");
    page.planes.draw();
    timing.step("planes", page.planes);
    timing.sum("until the planes are drawn");
    this.pathwayVoxels = showNumbers(page, connection, this.epsilon());
    page.describePlace();
    await nextFrame();
    if (connection !== this.connection) return;
    timing.step("waiting for the browser");
    this.showSurface();
    timing.step("surface");
    page.paintColours(page.volume);
    timing.step("colours of the volume");
    page.volume.draw();
    timing.step("volume", page.volume);
    timing.sum("until the volume is drawn");
    timing.show();
    page.timing = timing.times;
  }

  showSurface() {
    const { connection, voxels, page } = this;
    const limit = connection.limit(this.epsilon());
    const isInside = (n) => connection.level[n] <= limit;
    const { size, affine } = page.state.grid;
    const isKept = this.kept.has(connection.connection, this.epsilon());
    const surface = byId("surface").checked && !isKept ? findSurface(voxels, isInside, size, affine) : none;
    page.volume.setSurface("pathway", surface, colours.pathway);
    this.triangles = surface.triangles.length / 3;
  }

  // Values of the passable voxels as an image, 0 elsewhere, as in the program's results.
  save(name, values) {
    const image = new Float32Array(this.page.voxelCount);
    for (let n = 0; n < values.length; n++) image[this.voxels[n]] = Number.isNaN(values[n]) ? 0 : values[n];
    saveNifti(this.page.image.header, image, `${name}.nii`);
  }

  // Of the voxel under the crosshair.
  describe(at) {
    const parts = [];
    const label = this.labels?.[at];
    if (label) parts.push(this.names.get(label) ?? `region ${label}`);
    parts.push(...this.kept.describe(at));
    if (!this.connection) return parts;
    const total = this.costAt[at];
    const excess = 100 * (total / this.connection.cost - 1);
    parts.push(
      Number.isFinite(total)
        ? `cost ${total.toPrecision(5)} ${this.connection.unit} (+${excess.toFixed(1)} %)`
        : "no path",
    );
    return parts;
  }
}
