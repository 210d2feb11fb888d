// Charts as SVG, with a legend. Their numbers are in a table beside them.
import { make } from "./elements.js";

const svg = "http://www.w3.org/2000/svg";
const size = { width: 340, height: 210 };
const area = { left: 54, right: 332, top: 8, bottom: 172 };

// Classes of the style sheet, which has a colour of each for light and dark.
export const palette = ["series-0", "series-1", "series-2", "series-3", "series-4"];

export function addShape(parent, name, attributes, text) {
  const element = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

export function openPicture(width, height, description) {
  const picture = document.createElementNS(svg, "svg");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", description);
  picture.setAttribute("class", "chart");
  return picture;
}

// Round steps, two to five of them.
function findTicks(low, high) {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-6; at += step)
    ticks.push(Math.abs(at) < step * 1e-6 ? 0 : Number(at.toPrecision(8)));
  return ticks;
}

function findRange(series, axis, given) {
  if (given) return given;
  let [low, high] = [Infinity, -Infinity];
  for (const one of series)
    for (const value of one[axis])
      if (value !== null && Number.isFinite(value)) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (!(high >= low)) return [0, 1];
  if (axis === "y") [low, high] = [Math.min(low, 0), high + 0.05 * Math.abs(high)];
  return high > low ? [low, high] : [low, low + 1];
}

function drawAxes(picture, { x, y, xRange, yRange, xTicks, xLabel, yLabel }) {
  const line = (attributes) => addShape(picture, "line", { class: "axis", ...attributes });
  for (const at of findTicks(...yRange)) {
    line({ class: "grid", x1: area.left, x2: area.right, y1: y(at), y2: y(at) });
    addShape(picture, "text", { x: area.left - 5, y: y(at) + 3.5, "text-anchor": "end" }, String(at));
  }
  for (const at of xTicks ?? findTicks(...xRange)) {
    line({ x1: x(at), x2: x(at), y1: area.bottom, y2: area.bottom + 4 });
    addShape(picture, "text", { x: x(at), y: area.bottom + 15, "text-anchor": "middle" }, String(at));
  }
  line({ x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom });
  line({ x1: area.left, x2: area.left, y1: area.top, y2: area.bottom });
  addShape(picture, "text", { x: (area.left + area.right) / 2, y: 203, "text-anchor": "middle" }, xLabel);
  const turn = `rotate(-90 9 ${(area.top + area.bottom) / 2})`;
  addShape(picture, "text", { x: 9, y: (area.top + area.bottom) / 2, "text-anchor": "middle", transform: turn }, yLabel);
}

const marks = {
  dots: (picture, cx, cy, colour) => addShape(picture, "circle", { class: `dot ${colour}`, cx, cy, r: 2 }),
  crosses: (picture, cx, cy, colour) =>
    addShape(picture, "path", { class: `line ${colour}`, d: `M${cx - 3} ${cy - 3}l6 6m0 -6l-6 6`, "stroke-width": 1 }),
};

function drawSeries(picture, one, x, y) {
  const points = [];
  for (let i = 0; i < one.x.length; i++)
    if (one.x[i] !== null && one.y[i] !== null && Number.isFinite(one.y[i])) points.push([x(one.x[i]), y(one.y[i])]);
  if (one.kind === "line") {
    const text = points.map(([px, py]) => `${px.toFixed(1)},${py.toFixed(1)}`).join(" ");
    addShape(picture, "polyline", { class: `line ${one.colour}`, points: text, "stroke-width": 1.6 });
  } else {
    for (const [px, py] of points) marks[one.kind](picture, px, py, one.colour);
  }
}

function makeLegend(series) {
  const legend = make("ul", { class: "keys", "aria-hidden": "true" });
  for (const one of series) {
    const sample = openPicture(16, 10, "");
    const key = { ...one, x: [0, 1], y: [0, 0] };
    drawSeries(sample, one.kind === "line" ? key : { ...key, x: [0.5], y: [0] }, (v) => 1 + 14 * v, () => 5);
    legend.append(make("li", {}, sample, ` ${one.name}`));
  }
  return legend;
}

// `series`: [{name, x, y, kind: "line" | "dots" | "crosses", colour}]. Returns elements.
export function drawChart({ series, xLabel, yLabel, description, xRange, yRange, xTicks }) {
  const ranges = { xRange: findRange(series, "x", xRange), yRange: findRange(series, "y", yRange) };
  const along = (low, high, [from, to]) => (value) => low + ((value - from) / (to - from)) * (high - low);
  const x = along(area.left, area.right, ranges.xRange);
  const y = along(area.bottom, area.top, ranges.yRange);
  const picture = openPicture(size.width, size.height, description);
  drawAxes(picture, { x, y, ...ranges, xTicks, xLabel, yLabel });
  for (const one of series) drawSeries(picture, one, x, y);
  return [picture, makeLegend(series)];
}

const small = { left: 34, right: 204, top: 8, bottom: 92 };

// A small chart: volume of the pathway against epsilon, with a mark at the chosen epsilon. Epsilons are on a logarithmic axis. `volumes` in ml.
export function drawCurve(chart, epsilons, volumes, chosen) {
  const [first, last] = [Math.log(epsilons[0]), Math.log(epsilons.at(-1))];
  const highest = Math.max(...volumes, 1e-9);
  const x = (e) => {
    const part = (Math.log(e) - first) / (last - first);
    return small.left + Math.min(1, Math.max(0, part)) * (small.right - small.left);
  };
  const y = (v) => small.bottom - (v / highest) * (small.bottom - small.top);
  chart.querySelectorAll(":not(title)").forEach((old) => old.remove());
  chart.querySelector("title").textContent =
    `Volume of the pathway: ${volumes[0].toPrecision(3)} ml at epsilon ${(100 * epsilons[0]).toPrecision(2)} %, ` +
    `${volumes.at(-1).toPrecision(3)} ml at ${(100 * epsilons.at(-1)).toPrecision(2)} %`;
  addShape(chart, "line", { class: "axis", x1: small.left, x2: small.right, y1: small.bottom, y2: small.bottom });
  addShape(chart, "line", { class: "axis", x1: small.left, x2: small.left, y1: small.top, y2: small.bottom });
  addShape(chart, "line", { class: "mark", x1: x(chosen), x2: x(chosen), y1: small.top, y2: small.bottom });
  addShape(chart, "polyline", { class: "line", points: epsilons.map((e, i) => `${x(e)},${y(volumes[i])}`).join(" ") });
  for (const e of [0.001, 0.01, 0.1, 0.5])
    addShape(chart, "text", { x: x(e), y: 103, "text-anchor": "middle" }, `${100 * e} %`);
  addShape(chart, "text", { x: 30, y: small.top + 6, "text-anchor": "end" }, String(Number(highest.toPrecision(2))));
  addShape(chart, "text", { x: 30, y: small.bottom, "text-anchor": "end" }, "0 ml");
}
