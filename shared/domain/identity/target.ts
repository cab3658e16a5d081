import type { Json } from '#shared/base/meta';
import { placeOf } from '#shared/domain/address';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Parameter } from '../kinds/common.ts';
import { shortHash } from '../values/hash.ts';

/** What says where an artifact lands. */
export interface TargetInputs {
  type: ArtifactType;
  /** Type of the source Endpoint. */
  source: string;
  destination: { type: string; remoteURL: string; plainHTTP?: boolean };
  /** All parameters of the transfer, those of the type included. */
  parameters: readonly Parameter[];
  /** As the worker gets it, with the type's parameters applied. */
  spec: Readonly<Record<string, Json>>;
  /** As the user wrote it. */
  written: Readonly<Record<string, Json>>;
}

/** Where an artifact lands: two transfers with the same key overwrite each other. */
export interface Target {
  /** 16 hex digits. */
  key: string;
  /** The key that an earlier release gave to ArtifactWorkflows, where it is another one. */
  formerKey?: string;
  /** The resolved address, for people; undefined where only a name is known. */
  address?: string;
}

/**
 * Where an artifact lands, as its type says it: the resolved address, which every spelling of a place has. Where it cannot be resolved, the
 * name at the URL of the Endpoint. A type that names no parameters has the whole spec for a target, which only its own artifacts share.
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

/** The first of the parameters of the type that are set, and the next one, which may lend it a tag. */
function namesOf(type: ArtifactType, parameters: readonly Parameter[]): [string, string?] | undefined {
  const values = new Map(parameters.map(({ name, value }) => [name, value]));
  const [first, second] = (type.spec.target ?? []).map((name) => values.get(name) ?? '').filter(Boolean);
  if (first === undefined) return undefined;
  return second === undefined ? [first] : [first, second];
}

/** The names as one text. It is part of labels: another text for the same names would hide the ArtifactWorkflows of earlier releases. */
function combined([first, second = '']: [string, string?]): string {
  return tagOf(first) === '' ? first + tagOf(second) : first;
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
