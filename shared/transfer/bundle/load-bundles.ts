export type Bundles = typeof import('./bundles.ts');

/** Loads the code for bundles on demand, because most workers do not need it. */
export function loadBundles(): Promise<Bundles> {
  return import('./bundles.ts');
}
