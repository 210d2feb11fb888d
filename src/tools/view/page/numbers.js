// Numbers of the connection, beside the pictures.
import { commandLine } from "./connection.js";
import { drawCurve } from "./curve.js";

const byId = (id) => document.getElementById(id);

// A command line whose words are not broken at their hyphens.
function showCommand(element, text) {
  const words = text.split(" ").flatMap((word, i) => {
    const span = Object.assign(document.createElement("span"), { className: "word", textContent: word });
    return i === 0 ? [span] : [" ", span];
  });
  element.replaceChildren(...words);
}

// Returns how many voxels the pathway has.
export function showNumbers(page, connection, ends, epsilon) {
  const FA = page.image.name === "FA" ? page.image.values : null;
  const pathway = connection.measure(epsilon, FA);
  byId("numbers").hidden = false;
  byId("cost").textContent = `${connection.cost.toPrecision(6)} ${connection.unit}`;
  byId("length").textContent = `${connection.length_mm.toFixed(1)} mm`;
  byId("path-FA").textContent = connection.path_FA === null ? "no path" : connection.path_FA.toFixed(3);
  byId("pathway-volume").textContent = `${pathway.ml.toFixed(2)} ml (${pathway.count} voxels)`;
  byId("mean-FA").textContent = FA ? pathway.mean.toFixed(3) : "shown with FA as picture";
  byId("gap").textContent = `${(100 * connection.gap).toFixed(1)} % (0 for an exact solution)`;
  const { epsilon: epsilons, voxels } = connection.curve;
  const volumes = voxels.map((n) => n * connection.voxelMl);
  drawCurve(byId("curve"), epsilons, volumes, epsilon);
  showCommand(byId("command"), commandLine(ends, page.state.connect, connection, epsilon));
  return pathway.count;
}
