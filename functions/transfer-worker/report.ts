import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { printableJson } from '#shared/errors';
import type { CopyResult, FailureReason } from '#shared/transfer';

/** What the worker says in the end, as one line of JSON. */
export type Outcome =
  | ({ outcome: 'succeeded' } & CopyResult)
  | { outcome: 'failed'; reason: FailureReason; message: string };

export interface ReportTargets {
  resultFile: string;
  /** Undefined: Kubernetes' own place, if there is one. */
  terminationLog: string | undefined;
  print: (line: string) => void;
  warn: (line: string) => void;
}

const kubernetesLog = '/dev/termination-log';
// What the kubelet keeps of a termination message.
const longestTermination = 4096;

/** Tells the outcome everywhere it is looked for; the result is the last line printed. A place that is full is warned of. */
export async function report(outcome: Outcome, targets: ReportTargets): Promise<void> {
  const line = printableJson(JSON.stringify(outcome));
  await tryWrite(targets.resultFile, line, targets.warn);
  const log = targets.terminationLog ?? (existsSync(kubernetesLog) ? kubernetesLog : undefined);
  if (log !== undefined && outcome.outcome === 'failed')
    await tryWrite(log, cut(outcome.message), targets.warn);
  targets.print(line);
}

function cut(message: string): string {
  const bytes = Buffer.from(message);
  return bytes.length <= longestTermination
    ? message
    : bytes
        .subarray(0, longestTermination)
        .toString('utf8')
        .replace(/\uFFFD+$/, '');
}

async function tryWrite(file: string, text: string, warn: (line: string) => void): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (caught) {
    warn(`${file} was not written: ${caught instanceof Error ? caught.message : String(caught)}`);
  }
}
