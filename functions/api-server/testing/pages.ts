import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { arcKinds } from '#shared/domain';
import { type Manifest, parseManifests } from '#shared/local';
import type { Answer, ArcServer } from './arc-server.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** A file of the repository. */
export function readPage(file: string): Promise<string> {
  return readFile(path.join(root, file), 'utf8');
}

/** The manifests of a file of YAML. */
export async function manifestsOf(file: string): Promise<Manifest[]> {
  return parseManifests(await readPage(file), file);
}

/** Creates an object of one of ARC's kinds as `kubectl create --validate=strict` does. */
export function create(server: ArcServer, object: Manifest): Promise<Answer> {
  const kind = arcKinds.find((one) => one.kind === object.kind);
  const { namespace } = object.metadata;
  const where = namespace === undefined ? '' : `namespaces/${namespace}/`;
  const api = '/apis/arc.opendefense.cloud/v1alpha1';
  return server.call('POST', `${api}/${where}${kind?.plural}?fieldValidation=Strict`, object);
}
