// Requests about a result besides its maps.
import { ask, askBlock } from "./server.js";

export async function fetchVoxel(voxel, signal) {
  return (await ask(`/api/voxel/${voxel}`, { signal })).json();
}

export async function fetchMatrix(number) {
  const { head, take } = await askBlock(`/api/matrix/${number}`);
  return take(Float32Array, head.regions * head.regions);
}

async function fetchFibres(path, signal) {
  const { head, take } = await askBlock(path, { signal });
  const fibres = {
    ...head,
    offsets: take(Uint32Array, head.fibres + 1),
    positions: take(Float32Array, 3 * head.points),
    starts: take(Uint32Array, head.fibres), // voxels of the page
  };
  for (const measure of fibres.measures) measure.values = take(Float32Array, head.fibres);
  for (const measure of fibres.along) measure.values = take(Float32Array, head.points);
  return fibres;
}

// Up to `count` fibres, evenly spread over the result.
export const fetchStreamlines = (count, signal) => fetchFibres(`/api/streamlines/${count}`, signal);

// The fibres that start in a voxel.
export const fetchRays = (voxel, signal) => fetchFibres(`/api/rays/${voxel}`, signal);
