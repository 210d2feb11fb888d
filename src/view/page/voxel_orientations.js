// One voxel of a ball & stick result: signal and fit against the angle to the first fibre, and orientations.
import { addShape, drawChart, openPicture, palette } from "./chart.js";
import { make, makeField, makeFoldedTable, makeMenu, makeTable, numberText, withUnit } from "./elements.js";

// Orientations on the hemisphere, seen from one side: a disc in which equal areas are equal (Lambert).
const radius = 96;
const middle = 110;

// What is to the right, upwards and towards the viewer: axes are right, front, top of the subject.
const sides = {
  top: { name: "from above", across: [1, 0, 0], up: [0, 1, 0], towards: [0, 0, 1], marks: ["R", "A"] },
  front: { name: "from the front", across: [-1, 0, 0], up: [0, 0, 1], towards: [0, 1, 0], marks: ["L", "S"] },
  right: { name: "from the right", across: [0, 1, 0], up: [0, 0, 1], towards: [1, 0, 0], marks: ["A", "S"] },
};

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / Math.sqrt(dot(a, a)));

// Seen along a direction.
function sideAlong(direction) {
  const towards = unit(direction);
  const other = Math.abs(towards[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0];
  const across = unit(cross(other, towards));
  return { name: "along fibre 1", across, up: cross(towards, across), towards, marks: [] };
}

// Both ends of an axis are the same: the one towards the viewer is shown.
function project(direction, side) {
  const depth = dot(direction, side.towards);
  const sign = depth < 0 ? -1 : 1;
  const scale = (sign * radius) / Math.sqrt(1 + Math.abs(depth));
  return [middle + scale * dot(direction, side.across), middle - scale * dot(direction, side.up)];
}

// `groups`: [{colour, samples, mean}]: directions of each fibre.
function drawSphere(groups, side, description) {
  const picture = openPicture(2 * middle, 2 * middle, description);
  addShape(picture, "circle", { class: "disc", cx: middle, cy: middle, r: radius });
  for (const angle of [30, 60]) {
    const r = radius * Math.sqrt(1 - Math.cos((angle * Math.PI) / 180));
    addShape(picture, "circle", { class: "ring", cx: middle, cy: middle, r });
  }
  const [right, up] = side.marks;
  if (right) addShape(picture, "text", { x: 2 * middle - 2, y: middle + 4, "text-anchor": "end" }, right);
  if (up) addShape(picture, "text", { x: middle, y: 11, "text-anchor": "middle" }, up);
  for (const { colour, samples } of groups)
    for (const direction of samples) {
      const [cx, cy] = project(direction, side);
      addShape(picture, "circle", { class: `dot ${colour}`, cx, cy, r: 2.2, "fill-opacity": 0.7 });
    }
  for (const { colour, mean } of groups) {
    const [x, y] = project(mean, side);
    addShape(picture, "path", { class: `line ${colour}`, d: `M${x - 7} ${y}h14M${x} ${y - 7}v14`, "stroke-width": 2 });
  }
  return picture;
}

let chosenSide = "top"; // stays from voxel to voxel

// Groups of b-values less than 100 s/mm2 apart, without those near 0.
function findShells(b) {
  const shells = [];
  const order = b.map((_, i) => i).sort((i, k) => b[i] - b[k]);
  for (const i of order) {
    if (b[i] <= 50) continue;
    const last = shells.at(-1);
    if (last && b[i] - b[last.at(-1)] < 100) last.push(i);
    else shells.push([i]);
  }
  return shells.slice(0, palette.length);
}

function showSignal({ b, angle, signal, fit }) {
  const series = [];
  for (const [number, volumes] of findShells(b).entries()) {
    const name = `b = ${Math.round(volumes.reduce((sum, i) => sum + b[i], 0) / volumes.length)} s/mm²`;
    const pick = (values) => volumes.map((i) => values[i]);
    const colour = palette[number];
    series.push({ name, x: pick(angle), y: pick(signal), kind: "dots", colour });
    series.push({ name: `${name}, fit`, x: pick(angle), y: pick(fit), kind: "crosses", colour });
  }
  const rows = () =>
    b.map((value, i) => [numberText(value), numberText(angle[i] ?? NaN), numberText(signal[i]), numberText(fit[i])]);
  return [
    ...drawChart({
      series,
      xLabel: "angle to fibre 1 (degrees)",
      yLabel: "signal",
      xRange: [0, 90],
      xTicks: [0, 30, 60, 90],
      description: "Signal and fit against the angle to the first fibre",
    }),
    makeFoldedTable("Signal as a table", ["b (s/mm²)", "angle (degrees)", "signal", "fit"], rows),
  ];
}

function drawOrientations(fibres) {
  const groups = fibres.map(({ samples, direction }, k) => ({
    colour: palette[k],
    samples: samples ?? [],
    mean: direction,
  }));
  const all = { ...sides, fibre: sideAlong(fibres[0].direction) };
  const menu = makeMenu(
    "sphere-side",
    Object.entries(all).map(([key, { name }]) => [name, key]),
  );
  menu.value = chosenSide;
  const box = make("div");
  const draw = () => {
    chosenSide = menu.value;
    const side = all[chosenSide];
    box.replaceChildren(drawSphere(groups, side, `Orientations of the samples on the hemisphere, seen ${side.name}`));
  };
  menu.addEventListener("change", draw);
  draw();
  return [...makeField("Orientations, seen", menu), box];
}

function listFibres(fibres) {
  return fibres.map(({ fraction, dispersion, direction }, k) => [
    String(k + 1),
    numberText(fraction, 3),
    numberText(dispersion ?? NaN, 3),
    direction.map((x) => x.toFixed(2)).join(", "),
  ]);
}

function listSamples(fibres) {
  return fibres.flatMap(({ samples, fractions }, k) =>
    (samples ?? []).map((direction, s) => [
      `${k + 1}, ${s + 1}`,
      numberText(fractions[s], 3),
      direction.map((x) => x.toFixed(3)).join(", "),
    ]),
  );
}

// `answer`: what the program knows of the voxel. Returns elements.
export function showOrientations(answer) {
  const { fibres, parameters } = answer;
  const means = parameters.filter(({ name }) => name.startsWith("mean_"));
  const keys = make("ul", { class: "keys" });
  for (const [k] of fibres.entries()) keys.append(make("li", { class: palette[k] }, `fibre ${k + 1}`));
  return [
    ...(answer.signal ? showSignal(answer) : [make("p", { class: "hint" }, `No signal: ${answer.why_no_signal}.`)]),
    ...drawOrientations(fibres),
    keys,
    makeTable("Fibres", ["fibre", "fraction", "dispersion", "right, front, top"], listFibres(fibres)),
    makeFoldedTable("Samples as a table", ["fibre, sample", "fraction", "direction"], () => listSamples(fibres)),
    makeFoldedTable("Parameters", ["posterior mean", "value"], () =>
      means.map(({ name, value, unit }) => [withUnit(name.slice("mean_".length), unit), numberText(value)]),
    ),
  ];
}
