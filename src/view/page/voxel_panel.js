// What the analysis knows of the voxel under the crosshair.
import { Solver } from "./connection.js";
import { fetchVoxel } from "./server.js";
import { debounce, make } from "./elements.js";
import { showCurves } from "./voxel_curves.js";
import { showOrientations } from "./voxel_orientations.js";

// By the kind that the program sends.
const show = { curves: showCurves, orientations: showOrientations };
const waitMs = 120;

export class VoxelPanel {
  constructor(page, section) {
    this.page = page;
    this.show = show[page.state.details.voxel];
    this.requests = new Solver();
    this.line = make("p", { role: "status" });
    this.content = make("div");
    section.append(make("h2", {}, "Voxel"), this.line, this.content);
    section.hidden = false;
    this.wanted = -1;
    page.listeners.push(debounce(() => this.update(), waitMs));
  }

  async update() {
    const voxel = this.page.place.voxel.map(Math.round);
    const number = this.page.voxelIndex(voxel);
    if (number === this.wanted) return;
    this.wanted = number;
    this.line.textContent = `Voxel ${voxel.join(" ")}: reading …`;
    try {
      const answer = await this.requests.run((signal) => fetchVoxel(number, signal));
      if (!answer) return;
      this.answer = answer;
      const isFitted = answer.status === "fitted";
      this.line.textContent = `Voxel ${voxel.join(" ")}: ${answer.status}.`;
      this.keepOpen(isFitted ? this.show(answer) : []);
    } catch (error) {
      this.content.replaceChildren();
      this.line.textContent = `Voxel ${voxel.join(" ")}: ${error.message}`;
    }
  }

  // Tables that were open stay open; the focus stays where it was.
  keepOpen(elements) {
    const titles = new Set([...this.content.querySelectorAll("details[open] > summary")].map((s) => s.textContent));
    const focused = this.content.contains(document.activeElement) ? document.activeElement.id : "";
    this.content.replaceChildren(...elements);
    for (const folded of this.content.querySelectorAll("details"))
      folded.open = titles.has(folded.firstChild.textContent);
    if (focused) document.getElementById(focused)?.focus();
  }
}
