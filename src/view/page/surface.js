// Surfaces of sets of voxels (naive surface nets): a point for each cell of eight voxels that the surface passes,
// and two triangles for each edge between a voxel inside and one outside.

const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1, (k >> 1) & 1, k >> 2]);
const edges = [];
for (let k = 0; k < 8; k++) for (const bit of [1, 2, 4]) if (!(k & bit)) edges.push([k, k | bit]);

// The box of the voxels inside, one larger on each side, within the image.
function findBox(voxels, isInside, [nx, ny, nz]) {
  const low = [nx, ny, nz];
  const high = [-1, -1, -1];
  for (let n = 0; n < voxels.length; n++) {
    if (!isInside(n)) continue;
    const place = [voxels[n] % nx, Math.floor(voxels[n] / nx) % ny, Math.floor(voxels[n] / (nx * ny))];
    for (let d = 0; d < 3; d++) {
      low[d] = Math.min(low[d], place[d]);
      high[d] = Math.max(high[d], place[d]);
    }
  }
  return { low: low.map((x) => x - 1), size: low.map((x, d) => high[d] - x + 3) };
}

function fillBox(voxels, isInside, box, [nx, ny]) {
  const inside = new Uint8Array(box.size[0] * box.size[1] * box.size[2]);
  for (let n = 0; n < voxels.length; n++) {
    if (!isInside(n)) continue;
    const x = (voxels[n] % nx) - box.low[0];
    const y = (Math.floor(voxels[n] / nx) % ny) - box.low[1];
    const z = Math.floor(voxels[n] / (nx * ny)) - box.low[2];
    inside[x + box.size[0] * (y + box.size[1] * z)] = 1;
  }
  return inside;
}

// Which of a cell's corners are inside, as bits.
function cornerBits(inside, size, x, y, z) {
  let bits = 0;
  for (let k = 0; k < 8; k++) {
    const [dx, dy, dz] = corners[k];
    bits |= inside[x + dx + size[0] * (y + dy + size[1] * (z + dz))] << k;
  }
  return bits;
}

// The mean of the middles of the edges that the surface crosses.
function cellPoint(bits) {
  const sum = [0, 0, 0];
  let count = 0;
  for (const [a, b] of edges) {
    if (((bits >> a) & 1) === ((bits >> b) & 1)) continue;
    for (let d = 0; d < 3; d++) sum[d] += (corners[a][d] + corners[b][d]) / 2;
    count++;
  }
  return sum.map((s) => s / count);
}

// `voxels`: linear indices in an image of this size; isInside(n): whether voxels[n] is. `affine`: 4x4, row-major, to mm.
export function findSurface(voxels, isInside, imageSize, affine) {
  const box = findBox(voxels, isInside, imageSize);
  if (box.size[0] < 3) return { points: new Float32Array(0), triangles: new Uint32Array(0) };
  const inside = fillBox(voxels, isInside, box, imageSize);
  const [sx, sy, sz] = box.size;
  const pointOf = new Int32Array(sx * sy * sz).fill(-1);
  const points = [];
  const triangles = [];
  const strides = [1, sx, sx * sy];
  for (let z = 0; z < sz - 1; z++)
    for (let y = 0; y < sy - 1; y++)
      for (let x = 0; x < sx - 1; x++) {
        const bits = cornerBits(inside, box.size, x, y, z);
        if (bits === 0 || bits === 255) continue;
        const cell = x + sx * (y + sy * z);
        pointOf[cell] = points.length / 3;
        const place = cellPoint(bits).map((p, d) => p + [x, y, z][d] + box.low[d]);
        for (let row = 0; row < 12; row += 4)
          points.push(
            affine[row] * place[0] + affine[row + 1] * place[1] + affine[row + 2] * place[2] + affine[row + 3],
          );
        addQuads(bits, cell, strides, pointOf, triangles);
      }
  return { points: new Float32Array(points), triangles: new Uint32Array(triangles) };
}

// Of the three edges at the cell's first corner: each is shared with three earlier cells.
function addQuads(bits, cell, strides, pointOf, triangles) {
  const first = bits & 1;
  for (let d = 0; d < 3; d++) {
    if (first === ((bits >> (1 << d)) & 1)) continue;
    const u = strides[(d + 1) % 3];
    const v = strides[(d + 2) % 3];
    const [a, b, c, e] = [cell - u - v, cell - v, cell, cell - u].map((i) => pointOf[i]);
    if (first === 1) triangles.push(a, b, c, a, c, e);
    else triangles.push(a, c, b, a, e, c);
  }
}

// A ball around a point, for the ends.
export function makeBall(centre, radius) {
  const rings = 8;
  const sectors = 12;
  const points = [];
  const triangles = [];
  for (let i = 0; i <= rings; i++)
    for (let j = 0; j < sectors; j++) {
      const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * j) / sectors];
      const unit = [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)];
      points.push(...unit.map((u, d) => centre[d] + radius * u));
    }
  for (let i = 0; i < rings; i++)
    for (let j = 0; j < sectors; j++) {
      const next = (j + 1) % sectors;
      const [a, b, c, d] = [i * sectors + j, i * sectors + next, (i + 1) * sectors + j, (i + 1) * sectors + next];
      triangles.push(a, c, b, b, c, d);
    }
  return { points: new Float32Array(points), triangles: new Uint32Array(triangles) };
}
