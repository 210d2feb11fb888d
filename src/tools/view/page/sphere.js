// Orientations on the hemisphere, seen from one side: a disc in which equal areas are equal (Lambert).
import { addShape, openPicture } from "./chart.js";

const radius = 96;
const middle = 110;

// What is to the right, upwards and towards the viewer: axes are right, front, top of the subject.
export const sides = {
  top: { name: "from above", across: [1, 0, 0], up: [0, 1, 0], towards: [0, 0, 1], marks: ["R", "A"] },
  front: { name: "from the front", across: [-1, 0, 0], up: [0, 0, 1], towards: [0, 1, 0], marks: ["L", "S"] },
  right: { name: "from the right", across: [0, 1, 0], up: [0, 0, 1], towards: [1, 0, 0], marks: ["A", "S"] },
};

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => a.map((x) => x / Math.sqrt(dot(a, a)));

// Seen along a direction.
export function sideAlong(direction) {
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
export function drawSphere(groups, side, description) {
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
