/** The kinds of a cluster that the standalone serves beside ARC's own. */
export { accessReviewKinds } from './access-reviews.ts';
export { clusterKinds } from './cluster-kinds.ts';
export { namespaceFinalizer } from './core.ts';
export { mountPaths, unsupportedFields } from './supported.ts';
