// Replaces zarrita, which NiiVue needs only for Zarr images: two thirds of the bundle.
const missing = () => {
  throw new Error("Zarr images are not supported");
};

export const root = missing;
export const open = missing;
export const get = missing;
export const slice = missing;
export const create = missing;
export const withConsolidated = missing;
export const tryWithConsolidated = missing;
export const registry = new Map();
export class FetchStore {}
export class Location {}
export class NotFoundError extends Error {}
