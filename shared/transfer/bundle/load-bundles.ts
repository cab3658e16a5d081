export type Bundles = typeof import('./bundles.ts');

/** What bundles are written and read with. It is loaded for them alone: most workers move none. */
export function loadBundles(): Promise<Bundles> {
  return import('./bundles.ts');
}
