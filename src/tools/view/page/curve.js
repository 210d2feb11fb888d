// A small chart as SVG: volume of the pathway against epsilon, with a mark at the chosen epsilon.
const svg = "http://www.w3.org/2000/svg";
const area = { left: 34, right: 204, top: 8, bottom: 92 };

function add(parent, name, attributes, text) {
  const element = document.createElementNS(svg, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
}

// Epsilons are on a logarithmic axis. `volumes` in ml.
export function drawCurve(chart, epsilons, volumes, chosen) {
  const [first, last] = [Math.log(epsilons[0]), Math.log(epsilons.at(-1))];
  const highest = Math.max(...volumes, 1e-9);
  const x = (e) => {
    const part = (Math.log(e) - first) / (last - first);
    return area.left + Math.min(1, Math.max(0, part)) * (area.right - area.left);
  };
  const y = (v) => area.bottom - (v / highest) * (area.bottom - area.top);
  chart.querySelectorAll(":not(title)").forEach((old) => old.remove());
  chart.querySelector("title").textContent =
    `Volume of the pathway: ${volumes[0].toPrecision(3)} ml at epsilon ${(100 * epsilons[0]).toPrecision(2)} %, ` +
    `${volumes.at(-1).toPrecision(3)} ml at ${(100 * epsilons.at(-1)).toPrecision(2)} %`;
  add(chart, "line", { class: "axis", x1: area.left, x2: area.right, y1: area.bottom, y2: area.bottom });
  add(chart, "line", { class: "axis", x1: area.left, x2: area.left, y1: area.top, y2: area.bottom });
  add(chart, "line", { class: "mark", x1: x(chosen), x2: x(chosen), y1: area.top, y2: area.bottom });
  add(chart, "polyline", { class: "line", points: epsilons.map((e, i) => `${x(e)},${y(volumes[i])}`).join(" ") });
  for (const e of [0.001, 0.01, 0.1, 0.5])
    add(chart, "text", { x: x(e), y: 103, "text-anchor": "middle" }, `${100 * e} %`);
  add(chart, "text", { x: 30, y: area.top + 6, "text-anchor": "end" }, highest.toPrecision(2));
  add(chart, "text", { x: 30, y: area.bottom, "text-anchor": "end" }, "0 ml");
}
