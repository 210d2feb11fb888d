// The paths that start at the crosshair, ranked: those that the result has, or all rays of a geodesic's seed, traced
// again by the program.
import { Solver } from "./connection.js";
import { fetchRays, fetchTraced } from "./server.js";
import { make, makeTable, numberText, withUnit } from "./elements.js";
import { selectFibres } from "./streamlines.js";

const maxListed = 50;
const colours = { rays: [255, 230, 80], picked: [255, 230, 80], rejected: [150, 150, 150] };

const makeCheck = (id, text) => {
  const box = make("input", { type: "checkbox", id });
  return [box, make("label", { class: "check" }, box, ` ${text}`)];
};

export class RayList {
  // `panel`: of the paths.
  constructor(panel) {
    Object.assign(this, { panel, page: panel.page });
    this.requests = new Solver();
    this.box = make("div", { role: "status" });
    this.drawn = new Set();
  }

  makeControls() {
    const canTrace = this.page.state.details.streamlines.can_trace;
    const [trace, traceLabel] = makeCheck("trace-rays", "Trace all rays of the seed again");
    const [rejected, rejectedLabel] = makeCheck("rejected-rays", "Show rejected rays");
    Object.assign(this, { trace, rejected });
    rejectedLabel.hidden = true;
    trace.addEventListener("change", () => {
      rejectedLabel.hidden = !trace.checked;
      this.voxel = -1;
      this.follow();
    });
    rejected.addEventListener("change", () => this.list());
    return [...(canTrace ? [traceLabel, rejectedLabel] : []), this.box];
  }

  say(text) {
    this.box.replaceChildren(make("p", { class: "hint" }, text));
  }

  async follow() {
    const voxel = this.page.voxelIndex(this.page.place.voxel.map(Math.round));
    if (voxel === this.voxel) return;
    this.voxel = voxel;
    const traces = this.trace.checked;
    if (traces && !this.found?.counts) this.say("Reading the inputs of the run, then tracing …");
    try {
      const found = await this.requests.run((signal) => (traces ? fetchTraced : fetchRays)(voxel, signal));
      if (!found) return;
      this.found = found;
      this.list();
    } catch (error) {
      this.found = null;
      this.show(null, []);
      this.say(error.message);
    }
  }

  // Numbers of the rays, the best first.
  sort() {
    const { found, panel } = this;
    const all = Array.from({ length: found.fibres }, (_, n) => n);
    if (found.counts) return all; // the program has ranked them
    const measure = found.measures.find((m) => m.name === panel.measure.value);
    const sign = measure?.name.endsWith("cost") ? 1 : -1;
    return measure ? all.sort((a, b) => sign * (measure.values[a] - measure.values[b])) : all;
  }

  describe(count) {
    const { found } = this;
    if (!found.counts) return count === 0 ? "No stored path starts in this voxel." : `${count} paths of the result`;
    if (found.seeds === 0) return "The run has no seed in this voxel.";
    const parts = Object.entries(found.counts).filter(([, n]) => n > 0);
    const text = parts.map(([words, n]) => `${n} ${words}`).join(", ");
    return `Traced in ${(1000 * found.seconds).toFixed(0)} ms: ${text}`;
  }

  list() {
    const { found } = this;
    const verdict = found.counts ? found.measures.find(({ name }) => name === "verdict").values : null;
    const all = this.sort();
    const good = verdict ? all.filter((n) => verdict[n] === 0) : all;
    const shown = verdict && this.rejected.checked ? all : good;
    const text = this.describe(good.length);
    this.rayCount = good.length;
    this.say(text);
    if (shown.length > 0) this.box.append(this.makeList(text, shown));
    this.show(found, good);
    const bad = shown.filter((n) => verdict && verdict[n] !== 0);
    this.draw("rejected", bad.length > 0 ? selectFibres(found, bad) : null);
  }

  makeList(title, order) {
    const { measures } = this.found;
    const header = ["rank", ...measures.map(({ name, unit }) => withUnit(name, unit))];
    const rows = order.slice(0, maxListed).map((n, rank) => {
      const button = make("button", { type: "button", class: "pair" }, String(rank + 1));
      button.addEventListener("click", () => this.show(this.found, [n]));
      return [button, ...measures.map((m) => numberText(m.values[n]))];
    });
    const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title });
    box.append(makeTable(title, header, rows, { hasCaption: false }));
    return box;
  }

  // Paths that stand out from the others.
  show(fibres, chosen) {
    this.draw("rays", chosen.length > 0 ? selectFibres(fibres, chosen) : null);
  }

  draw(name, some) {
    if (!some && !this.drawn.has(name)) return;
    this.drawn[some ? "add" : "delete"](name);
    for (const view of [this.page.planes, this.page.volume]) {
      view.setStreamlines(name, some, { colour: colours[name], width: name === "rejected" ? 0 : 0.4 });
      view.draw();
    }
  }
}
