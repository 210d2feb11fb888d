// A connection of two ends: asks the program to solve for it, and finds what is shown at any epsilon.
import * as server from "./server.js";

// Each request replaces the one before.
export class Solver {
  constructor() {
    this.running = null;
  }

  // Null if a newer request has replaced this one.
  async run(ask) {
    this.running?.abort();
    const own = new AbortController();
    this.running = own;
    try {
      const answer = await ask(own.signal);
      return this.running === own ? answer : null;
    } catch (error) {
      if (error.name === "AbortError" || error.status === 409 || this.running !== own) return null;
      throw error;
    }
  }

  solve(request) {
    return this.run((signal) => server.solve(request, signal));
  }
}

export class Connection {
  // `answer`: of server.solve(). `voxels`: the page's numbers of the voxels that it has values of.
  constructor(answer, voxels, voxelMm3) {
    Object.assign(this, answer);
    this.voxels = voxels;
    this.voxelMl = voxelMm3 / 1000;
    // The arithmetic of the program: double, then rounded to float.
    this.excess = new Float32Array(this.total.length);
    for (let n = 0; n < this.total.length; n++) this.excess[n] = (this.total[n] - this.cost) / this.cost;
  }

  // Voxels whose level is at most this are in the pathway.
  limit(epsilon) {
    return (1 + epsilon) * (1 + this.joining_excess) - 1;
  }

  // A warning if much of the pathway is not white matter, or "".
  describeGreyMatter({ FA, max_part_outside: limit }) {
    if (!(this.part_outside > limit)) return "";
    const percent = Math.round(100 * this.part_outside);
    return `${percent} % of the pathway is outside white matter. Set “Paths only where FA ≥” to ${FA}.`;
  }

  // Half way along the least-cost path, in mm; null without a path.
  middle() {
    const count = this.path.length / 3;
    const at = 3 * Math.floor(count / 2);
    return count > 0 ? Array.from(this.path.slice(at, at + 3)) : null;
  }

  // Of the pathway: volume and mean of a map of the image.
  measure(epsilon, values) {
    const limit = this.limit(epsilon);
    let count = 0;
    let sum = 0;
    for (let n = 0; n < this.level.length; n++) {
      if (!(this.level[n] <= limit)) continue;
      count++;
      sum += values ? values[this.voxels[n]] : 0;
    }
    return { count, ml: count * this.voxelMl, mean: sum / count };
  }
}

const quote = (word) => (/^[\w./,:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// `words`: of the answer, with null in place of epsilon.
export const commandLine = (words, epsilon) => words.map((word) => quote(word ?? String(epsilon))).join(" ");
