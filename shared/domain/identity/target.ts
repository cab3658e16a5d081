import type { Json } from '#shared/base/meta';
import { placeOf } from '#shared/domain/address';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Parameter } from '../kinds/common.ts';
import { shortHash } from '../values/hash.ts';

/** The inputs that decide where an artifact lands. */
export interface TargetInputs {
  type: ArtifactType;
  /** Type of the source Endpoint. */
  source: string;
  destination: { type: string; remoteURL: string; plainHTTP?: boolean };
  /** All parameters of the transfer, including those of the type. */
  parameters: readonly Parameter[];
  /** As the worker receives it, with the type's parameters applied. */
  spec: Readonly<Record<string, Json>>;
  /** As the user wrote it. */
  written: Readonly<Record<string, Json>>;
}

/** Where an artifact lands: transfers with the same key overwrite each other. */
export interface Target {
  /** 16 hex digits. */
  key: string;
  /** The key that an earlier release gave to ArtifactWorkflows, if it differs. */
  formerKey?: string;
  /** The resolved address, for people; undefined where only a name is known. */
  address?: string;
}

/**
 * Returns where an artifact lands, as its type defines it: the resolved address, equal for all spellings of a place. An address that cannot
 * be resolved is replaced by the name and the URL of the Endpoint. A type without target parameters uses the whole spec, a target that only
 * its own artifacts share.
 */
export function targetOf({ type, source, destination, parameters, spec, written }: TargetInputs): Target {
  const server = comparable(destination.remoteURL);
  const names = namesOf(type, parameters);
  if (names === undefined)
    return keysOf([server, [type.metadata.name, spec]], [server, [type.metadata.name, written]]);
  const byName = [server, combined(names)];
  const place = placeOf({ source, destination, names, spec });
  if (place === undefined) return keysOf(byName, byName);
  return { ...keysOf([place.server, place.path], byName), address: `${place.server}/${place.path}` };
}

function keysOf(found: unknown, former: unknown): Target {
  const key = shortHash(found);
  const formerKey = found === former ? key : shortHash(former);
  return formerKey === key ? { key } : { key, formerKey };
}

/** Returns the first target parameter of the type that is set, and the next one, which may supply the tag. */
function namesOf(type: ArtifactType, parameters: readonly Parameter[]): [string, string?] | undefined {
  const values = new Map(parameters.map(({ name, value }) => [name, value]));
  const [first, second] = (type.spec.target ?? []).map((name) => values.get(name) ?? '').filter(Boolean);
  if (first === undefined) return undefined;
  return second === undefined ? [first] : [first, second];
}

/** Joins the names into one text. The text is hashed into labels: a change of format would hide the ArtifactWorkflows of earlier releases. */
function combined([first, second = '']: [string, string?]): string {
  return tagOf(first) === '' ? first + tagOf(second) : first;
}

/** Returns the tag or digest at the end of an image's name, with its separator; empty if there is none. */
function tagOf(image: string): string {
  return /(@[^/@]+|:[^/:@]+)$/.exec(image)?.[0] ?? '';
}

/** Normalizes a URL: lower-case host, no scheme, no trailing slashes. */
function comparable(remoteURL: string): string {
  const complete = remoteURL.includes('://') ? remoteURL : `https://${remoteURL}`;
  return (URL.parse(complete)?.href ?? complete).replace(/\/+$/, '');
}
