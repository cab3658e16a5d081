import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { printableJson } from '#shared/base/errors';
import type { BatchItems, BatchResult, CopyResult, FailureReason } from '#shared/transfer';

/** The last line that the worker prints, as JSON. */
export type Outcome =
  | ({ outcome: 'succeeded'; policies?: AppliedPolicy[] } & (CopyResult | BatchResult))
  | {
      outcome: 'failed';
      reason: FailureReason;
      message: string;
      policies?: AppliedPolicy[];
      items?: BatchItems;
    };

/** The origin of a policy and the SHA-256 of its text. */
interface AppliedPolicy {
  from: string;
  digest: string;
}

export interface ReportTargets {
  resultFile: string;
  /** Undefined: Kubernetes' default file, if it exists. */
  terminationLog: string | undefined;
  print: (line: string) => void;
  warn: (line: string) => void;
}

const defaultTerminationLog = '/dev/termination-log';
// The kubelet's limit for a termination message.
const maxTerminationBytes = 4096;

/** Writes the outcome to the result file, a failure also to the termination log, and prints it. A file that cannot be written causes a warning. */
export async function report(outcome: Outcome, targets: ReportTargets): Promise<void> {
  const line = printableJson(JSON.stringify(outcome));
  await tryWrite(targets.resultFile, line, targets.warn);
  const log =
    targets.terminationLog ?? (existsSync(defaultTerminationLog) ? defaultTerminationLog : undefined);
  if (log !== undefined && outcome.outcome === 'failed')
    await tryWrite(log, cut(outcome.message), targets.warn);
  targets.print(line);
}

function cut(message: string): string {
  const bytes = Buffer.from(message);
  return bytes.length <= maxTerminationBytes
    ? message
    : bytes
        .subarray(0, maxTerminationBytes)
        .toString('utf8')
        .replace(/\uFFFD+$/, '');
}

async function tryWrite(file: string, text: string, warn: (line: string) => void): Promise<void> {
  try {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (caught) {
    warn(`cannot write ${file}: ${caught instanceof Error ? caught.message : String(caught)}`);
  }
}
