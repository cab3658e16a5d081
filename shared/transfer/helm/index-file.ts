import { isRecord } from '#shared/base/meta';
import { yamlToJson } from '#shared/base/yaml';
import { TransferError } from '../errors/transfer-error.ts';
import type { ListedVersion } from './select-version.ts';

/** A version of a chart in an index. Only the fields that select a version have been parsed. */
export interface IndexEntry extends ListedVersion {
  /** The whole entry: parsed, or as YAML text. */
  content: Record<string, unknown> | string;
}

/** The entry of one version of a chart. */
export interface IndexedChart {
  name: string;
  version: string;
  /** The first URL, relative to the repository or absolute. */
  url: string;
  /** SHA-256 of the archive, in hex. */
  digest: string | undefined;
}

/** Maximum size of an index: the largest public ones have had about 20 MiB. */
export const maxIndexBytes = 64 * 1024 * 1024;
/** Maximum number of characters to parse as YAML at once. */
const maxYaml = 1024 * 1024;
const maxVersions = 20_000;
/** Characters of a version, with quotes and a comment. */
const maxFieldLength = 1000;

/**
 * Returns the versions of `chart` in an index.yaml (or its JSON form). Only the lines of this chart are parsed, because parsing an index of
 * several MiB takes minutes and gigabytes; the output of Helm and common servers can be cut that way. `where` names the index in messages.
 * Rejects with a TransferError.
 */
export async function chartEntries(index: Buffer, chart: string, where: string): Promise<IndexEntry[]> {
  const json = index.subarray(0, 64).toString('latin1').trimStart().startsWith('{');
  if (!json) {
    const entries = cutEntries(index, chart);
    if (entries?.length === 0) throw missing(chart, where);
    if (entries) return bounded(entries, chart, where);
  }
  const whole = json ? parsedJson(index, where) : await parsedYaml(index.toString('utf8'), where);
  const charts = isRecord(whole) ? whole.entries : undefined;
  if (!isRecord(charts)) throw unreadable(where, 'it has no field "entries"');
  const versions = Object.hasOwn(charts, chart) ? charts[chart] : undefined;
  if (versions === undefined) throw missing(chart, where);
  if (!Array.isArray(versions)) throw unreadable(where, `its entry of chart ${chart} is not a list`);
  const entries = versions.filter(isRecord).map((content) => ({
    version: textOf(content.version),
    deprecated: content.deprecated === true,
    removed: content.removed === true,
    content,
  }));
  return bounded(entries, chart, where);
}

function bounded(entries: IndexEntry[], chart: string, where: string): IndexEntry[] {
  if (entries.length > maxVersions)
    throw unreadable(where, `it has more than ${maxVersions} versions of chart ${chart}`);
  return entries;
}

/** Parses the whole entry. Rejects with a TransferError if it does not match the selection, or has no URL. */
export async function indexedChart(entry: IndexEntry, chart: string, where: string): Promise<IndexedChart> {
  const { content, version } = entry;
  const whole = typeof content === 'string' ? await parsedYaml(content, where) : content;
  if (!isRecord(whole) || textOf(whole.version) !== version || textOf(whole.name) !== chart)
    throw unreadable(
      where,
      `its entry of version ${version} of chart ${chart} names another chart or version`,
    );
  const url = Array.isArray(whole.urls)
    ? whole.urls.find((one) => typeof one === 'string' && one !== '')
    : undefined;
  if (typeof url !== 'string')
    throw unreadable(where, `it has no URL for version ${version} of chart ${chart}`);
  // Older servers prefix the digest with its algorithm.
  const digest = textOf(whole.digest)
    .toLowerCase()
    .replace(/^sha256:/, '');
  if (digest !== '' && !/^[0-9a-f]{64}$/.test(digest))
    throw unreadable(where, `its digest of version ${version} of chart ${chart} is not a SHA-256`);
  return { name: chart, version, url, digest: digest === '' ? undefined : digest };
}

/** A string field: Helm accepts a version such as 1.0 written as a number. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function parsedJson(index: Buffer, where: string): unknown {
  try {
    return JSON.parse(index.toString('utf8'));
  } catch (caught) {
    throw unreadable(where, 'it is not JSON', caught);
  }
}

async function parsedYaml(text: string, where: string): Promise<unknown> {
  try {
    const limits = { what: 'it', characters: maxYaml, depth: 50, size: 4 * maxYaml, lenient: true };
    return JSON.parse((await yamlToJson(text, limits)) || 'null');
  } catch (caught) {
    throw unreadable(where, caught instanceof Error ? caught.message : String(caught), caught);
  }
}

function unreadable(where: string, why: string, cause?: unknown): TransferError {
  return new TransferError('permanent', `The index ${where} cannot be used: ${why}.`, { cause });
}

function missing(chart: string, where: string): TransferError {
  return new TransferError('permanent', `Chart ${chart} is not in the index ${where}: check spec.chart.`);
}

/**
 * Cuts the versions of `chart` out of an index in block style, as written by Helm and common servers. Empty if the chart is missing, undefined
 * if the index has another style. Nested values cannot be mistaken for fields, because they are indented further.
 */
function cutEntries(index: Buffer, chart: string): IndexEntry[] | undefined {
  const head = 'entries:';
  const start = index.toString('latin1', 0, head.length) === head ? 0 : index.indexOf(`\n${head}`) + 1;
  const first = nextLine(index, lineEnd(index, start));
  if (!first || first.indent === 0 || !/:$/.test(first.text)) return undefined;
  const key = [chart, `"${chart}"`, `'${chart}'`]
    .map((form) => index.indexOf(`\n${' '.repeat(first.indent)}${form}:`, lineEnd(index, start) - 1))
    .filter((at) => at !== -1)[0];
  if (key === undefined) return [];
  const from = lineEnd(index, key + 1);
  if (!/:\s*$/.test(index.toString('utf8', key, Math.min(from, key + 500)))) return undefined;
  const block = index.toString('utf8', from, blockEnd(index, from, first.indent));
  const indent = /^( *)- /m.exec(block)?.[1]?.length;
  if (indent === undefined) return undefined;
  const items = block.split(new RegExp(`^ {${indent}}- `, 'm')).slice(1);
  const entries = items.map((item) => entryOf(`${' '.repeat(indent + 2)}${item}`, indent + 2));
  return entries.every((entry) => entry !== undefined) ? entries : undefined;
}

/** Reads the fields that select a version from the lines of an entry, whose fields have `indent`. */
function entryOf(content: string, indent: number): IndexEntry | undefined {
  const field = (name: string): string | undefined => {
    const line = new RegExp(`^ {${indent}}${name}: +(.*)$`, 'm').exec(content)?.[1]?.trimEnd();
    // The pattern takes quadratic time in the length of a line.
    if (line === undefined || line.length > maxFieldLength) return undefined;
    const [, double, single, plain] =
      /^(?:"([^"\\]*)"|'([^']*)'|([^\s"'#&*!|>{[][^#]*?))(?:\s+#.*)?$/.exec(line) ?? [];
    return double ?? single ?? plain;
  };
  const version = field('version');
  if (version === undefined) return undefined;
  return {
    version,
    deprecated: field('deprecated') === 'true',
    removed: field('removed') === 'true',
    content,
  };
}

/** The end of the list below a key with `indent`: the first line with less indent, or with the same indent and no dash. */
function blockEnd(index: Buffer, from: number, indent: number): number {
  for (let line = nextLine(index, from); line; line = nextLine(index, line.end))
    if (line.indent < indent || (line.indent === indent && !line.text.startsWith('- '))) return line.at;
  return index.length;
}

/** The end of the line at `at`, including its newline. */
function lineEnd(index: Buffer, at: number): number {
  const newline = index.indexOf(10, at);
  return newline === -1 ? index.length : newline + 1;
}

interface Line {
  at: number;
  end: number;
  indent: number;
  /** The start of its text. */
  text: string;
}

/** The next line from `at` that is not empty or a comment; undefined at the end. */
function nextLine(index: Buffer, at: number): Line | undefined {
  for (let from = at; from < index.length; ) {
    const end = lineEnd(index, from);
    let content = from;
    while (index[content] === 0x20) content += 1;
    const text = index.toString('latin1', content, Math.min(end, content + 200)).trimEnd();
    if (text !== '' && !text.startsWith('#')) return { at: from, end, indent: content - from, text };
    from = end;
  }
  return undefined;
}
