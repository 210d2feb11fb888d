// Requests about a result besides its maps.
import { ask, askBlock, post } from "./server.js";

export async function fetchVoxel(voxel, signal) {
  return (await ask(`/api/voxel/${voxel}`, { signal })).json();
}

export async function fetchMatrix(number) {
  const { head, take } = await askBlock(`/api/matrix/${number}`);
  return take(Float32Array, head.regions * head.regions);
}

async function fetchFibres(path, options) {
  const { head, take } = await askBlock(path, options);
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

// Up to `count` of the fibres that pass a choice, evenly spread; `stored` is how many pass.
export const fetchStreamlines = (count, choice, signal) =>
  fetchFibres("/api/streamlines", post({ ...choice, count }, signal));

// All fibres that pass a choice, as a TRX file.
export async function fetchStreamlineFile(choice) {
  return (await ask("/api/streamlines/trx", post(choice))).arrayBuffer();
}

// The fibres that start in a voxel.
export const fetchRays = (voxel, signal) => fetchFibres(`/api/rays/${voxel}`, { signal });

// All rays of the run's seeds in a voxel, traced again.
export const fetchTraced = (voxel, signal) => fetchFibres(`/api/traced/${voxel}`, { signal });
