import type { Json } from '#shared/meta';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Parameter } from '../kinds/common.ts';
import { shortHash } from '../values/hash.ts';

/** What says where an artifact lands. */
export interface TargetInputs {
  type: ArtifactType;
  /** URL of the destination Endpoint. */
  remoteURL: string;
  /** All parameters of the transfer, those of the type included. */
  parameters: readonly Parameter[];
  spec: Readonly<Record<string, Json>>;
}

/**
 * Where an artifact lands, as its type says it, hashed to 16 hex digits: two transfers with the same target overwrite each
 * other. A type that names no parameters has the whole spec for a target, which only its own artifacts share.
 */
export function targetOf({ type, remoteURL, parameters, spec }: TargetInputs): string {
  const place = namedPlace(type, parameters) ?? [type.metadata.name, spec];
  return shortHash([comparable(remoteURL), place]);
}

function namedPlace(type: ArtifactType, parameters: readonly Parameter[]): string | undefined {
  const values = new Map(parameters.map(({ name, value }) => [name, value]));
  const [first, second = ''] = (type.spec.target ?? []).map((name) => values.get(name) ?? '').filter(Boolean);
  // An image without a tag of its own takes that of the next: `mirror/app` for `team/app:1.0` lands at `mirror/app:1.0`.
  return first === undefined || tagOf(first) !== '' ? first : first + tagOf(second);
}

/** The tag or digest that ends an image's name, with its separator; empty if there is none. */
function tagOf(image: string): string {
  return /(@[^/@]+|:[^/:@]+)$/.exec(image)?.[0] ?? '';
}

/** One text for the ways to write a URL: letters of the host, scheme left out, slashes at the end. */
function comparable(remoteURL: string): string {
  const complete = remoteURL.includes('://') ? remoteURL : `https://${remoteURL}`;
  return (URL.parse(complete)?.href ?? complete).replace(/\/+$/, '');
}
