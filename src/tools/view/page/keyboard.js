// Keys of the planes. NiiVue has letters of its own, so that these must be caught before it sees them.
const steps = {
  ArrowLeft: [-1, 0, 0],
  ArrowRight: [1, 0, 0],
  ArrowUp: [0, 1, 0],
  ArrowDown: [0, -1, 0],
  PageUp: [0, 0, 1],
  PageDown: [0, 0, -1],
};

// move(step): voxels to the right, to the front, upwards; setEnd("from" or "to").
export function listenToKeys(canvas, { move, setEnd }) {
  const listen = (event) => {
    if (event.key === "Tab" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (steps[event.key]) move(steps[event.key]);
    else if (event.key.toLowerCase() === "f") setEnd("from");
    else if (event.key.toLowerCase() === "t") setEnd("to");
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  canvas.addEventListener("keydown", listen, true);
}
