/** How objects, kinds and reviews look on the wire, and what a kind's schema says about them. */

export { parseAccept } from './accept.ts';
export { type DiscoveryOptions, discoveryRoutes } from './discovery-routes.ts';
export { age, humanDuration } from './duration.ts';
export { fieldPath, type Step } from './field-path.ts';
export { objectSchema } from './kind-schema.ts';
export { type As, type NegotiateOptions, negotiate, type Representation } from './negotiate.ts';
export { type ListMeta, type PartialObjectMetadata, toPartial } from './partial.ts';
export { type DecodedBody, decodeReview } from './review.ts';
export type { Schema } from './schema.ts';
export { checkFields } from './structural.ts';
export {
  type Cell,
  cellsOf,
  columnDefinitions,
  columnValues,
  type IncludeObject,
  type Table,
  type TableOptions,
  type TableRow,
  toTable,
} from './table.ts';
export { validateSchema } from './validate-schema.ts';
