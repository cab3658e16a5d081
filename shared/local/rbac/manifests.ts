import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ArcError } from '#shared/base/errors';

/** One YAML document with a kind; `text` of the file it came from is not kept. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; [field: string]: unknown };
  [field: string]: unknown;
}

/** The YAML files under `folder`, by path, sorted: what a kustomize base is made of. */
export async function manifestFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter(
      (entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && !/^kustomization\.ya?ml$/.test(entry.name),
    )
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

/**
 * Every object in the YAML files under `folder`, documents and kinds mixed; kustomization files are passed over (a base
 * lists all its files, so reading the folder is reading the base). Throws Invalid, naming file and line, for broken YAML.
 */
export async function loadManifests(folder: string): Promise<Manifest[]> {
  const files = await manifestFiles(folder);
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return texts.flatMap((text, index) => parseManifests(text, files[index] ?? folder));
}

/** The objects of one YAML text; `origin` names it in errors. Empty documents are skipped. */
export function parseManifests(text: string, origin: string): Manifest[] {
  const documents = parseAllDocuments(text);
  return documents.flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw new ArcError('Invalid', `${origin}: ${problem.message}`);
    const value: unknown = document.toJS();
    if (value === null || value === undefined) return [];
    if (!isManifest(value))
      throw new ArcError('Invalid', `${origin}: a document has no apiVersion, kind or metadata.name`);
    return [value];
  });
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<Manifest>;
  return typeof apiVersion === 'string' && typeof kind === 'string' && typeof metadata?.name === 'string';
}
