// Requests to the program that serves this page.

export const niftiHeaderBytes = 352;

// The token is in the fragment, which is never sent; it is removed from the address bar.
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token") ?? sessionStorage.getItem("token") ?? "";
  sessionStorage.setItem("token", token); // for a reload
  history.replaceState(null, "", location.pathname + location.search);
  return token;
}

const token = takeToken();

export async function ask(path, options = {}) {
  const answer = await fetch(path, { ...options, headers: { "X-Token": token } });
  if (answer.ok) return answer;
  // The page has no options: "--within" is "within".
  const text = (await answer.text()).trim().replace(/(^|[\s(])--(?=[a-z])/g, "$1");
  throw Object.assign(new Error(text), { status: answer.status });
}

// A block: the length of the JSON, the JSON, then arrays. take(Float32Array, n) returns the next one.
function openBlock(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  let at = 4 + length;
  const take = (Type, count) => {
    const values = new Type(buffer, at, count);
    at += values.byteLength;
    return values;
  };
  return { head, take };
}

export async function askBlock(path, options) {
  return openBlock(await (await ask(path, options)).arrayBuffer());
}

export const post = (body, signal) => ({ method: "POST", body: JSON.stringify(body), signal });

export async function fetchState() {
  return (await ask("/api/state")).json();
}

// The NIfTI file, and its values in the page's order: x fastest, to the right, to the front, upwards.
export async function fetchMap(name) {
  const file = await (await ask(`/api/map/${name}`)).arrayBuffer();
  return { file, values: new Float32Array(file, niftiHeaderBytes) };
}

export async function fetchRegions() {
  const file = await (await ask("/api/regions")).arrayBuffer();
  return new Int32Array(file, niftiHeaderBytes);
}

export async function fetchPassable() {
  const { head, take } = await askBlock("/api/passable");
  return take(Uint32Array, head.voxels);
}

export async function solve(request, signal) {
  const { head, take } = await askBlock("/api/solve", post(request, signal));
  return {
    ...head,
    total: take(Float32Array, head.voxels),
    level: take(Float32Array, head.voxels),
    path: take(Float32Array, 3 * head.path_points),
  };
}

// Arrival times of the front from one end of the last connection: "from" or "to".
export async function fetchArrivals(end, signal) {
  const { head, take } = await askBlock(`/api/arrivals/${end}`, { signal });
  return { connection: head.connection, times: take(Float32Array, head.voxels) };
}

// A TRX file.
export async function fetchTrx(request) {
  return (await ask("/api/trx", post(request))).arrayBuffer();
}

// Tensors of voxels of the pathway: their numbers on the page, and for each eigenvalues and eigenvectors.
export async function fetchGlyphs(request, signal) {
  const { head, take } = await askBlock("/api/glyphs", post(request, signal));
  return { ...head, voxels: take(Uint32Array, head.glyphs), eigen: take(Float32Array, 12 * head.glyphs) };
}

export async function fetchFibres(request, signal) {
  const { head, take } = await askBlock("/api/fibres", post(request, signal));
  return {
    offsets: take(Uint32Array, head.fibres + 1),
    cost: take(Float32Array, head.fibres),
    positions: take(Float32Array, 3 * head.points),
  };
}

// The program ends when no page has been open for a while.
export function keepAlive() {
  setInterval(() => ask("/api/alive").catch(() => {}), 20000);
}

// Requests about a result besides its maps.

export async function fetchVoxel(voxel, signal) {
  return (await ask(`/api/voxel/${voxel}`, { signal })).json();
}

export async function fetchMatrix(number) {
  const { head, take } = await askBlock(`/api/matrix/${number}`);
  return take(Float32Array, head.regions * head.regions);
}

// Points (mm) and triangles of a surface.
export async function fetchSurface(number) {
  const { head, take } = await askBlock(`/api/surface/${number}`);
  return { points: take(Float32Array, 3 * head.vertices), triangles: take(Uint32Array, 3 * head.triangles) };
}

// A map of a surface: a number per vertex, or NaN; labels are integers, which floats would round.
export async function fetchVertices(number, map) {
  const { head, take } = await askBlock(`/api/surface/${number}/${map}`);
  return take(head.labels ? Int32Array : Float32Array, head.vertices);
}

async function fetchStored(path, options) {
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

// Up to `count` of the paths that pass a choice, evenly spread; `stored` is how many pass.
export const fetchStreamlines = (count, choice, signal) =>
  fetchStored("/api/streamlines", post({ ...choice, count }, signal));

// All paths that pass a choice, as a TRX file.
export async function fetchStreamlineFile(choice) {
  return (await ask("/api/streamlines/trx", post(choice))).arrayBuffer();
}

// The paths that start in a voxel.
export const fetchRays = (voxel, signal) => fetchStored(`/api/rays/${voxel}`, { signal });

// All rays of the run's seeds in a voxel, traced again.
export const fetchTraced = (voxel, signal) => fetchStored(`/api/traced/${voxel}`, { signal });
