import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Resolution } from './endpoint-use.ts';

/** Why a type does not take these Endpoints; an empty or absent list of types takes all. */
export function ruleMismatch(type: ArtifactType, from: Resolution, to: Resolution): string | undefined {
  const { srcTypes = [], dstTypes = [] } = type.spec.rules ?? {};
  return mismatch(type, 'source', srcTypes, from) ?? mismatch(type, 'destination', dstTypes, to);
}

function mismatch(
  type: ArtifactType,
  side: string,
  allowed: readonly string[],
  found: Resolution,
): string | undefined {
  if (found.state === 'invalid' || allowed.length === 0 || allowed.includes(found.type)) return undefined;
  return `artifact type "${type.metadata.name}" takes a ${side} of type ${allowed.join(', ')}, not "${found.type}"`;
}
