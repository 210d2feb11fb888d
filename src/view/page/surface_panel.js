// Surfaces, or those of a result: which are drawn, the map that colours them, and the vertex nearest to the crosshair.
import { displayRange, paintVertices } from "./colours.js";
import { debounce, make, makeField, makeFoldedTable, makeMenu, makeTable, numberText, valueText, withUnit } from "./elements.js";
import { fetchSurface, fetchVertices } from "./server.js";

const waitMs = 150;
const farMm = 10; // from here on the crosshair is not at a surface

export class SurfacePanel {
  static async open(page, section) {
    const panel = new SurfacePanel(page, section);
    await panel.load();
    return panel;
  }

  constructor(page, section) {
    this.page = page;
    this.surfaces = page.state.details.surfaces.map((s, number) => ({ ...s, number, isShown: !s.why_not, values: null }));
    this.maps = new Map(); // the first of each name
    for (const { maps, why_not } of this.surfaces)
      for (const map of why_not ? [] : maps) if (!this.maps.has(map.name)) this.maps.set(map.name, map);
    section.append(make("h2", {}, "Surfaces"), ...this.makeControls());
    section.hidden = false;
    this.listen();
  }

  makeControls() {
    const names = [...this.maps.values()].map(({ name, unit }) => [withUnit(name, unit), name]);
    this.status = make("p", { role: "status", id: "surface-status" });
    this.boxes = make("ul", { class: "groups", "aria-label": "Surfaces" });
    for (const surface of this.surfaces) this.boxes.append(this.makeBox(surface));
    this.map = makeMenu("surface-map", [...names, ["none", ""]]);
    this.legend = make("p", { class: "legend", hidden: "" });
    this.meaning = make("p", { class: "hint" });
    this.opacity = make("input", { id: "surface-opacity", type: "range", min: 0.1, max: 1, step: 0.1, value: 1 });
    this.place = make("p", { id: "surface-place", role: "status" });
    this.table = makeFoldedTable("Surfaces as a table", this.tableHeader(), () => this.tableRows());
    this.table.id = "surface-table";
    return [
      this.status,
      this.boxes,
      ...makeField("Values", this.map),
      this.legend,
      this.meaning,
      ...makeField("Opacity", this.opacity),
      this.place,
      this.table,
    ];
  }

  makeBox(surface) {
    if (surface.why_not) return make("li", { class: "hint" }, `${surface.name} is not drawn: ${surface.why_not}.`);
    const box = make("input", { type: "checkbox" });
    box.checked = surface.isShown;
    box.addEventListener("change", () => {
      surface.isShown = box.checked;
      this.draw();
    });
    return make("li", {}, make("label", { class: "check" }, box, ` ${surface.name}`));
  }

  listen() {
    this.map.addEventListener("change", () => this.load());
    this.opacity.addEventListener("input", debounce(() => this.draw(), waitMs));
    this.page.listeners.push(debounce(() => this.describePlace(), waitMs));
  }

  // Meshes once, and the values of the chosen map.
  async load() {
    const name = this.map.value;
    this.status.textContent = "Reading surfaces …";
    try {
      for (const surface of this.surfaces.filter((s) => !s.why_not)) {
        surface.mesh ??= await fetchSurface(surface.number);
        const at = surface.maps.findIndex((map) => map.name === name);
        const values = at < 0 ? null : await fetchVertices(surface.number, at);
        if (name !== this.map.value) return; // another one has been chosen since
        surface.values = values;
      }
      this.draw();
    } catch (error) {
      this.status.textContent = `Failed: ${error.message}`;
    }
  }

  shown() {
    return this.surfaces.filter((s) => s.isShown && s.mesh);
  }

  // The same colours on all surfaces.
  findRange() {
    return displayRange(this.shown().flatMap(({ values }) => (values ? Array.from(values) : [])));
  }

  draw() {
    const range = this.findRange();
    for (const view of [this.page.planes, this.page.volume]) {
      for (const { number, isShown, mesh, values } of this.surfaces)
        view.setColouredSurface(
          `surface ${number}`,
          isShown && mesh ? { ...mesh, rgba: paintVertices(mesh.points.length / 3, values, range) } : null,
          { opacity: Number(this.opacity.value), hasBack: true },
        );
      view.draw();
    }
    this.draws = (this.draws ?? 0) + 1;
    this.range = range;
    this.showLegend(range);
    const count = this.shown().length;
    this.status.textContent = `${count} of ${this.surfaces.length} surfaces ${count === 1 ? "is" : "are"} drawn.`;
    this.describePlace();
    this.table.querySelector("table")?.replaceWith(this.makeList());
  }

  showLegend(range) {
    const map = this.maps.get(this.map.value);
    this.legend.hidden = !map;
    this.meaning.textContent = map ? `${map.meaning}. Light grey: ${map.none}; dark grey: 0.` : "";
    if (!map) return;
    const scale = make("span", { class: "map scale", "aria-hidden": "true" });
    this.legend.replaceChildren(numberText(range[0], 3), scale, valueText(Number(range[1].toPrecision(3)), map.unit));
  }

  // The nearest vertex of those that are drawn.
  findNearest([x, y, z]) {
    let best = { distance: Infinity };
    for (const surface of this.shown()) {
      const { points } = surface.mesh;
      for (let v = 0; 3 * v < points.length; v++) {
        const distance = Math.hypot(points[3 * v] - x, points[3 * v + 1] - y, points[3 * v + 2] - z);
        if (distance < best.distance) best = { distance, vertex: v, surface };
      }
    }
    return best;
  }

  describePlace() {
    if (!this.page.place) return;
    const { distance, vertex, surface } = this.findNearest(this.page.place.mm);
    this.nearest = surface ? { surface: surface.number, vertex } : null;
    if (!(distance < farMm)) {
      this.place.textContent = `No vertex is within ${farMm} mm of the crosshair.`;
      return;
    }
    const map = this.maps.get(this.map.value);
    const value = surface.values?.[vertex];
    const label = surface.maps.find(({ name }) => name === map?.name)?.names?.[value];
    const number = () => (label ? String(value) : valueText(value, map.unit));
    const described = () => `: ${map.name} ${number()}${label ? ` (${label})` : ""}`;
    const text = !map ? "" : Number.isFinite(value) ? described() : `: ${map.none}`;
    this.place.textContent = `Vertex ${vertex} of ${surface.name}, ${distance.toFixed(1)} mm from the crosshair${text}`;
  }

  tableHeader() {
    return ["surface", "vertices", "values", "not 0", "largest", "vertex"];
  }

  makeList() {
    return makeTable("Surfaces as a table", this.tableHeader(), this.tableRows(), { hasCaption: false });
  }

  tableRows() {
    return this.shown().map(({ name, vertices, values }) => {
      let [known, others, best] = [0, 0, -1];
      for (let v = 0; v < (values?.length ?? 0); v++) {
        if (!Number.isFinite(values[v])) continue;
        known++;
        if (values[v] !== 0) others++;
        if (best < 0 || values[v] > values[best]) best = v;
      }
      return [name, `${vertices}`, `${known}`, `${others}`, best < 0 ? "–" : numberText(values[best]), best < 0 ? "–" : `${best}`];
    });
  }
}
