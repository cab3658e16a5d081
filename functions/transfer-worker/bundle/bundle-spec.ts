import { isRecord } from '#shared/base/meta';
import type { Job } from '#shared/domain';
import { digestOf, isDigest, TransferError } from '#shared/transfer';

type Spec = Job['artifact']['spec'];

/** What a bundle is called, whoever wrote the spec: it is the name of files. Throws a config TransferError. */
export function bundleName(value: unknown, field: string): string {
  if (typeof value === 'string' && /^[a-z0-9](?:[a-z0-9._-]{0,98}[a-z0-9])?$/.test(value)) return value;
  throw config(
    `spec.${field} must be the name of a bundle: lower case letters, digits, ".", "_" and "-", such as release-7.`,
  );
}

/** One entry of the contents of a bundle: `text` says what was ordered, for its record; `at` where, for messages. */
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
/** Of the record of a bundle. */
export const mostContents = 1000;
const longestText = 1000;

/** `spec.contents`: each entry has the fields of an artifact of type `oci`, `helm` or `file`. Throws a config TransferError. */
export function contentsOf({ contents }: Spec): Content[] {
  if (!Array.isArray(contents) || contents.length === 0 || contents.length > mostContents)
    throw config(
      `spec.contents must be a list of 1 to ${mostContents} artifacts such as { image: "team/app:1.0" }.`,
    );
  const found = contents.map((spec, index) => {
    const at = `spec.contents[${index}]`;
    if (!isRecord(spec)) throw config(`${at} must be an object such as { image: "team/app:1.0" }.`);
    const unknown = Object.keys(spec).find((name) => !fields.includes(name));
    if (unknown !== undefined)
      throw config(`${at}.${unknown.slice(0, 100)} is not known: use ${fields.join(', ')}.`);
    const kinds = [ofImage, ofChart, ofFile].filter(([kind = '']) => spec[kind] !== undefined);
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1) throw config(`${at} must have one of image, chart and path.`);
    const foreign = Object.keys(spec).find((name) => name !== 'override' && !kind.includes(name));
    if (foreign !== undefined) throw config(`${at}.${foreign} does not belong to ${kind[0]}: leave it out.`);
    return { text: textFor(spec), at, spec };
  });
  for (const { text, at } of found) {
    const first = found.find((other) => other.text === text)?.at;
    if (first !== at) throw config(`${at} is the same as ${first}: leave one of them out.`);
  }
  return found;
}

/** What was ordered, its fields in one order. A text that is too long for the record is told from others by its digest. */
function textFor(spec: Spec): string {
  const given = fields.filter((name) => spec[name] !== undefined);
  const text = JSON.stringify(Object.fromEntries(given.map((name) => [name, spec[name]])));
  if (text.length <= longestText) return text;
  const digest = digestOf(Buffer.from(text));
  return `${text.slice(0, longestText - digest.length - 1)}…${digest}`;
}

/** A field that is a text, if it is there. Throws a config TransferError. */
export function textOf(spec: Spec, field: string): string | undefined {
  const value = spec[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string') return value;
  throw config(`spec.${field} must be a string.`);
}

/** `spec.digest` of the bundle that is wanted, if it is there. Throws a config TransferError. */
export function wantedDigest(spec: Spec): string | undefined {
  const digest = textOf(spec, 'digest');
  if (digest === undefined || isDigest(digest)) return digest;
  throw config(
    'spec.digest must be the digest that the export has in its results, sha256 and 64 hexadecimal digits.',
  );
}

export function config(message: string, cause?: unknown): TransferError {
  return new TransferError('config', message, { cause });
}
