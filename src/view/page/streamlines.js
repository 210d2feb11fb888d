// Choosing among paths, before they are drawn.

// Paths whose number is in `chosen`, cut to the points for which isShown(x, y, z); `values`: a number per point.
export function selectFibres(fibres, chosen, { isShown = null, values = null } = {}) {
  const offsets = [0];
  const positions = [];
  const kept = [];
  let length = 0; // points of the piece that is being copied
  const finish = () => {
    if (length === 1) {
      positions.length -= 3; // one point is no line
      if (values) kept.length -= 1;
    } else if (length > 1) {
      offsets.push(positions.length / 3);
    }
    length = 0;
  };
  for (const fibre of chosen) {
    for (let p = fibres.offsets[fibre]; p < fibres.offsets[fibre + 1]; p++) {
      const [x, y, z] = fibres.positions.subarray(3 * p, 3 * p + 3);
      if (isShown && !isShown(x, y, z)) {
        finish();
        continue;
      }
      positions.push(x, y, z);
      if (values) kept.push(values[p]);
      length++;
    }
    finish();
  }
  return {
    offsets: Uint32Array.from(offsets),
    positions: Float32Array.from(positions),
    values: values ? Float32Array.from(kept) : null,
  };
}

// A value of each path as one of each of its points.
export function spreadOverPoints(fibres, values) {
  const spread = new Float32Array(fibres.points);
  for (let n = 0; n < fibres.fibres; n++) spread.fill(values[n], fibres.offsets[n], fibres.offsets[n + 1]);
  return spread;
}

// The middle point of a path.
export function findMiddle(fibres, fibre) {
  const p = Math.floor((fibres.offsets[fibre] + fibres.offsets[fibre + 1]) / 2);
  return Array.from(fibres.positions.subarray(3 * p, 3 * p + 3));
}
