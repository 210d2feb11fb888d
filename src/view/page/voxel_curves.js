// The curve of one voxel of a perfusion result: data, fit, input curves, parameters.
import { drawChart, palette } from "./chart.js";
import { make, makeFoldedTable, makeTable, numberText, withUnit } from "./elements.js";

// `shown`: their names, in this order.
function listParameters(parameters, shown) {
  const find = (name) => parameters.find((p) => p.name === name);
  const rows = [];
  for (const name of shown) {
    const one = find(name);
    if (!one) continue;
    const deviation = find(`sd_${name}`)?.value;
    rows.push([withUnit(name, one.unit), numberText(one.value), deviation ? `± ${numberText(deviation, 2)}` : ""]);
  }
  return rows;
}

// `answer`: what the program knows of the voxel. Returns elements.
export function showCurves(answer) {
  const { time, unit } = answer;
  const label = unit === "input" ? "concentration" : withUnit("concentration", unit);
  const data = { name: "voxel", x: time, y: answer.concentration, kind: "dots", colour: palette[0] };
  const fit = { name: "fit", x: time, y: answer.fit, kind: "line", colour: palette[1] };
  const inputs = [{ name: "arterial input", x: time, y: answer.arterial, kind: "line", colour: palette[3] }];
  if (answer.portal) inputs.push({ name: "portal input", x: time, y: answer.portal, kind: "line", colour: palette[2] });
  const shown = answer.fit.length > 0 ? [data, fit] : [data];
  const axes = { xLabel: "time (s)", yLabel: label };
  const { haematocrit } = answer;
  const blood = haematocrit > 0 ? `Input curves in plasma: blood divided by 1 - ${haematocrit}` : "Input curves";
  const peak = Math.max(...answer.concentration.filter((c) => c !== null));
  const header = ["time (s)", ...[...shown, ...inputs].map((one) => withUnit(one.name, unit === "input" ? "" : unit))];
  const rows = () =>
    time.map((t, i) => [numberText(t), ...[...shown, ...inputs].map((one) => numberText(one.y[i] ?? NaN))]);
  return [
    ...drawChart({ ...axes, series: shown, description: `Concentration against time; peak ${numberText(peak)} ${unit}` }),
    make("p", { class: "hint" }, `${blood}.`),
    ...drawChart({ ...axes, series: inputs, description: `${blood}, against time` }),
    makeTable("Parameters", ["parameter", "value", "SD"], listParameters(answer.parameters, answer.shown)),
    makeFoldedTable("Curves as a table", header, rows),
  ];
}
