// The connectome: a picture of the matrix and a list of its pairs. Choosing a pair connects its regions.
import { drawMatrix } from "./colours.js";
import { fetchMatrix } from "./server.js";
import { make, makeField, makeMenu, makeTable, numberText, valueText, withUnit } from "./elements.js";

const pictureSide = 600; // pixels
const maxListed = 100;
const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

export class MatrixPanel {
  static async open(page, section, say) {
    const panel = new MatrixPanel(page, section, say);
    await panel.showMatrix(0);
    const best = panel.chosen ? panel.findPairs()[0] : null;
    if (best) panel.mark(best);
    return panel;
  }

  constructor(page, section, say) {
    Object.assign(this, { page, say, ...page.state.details.matrices });
    this.size = this.labels.length;
    this.cell = [0, Math.min(1, this.size - 1)]; // row, column
    const known = new Set(page.state.regions.map(({ label }) => label));
    this.canConnect = Boolean(page.connect) && this.labels.some((label) => known.has(label));
    this.known = known;
    section.append(make("h2", {}, "Connectome"), ...this.makeControls());
    section.hidden = false;
    this.listen();
  }

  makeControls() {
    this.menu = makeMenu(
      "matrix-choice",
      this.matrices.map(({ name, unit }, number) => [withUnit(name, unit), String(number)]),
    );
    this.meaning = make("p", { class: "hint", id: "matrix-meaning" });
    this.canvas = make("canvas", {
      id: "matrix-picture",
      tabindex: "0",
      "aria-describedby": "matrix-pair matrix-meaning",
      "aria-label": "Matrix. Arrow keys move from pair to pair, Enter chooses one.",
    });
    this.pair = make("p", { id: "matrix-pair", role: "status" });
    this.search = make("input", { id: "matrix-search", type: "search", placeholder: "name or number of a region" });
    this.list = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Pairs of the matrix" });
    const use = this.canConnect
      ? "Choosing a pair sets both ends of the connection."
      : "Choosing a pair moves the mark in the picture.";
    return [
      ...makeField("Matrix", this.menu),
      this.meaning,
      this.canvas,
      this.pair,
      make("p", { class: "hint" }, `Rows are where paths begin, columns where they end. ${use}`),
      ...makeField("Search", this.search),
      this.list,
    ];
  }

  listen() {
    this.menu.addEventListener("change", () => this.showMatrix(Number(this.menu.value)));
    this.search.addEventListener("input", () => this.listPairs());
    this.canvas.addEventListener("mousemove", (event) => this.describe(this.findCell(event)));
    this.canvas.addEventListener("mouseleave", () => this.describe(this.cell));
    this.canvas.addEventListener("click", (event) => this.choose(this.findCell(event)));
    this.canvas.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") this.choose(this.cell);
      else if (steps[event.key]) this.mark(this.cell.map((at, d) => this.clamp(at + steps[event.key][d])));
      else return;
      event.preventDefault();
    });
  }

  clamp(at) {
    return Math.min(this.size - 1, Math.max(0, at));
  }

  findCell(event) {
    const box = this.canvas.getBoundingClientRect();
    return [(event.clientY - box.top) / box.height, (event.clientX - box.left) / box.width].map((part) =>
      this.clamp(Math.floor(part * this.size)),
    );
  }

  async showMatrix(number) {
    try {
      this.values = await fetchMatrix(number);
    } catch (error) {
      this.pair.textContent = error.message;
      return;
    }
    this.chosen = this.matrices[number];
    this.meaning.textContent = `${this.chosen.name}: ${this.chosen.meaning}`;
    this.mark(this.cell);
    this.listPairs();
  }

  value([row, column]) {
    return this.values[row * this.size + column];
  }

  isConnected([row, column]) {
    const value = this.value([row, column]);
    return row !== column && Number.isFinite(value) && (this.chosen.small_is_best || value !== 0);
  }

  describe(cell) {
    const [from, to] = cell.map((at) => this.names[at]);
    const value = this.isConnected(cell) ? valueText(this.value(cell), this.chosen.unit) : "not connected";
    this.pair.textContent = `${from} → ${to}: ${cell[0] === cell[1] ? "the same region" : value}`;
  }

  mark(cell) {
    this.cell = cell;
    const side = Math.max(1, Math.floor(pictureSide / this.size));
    drawMatrix(this.canvas, {
      size: this.size,
      side,
      value: (row, column) => (this.isConnected([row, column]) ? this.value([row, column]) : NaN),
      marked: cell,
    });
    this.describe(cell);
  }

  choose(cell) {
    this.mark(cell);
    if (!this.canConnect || cell[0] === cell[1]) return;
    const [from, to] = cell.map((at) => this.labels[at]);
    if (!this.known.has(from) || !this.known.has(to)) return;
    for (const [side, label] of Object.entries({ from, to })) {
      document.getElementById(side).value = String(label);
      this.page.connect.setRegion(side, label);
    }
  }

  // The best pairs whose names or labels contain what is searched for.
  findPairs() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = this.names.map((name, at) => `${name} ${this.labels[at]}`.toLowerCase());
    // 5 is not a part of 15.
    const has = (text, word) => (/^\d+$/.test(word) ? text.match(/\d+/g)?.includes(word) : text.includes(word));
    const matches = (cell) => words.every((word) => cell.some((at) => has(texts[at], word)));
    const pairs = [];
    for (let row = 0; row < this.size; row++)
      for (let column = 0; column < this.size; column++)
        if (this.isConnected([row, column]) && matches([row, column])) pairs.push([row, column]);
    const sign = this.chosen.small_is_best ? 1 : -1;
    return pairs.sort((a, b) => sign * (this.value(a) - this.value(b)));
  }

  listPairs() {
    const pairs = this.findPairs();
    const rows = pairs.slice(0, maxListed).map((cell) => {
      const button = make("button", { type: "button", class: "pair" }, cell.map((at) => this.names[at]).join(" → "));
      button.addEventListener("click", () => this.choose(cell));
      return [button, numberText(this.value(cell))];
    });
    const shown = pairs.length > maxListed ? `${maxListed} of ${pairs.length} pairs` : `${pairs.length} pairs`;
    const order = this.chosen.small_is_best ? "the smallest first" : "the largest first";
    const header = ["pair", withUnit(this.chosen.name, this.chosen.unit)];
    this.list.replaceChildren(makeTable(`${shown}, ${order}`, header, rows));
  }
}
