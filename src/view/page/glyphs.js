// Superquadric tensor glyphs (Kindlmann 2004): their form says whether a tensor is linear, planar or a ball, their colour
// the direction of its first eigenvector.
const rings = 7;
const sectors = 10;
const sharpness = 3;
const cornersPerGlyph = (rings + 1) * sectors;
export const trianglesPerGlyph = 2 * rings * sectors;

const power = (x, exponent) => Math.sign(x) * Math.abs(x) ** exponent;

// Points of a superquadric in [-1, 1]: around its first axis if it is rather linear, else around the third.
function unitForm([first, second, third]) {
  const sum = first + second + third;
  const linear = (first - second) / sum;
  const planar = (2 * (second - third)) / sum;
  const isLinear = linear >= planar;
  const alpha = (1 - (isLinear ? planar : linear)) ** sharpness;
  const beta = (1 - (isLinear ? linear : planar)) ** sharpness;
  const points = [];
  for (let i = 0; i <= rings; i++)
    for (let j = 0; j < sectors; j++) {
      const [polar, around] = [(Math.PI * i) / rings, (2 * Math.PI * j) / sectors];
      const along = power(Math.cos(polar), beta);
      const radius = power(Math.sin(polar), beta);
      const [a, b] = [power(Math.cos(around), alpha) * radius, power(Math.sin(around), alpha) * radius];
      points.push(isLinear ? [along, -b, a] : [a, b, along]);
    }
  return points;
}

function addTriangles(first, flips, triangles) {
  for (let i = 0; i < rings; i++)
    for (let j = 0; j < sectors; j++) {
      const next = (j + 1) % sectors;
      const [a, b] = [first + i * sectors + j, first + i * sectors + next];
      const [c, d] = [a + sectors, b + sectors];
      triangles.push(...(flips ? [a, b, c, b, d, c] : [a, c, b, b, c, d]));
    }
}

// Whether three axes are left-handed: then triangles must be turned around.
function isLeftHanded([x, y, z]) {
  const turned = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
  return turned.reduce((sum, t, d) => sum + t * z[d], 0) < 0;
}

// `eigen`: for each glyph three eigenvalues (largest first) and three unit vectors. `centres`: mm of each. `size`: mm, of
// the largest half axis that is usual: larger ones are cut to 1.5 times it.
export function makeGlyphs(centres, eigen, size) {
  const count = centres.length;
  const points = new Float32Array(3 * count * cornersPerGlyph);
  const rgba = new Uint8Array(4 * count * cornersPerGlyph);
  const triangles = [];
  const firsts = Float32Array.from({ length: count }, (_, g) => eigen[12 * g]).sort();
  const usual = firsts[Math.floor(0.9 * (count - 1))] || 1;
  for (let g = 0; g < count; g++) {
    const values = Array.from(eigen.subarray(12 * g, 12 * g + 3), (v) => Math.max(v, 1e-3 * usual));
    const axes = [3, 6, 9].map((k) => eigen.subarray(12 * g + k, 12 * g + k + 3));
    const half = values.map((v) => size * Math.min(1.5, v / usual));
    const colour = Array.from(axes[0], (x) => Math.round(255 * Math.abs(x)));
    unitForm(values).forEach((p, corner) => {
      const at = g * cornersPerGlyph + corner;
      for (let d = 0; d < 3; d++)
        points[3 * at + d] =
          centres[g][d] + p[0] * half[0] * axes[0][d] + p[1] * half[1] * axes[1][d] + p[2] * half[2] * axes[2][d];
      rgba.set([...colour, 255], 4 * at);
    });
    addTriangles(g * cornersPerGlyph, isLeftHanded(axes), triangles);
  }
  return { points, triangles: new Uint32Array(triangles), rgba };
}
