// Colours of overlays: four bytes for each voxel.

// Blue to red, as in Jeong et al. 2007: colours at equal distances.
const costScale = [
  [40, 60, 255],
  [0, 200, 255],
  [120, 230, 80],
  [255, 220, 0],
  [255, 120, 0],
  [230, 0, 0],
];
const steps = 256;

function makeTable(colours) {
  const table = new Uint32Array(steps); // alpha is added later
  for (let i = 0; i < steps; i++) {
    const at = (i / (steps - 1)) * (colours.length - 1);
    const low = Math.min(Math.floor(at), colours.length - 2);
    const part = (k) => Math.round(colours[low][k] + (at - low) * (colours[low + 1][k] - colours[low][k]));
    table[i] = part(0) | (part(1) << 8) | (part(2) << 16);
  }
  return table;
}

const tables = { cost: makeTable(costScale), map: null };

// The colours of maps, at equal distances: those of reports.
export function setMapColours(colours) {
  tables.map = makeTable(colours);
}

const alphaBits = (opacity) => (Math.round(255 * opacity) << 24) >>> 0;

// Excess costs up to `range`. Outside the pathway dearer voxels are fainter, from `outside` on: as a volume only what is
// cheap should hide what is behind it.
export function paintCosts(rgba, { voxels, excess, level, limit, range, inside, outside }) {
  const colours = new Uint32Array(rgba.buffer);
  const pathway = alphaBits(inside);
  const fading = Uint32Array.from({ length: steps }, (_, i) => alphaBits(outside * (1 - i / steps)));
  colours.fill(0);
  for (let n = 0; n < voxels.length; n++) {
    if (!(excess[n] <= range)) continue;
    const step = Math.min(steps - 1, Math.floor((excess[n] / range) * steps));
    colours[voxels[n]] = (tables.cost[step] | (level[n] <= limit ? pathway : fading[step])) >>> 0;
  }
}

// Arrival times of one front, from 0 to `high`; farther voxels are not shown.
export function paintArrivals(rgba, { voxels, times, high, opacity }) {
  const colours = new Uint32Array(rgba.buffer);
  const alpha = alphaBits(opacity);
  colours.fill(0);
  for (let n = 0; n < voxels.length; n++)
    if (times[n] <= high)
      colours[voxels[n]] = (tables.cost[Math.min(steps - 1, Math.floor((times[n] / high) * steps))] | alpha) >>> 0;
}

// The same colour for the pathway, nothing elsewhere.
export function paintPathway(rgba, { voxels, level, limit, colour, opacity }) {
  const colours = new Uint32Array(rgba.buffer);
  const value = (colour[0] | (colour[1] << 8) | (colour[2] << 16) | alphaBits(opacity)) >>> 0;
  colours.fill(0);
  for (let n = 0; n < voxels.length; n++) if (level[n] <= limit) colours[voxels[n]] = value;
}

// Values from `low` to `high`; 0 and what is not a number are not shown.
export function paintMap(rgba, { values, low, high, opacity }) {
  const colours = new Uint32Array(rgba.buffer);
  const alpha = alphaBits(opacity);
  const scale = (steps - 1) / Math.max(high - low, Number.MIN_VALUE);
  for (let v = 0; v < values.length; v++) {
    const shown = values[v] !== 0 && Number.isFinite(values[v]);
    const at = Math.min(steps - 1, Math.max(0, Math.round((values[v] - low) * scale)));
    colours[v] = shown ? (tables.map[at] | alpha) >>> 0 : 0;
  }
}

// Colours of vertices by their values, from `low` to `high`: 0 is dark grey, what is not a number light grey.
export function paintVertices(count, values, [low, high]) {
  const rgba = new Uint8Array(4 * count);
  const colours = new Uint32Array(rgba.buffer);
  const grey = (level) => (level | (level << 8) | (level << 16) | alphaBits(1)) >>> 0;
  const scale = (steps - 1) / Math.max(high - low, Number.MIN_VALUE);
  for (let v = 0; v < count; v++) {
    const value = values ? values[v] : NaN;
    const at = Math.min(steps - 1, Math.max(0, Math.round((value - low) * scale)));
    if (!Number.isFinite(value)) colours[v] = grey(175);
    else colours[v] = value === 0 ? grey(80) : (tables.map[at] | alphaBits(1)) >>> 0;
  }
  return rgba;
}

// Where the colour scale begins and ends: 2 % of the values that are not 0 are below or above.
export function displayRange(values) {
  const shown = [];
  const stride = Math.max(1, Math.floor(values.length / 200000));
  for (let v = 0; v < values.length; v += stride)
    if (values[v] !== 0 && Number.isFinite(values[v])) shown.push(values[v]);
  if (shown.length === 0) return [0, 1];
  shown.sort((a, b) => a - b);
  const at = (part) => shown[Math.floor(part * (shown.length - 1))];
  const low = at(0.02);
  const high = at(0.98);
  return high > low ? [Math.min(low, 0) === 0 && low < 0.3 * high ? 0 : low, high] : [low - 1, low + 1];
}

// A matrix as squares on a canvas, `side` pixels each. value(row, column): not a number where there is nothing.
export function drawMatrix(canvas, { size, side, value, marked }) {
  canvas.width = size * side;
  canvas.height = size * side;
  let [low, high] = [Infinity, -Infinity];
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      const v = value(row, column);
      if (Number.isFinite(v)) [low, high] = [Math.min(low, v), Math.max(high, v)];
    }
  const context = canvas.getContext("2d");
  const gap = side > 6 ? 1 : 0;
  for (let row = 0; row < size; row++)
    for (let column = 0; column < size; column++) {
      const v = value(row, column);
      const step = high > low ? Math.round(((v - low) / (high - low)) * (steps - 1)) : steps - 1;
      const colour = tables.map[step];
      context.fillStyle = Number.isFinite(v)
        ? `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})`
        : "#000";
      context.fillRect(column * side, row * side, side - gap, side - gap);
    }
  const [row, column] = marked;
  context.strokeStyle = "#fff";
  context.lineWidth = Math.min(4, Math.max(2, side / 8));
  context.strokeRect(column * side, row * side, side, side);
}
