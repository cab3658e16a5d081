import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { bytesText } from '#shared/base/errors';
import { TransferError, throwIfAborted } from '../errors/transfer-error.ts';
import { describedIn } from './sbom.ts';
import { parseReport, type ScanReport } from './scan-report.ts';

/** The reports of the operator's scanners about an artifact. */
export interface Reports {
  scans: readonly ReportFile[];
  /** Digests of manifests or configs that SBOMs describe. */
  described: ReadonlySet<string>;
}

export interface ReportFile extends ScanReport {
  file: string;
}

export const noReports: Reports = { scans: [], described: new Set() };

const maxFiles = 1000;
const maxFileBytes = 64 * 1024 * 1024;

/**
 * Reads the JSON files of a folder: reports of Trivy and Grype, and SBOMs. Other files are ignored; an image without a report counts as not
 * scanned. Rejects with a TransferError for a file that is too large or incomplete.
 */
export async function readReports(folder: string, signal: AbortSignal): Promise<Reports> {
  const scans: ReportFile[] = [];
  const described = new Set<string>();
  for (const name of await namesIn(folder)) {
    throwIfAborted(signal);
    const file = path.join(folder, name);
    const value = await readReport(file);
    const report = parseReport(value);
    if (report !== undefined) scans.push({ ...report, file });
    for (const digest of describedIn(value) ?? []) described.add(digest);
  }
  return { scans, described };
}

async function namesIn(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (caught) {
    throw unusable(folder, caught instanceof Error ? caught.message : String(caught), caught);
  }
  const found = names.filter((name) => name.endsWith('.json')).toSorted();
  if (found.length > maxFiles) throw unusable(folder, `it has more than ${maxFiles} JSON files`);
  return found;
}

/** Links and pipes are refused: the scanner must not choose what else the worker reads. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Parses one report file. Rejects with a TransferError. */
export async function readReport(file: string): Promise<unknown> {
  const text = await readText(file);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    throw unusable(file, 'it is not JSON');
  }
}

async function readText(file: string): Promise<string> {
  let why: string;
  let cause: unknown;
  try {
    await using handle = await open(file, openFlags);
    const found = await handle.stat();
    if (found.isFile() && found.size <= maxFileBytes) return await handle.readFile('utf8');
    why = found.isFile() ? `it has more than ${bytesText(maxFileBytes)}` : 'it is not a file';
  } catch (caught) {
    why = caught instanceof Error ? caught.message : String(caught);
    cause = caught;
  }
  throw unusable(file, why, cause);
}

function unusable(what: string, why: string, cause?: unknown): TransferError {
  return new TransferError(
    'config',
    `The reports of the scanner cannot be read, so nothing is moved: ${what}: ${why}.`,
    { cause },
  );
}
