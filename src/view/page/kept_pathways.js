// Pathways that stay in the pictures while others are solved for, each in its own colour.
import { findSurface } from "./surface.js";

const byId = (id) => document.getElementById(id);
const none = { points: new Float32Array(0), triangles: new Uint32Array(0) };
// Of Figure 6 of Jeong et al. 2007, then some more.
const palette = ["#00e0e0", "#ffe000", "#f03030", "#30c840", "#4070ff", "#e050e0", "#ff9020", "#ffffff"];
const rgbOf = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));

export class KeptPathways {
  // changed() is called when the pictures must be drawn again.
  constructor(page, changed) {
    Object.assign(this, { page, changed });
    this.list = [];
    this.made = 0;
  }

  // The caller draws. `pathway`: what is needed to find it again, with `voxels` (numbers on the page), `name`, perhaps `colour`.
  add(pathway) {
    const { size, affine } = this.page.state.grid;
    const kept = { colour: palette[this.list.length % palette.length], ...pathway, id: `kept ${++this.made}` };
    kept.surface = findSurface(kept.voxels, () => true, size, affine);
    this.list.push(kept);
    this.showList();
    this.page.volume.setSurface(kept.id, kept.surface, rgbOf(kept.colour));
  }

  // Whether the pathway of this connection is among them.
  has(number, epsilon) {
    return this.list.some((kept) => kept.number === number && kept.epsilon === epsilon);
  }

  draw(kept) {
    this.page.volume.setSurface(kept.id, kept.surface, rgbOf(kept.colour));
    this.changed();
  }

  remove(kept) {
    this.list = this.list.filter((other) => other !== kept);
    this.page.volume.setSurface(kept.id, none, [0, 0, 0]);
    this.showList();
    this.changed();
    byId("keep").focus(); // the button that was pressed is not there any more
  }

  clear() {
    for (const kept of this.list) this.page.volume.setSurface(kept.id, none, [0, 0, 0]);
    this.list = [];
    this.showList();
  }

  // Over the costs, in the planes.
  paint(rgba, opacity) {
    const colours = new Uint32Array(rgba.buffer);
    const alpha = (Math.round(255 * opacity) << 24) >>> 0;
    for (const { voxels, colour } of this.list) {
      const [r, g, b] = rgbOf(colour);
      const value = (r | (g << 8) | (b << 16) | alpha) >>> 0;
      for (const voxel of voxels) colours[voxel] = value;
    }
  }

  describe(at) {
    return this.list.filter(({ voxels }) => voxels.includes(at)).map(({ name }) => name);
  }

  showList() {
    byId("kept").replaceChildren(...this.list.map((kept) => this.makeEntry(kept)));
    byId("kept").hidden = this.list.length === 0;
  }

  makeEntry(kept) {
    const entry = document.createElement("li");
    const colour = Object.assign(document.createElement("input"), { type: "color", value: kept.colour });
    colour.setAttribute("aria-label", `Colour of ${kept.name}`);
    colour.addEventListener("input", () => {
      kept.colour = colour.value;
      this.draw(kept);
    });
    const name = Object.assign(document.createElement("input"), { type: "text", value: kept.name });
    name.setAttribute("aria-label", "Name of a pathway");
    name.addEventListener("change", () => {
      kept.name = name.value;
      this.showList();
    });
    const remove = Object.assign(document.createElement("button"), { type: "button", textContent: "Remove" });
    remove.setAttribute("aria-label", `Remove ${kept.name}`);
    remove.addEventListener("click", () => this.remove(kept));
    entry.append(colour, name, remove);
    return entry;
  }
}
