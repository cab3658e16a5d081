import { isRecord } from '#shared/base/meta';
import type { Job } from '#shared/domain';
import { digestOf, isDigest, TransferError } from '#shared/transfer';

type Spec = Job['artifact']['spec'];

/** Validates the name of a bundle, which becomes a file name. Throws a config TransferError. */
export function bundleName(value: unknown, field: string): string {
  if (typeof value === 'string' && /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/.test(value)) return value;
  throw config(
    `spec.${field} must be the name of a bundle: lower case letters, digits, ".", "_" and "-", such as release-7.`,
  );
}

/** One entry of the contents of a bundle: `text` is its canonical form for the record, `at` its field for messages. */
export interface Content {
  text: string;
  at: string;
  spec: Spec;
}

const ofImage = ['image', 'tags', 'platforms'];
const ofChart = [
  'chart',
  'version',
  'repo',
  'withImages',
  'images',
  'values',
  'imageRegistries',
  'platforms',
];
const ofFile = ['path', 'sha256', 'mediaType'];
const fields = [...new Set([...ofImage, ...ofChart, ...ofFile, 'override'])];
/** Maximum number of artifacts in the record of a bundle. */
export const maxContents = 1000;
const maxTextLength = 1000;

/** Parses `spec.contents`: each entry has the fields of an artifact of type `oci`, `helm` or `file`. Throws a config TransferError. */
export function contentsOf({ contents }: Spec): Content[] {
  if (!Array.isArray(contents) || contents.length === 0 || contents.length > maxContents)
    throw config(
      `spec.contents must be a list of 1 to ${maxContents} artifacts such as { image: "team/app:1.0" }.`,
    );
  const found = contents.map((spec, index) => {
    const at = `spec.contents[${index}]`;
    if (!isRecord(spec)) throw config(`${at} must be an object such as { image: "team/app:1.0" }.`);
    const unknown = Object.keys(spec).find((name) => !fields.includes(name));
    if (unknown !== undefined)
      throw config(`${at}.${unknown.slice(0, 100)} is not a field: use ${fields.join(', ')}.`);
    const kinds = [ofImage, ofChart, ofFile].filter(([kind = '']) => spec[kind] !== undefined);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) throw config(`${at} must have one of image, chart and path.`);
    const foreign = Object.keys(spec).find((name) => name !== 'override' && !kind.includes(name));
    if (foreign !== undefined)
      throw config(`${at}.${foreign} cannot be combined with ${kind[0]}: remove it.`);
    return { text: textFor(spec), at, spec };
  });
  for (const { text, at } of found) {
    const first = found.find((other) => other.text === text)?.at;
    if (first !== at) throw config(`${at} is the same as ${first}: remove one of them.`);
  }
  return found;
}

/** The entry in canonical form. A text beyond the limit of the record is truncated and ends with its digest. */
function textFor(spec: Spec): string {
  const given = fields.filter((name) => spec[name] !== undefined);
  const text = JSON.stringify(Object.fromEntries(given.map((name) => [name, spec[name]])));
  if (text.length <= maxTextLength) return text;
  const digest = digestOf(Buffer.from(text));
  return `${text.slice(0, maxTextLength - digest.length - 1)}…${digest}`;
}

/** An optional string field. Throws a config TransferError. */
export function textOf(spec: Spec, field: string): string | undefined {
  const value = spec[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw config(`spec.${field} must be a string.`);
}

/** The optional `spec.digest` of the expected bundle. Throws a config TransferError. */
export function wantedDigest(spec: Spec): string | undefined {
  const digest = textOf(spec, 'digest');
  if (digest === undefined || isDigest(digest)) return digest;
  throw config(
    'spec.digest must be the digest in the results of the export: sha256: and 64 hexadecimal digits.',
  );
}

export function config(message: string, cause?: unknown): TransferError {
  return new TransferError('config', message, { cause });
}
