import type { EndpointSpec, Usage } from './endpoint.ts';

/** The side of a transfer that an Endpoint is used on. */
export type Side = 'source' | 'destination';

/** The sides that each usage allows. The compiler asks for a usage that is missing here: it would be refused on both. */
const sidesOf: Record<Usage, readonly Side[]> = {
  PullOnly: ['source'],
  PushOnly: ['destination'],
  All: ['source', 'destination'],
};

/** Returns whether `usage` lets an Endpoint be on `side`. */
export function mayBe(side: Side, { usage = 'All' }: Pick<EndpointSpec, 'usage'>): boolean {
  return sidesOf[usage].includes(side);
}
