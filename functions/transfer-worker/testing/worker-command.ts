import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { withWorker } from '../../../scripts/standalone/worker-program.ts';

let command: Promise<readonly string[]> | undefined;

/** Returns the command that the standalone starts the worker with, which starts in a third of the time that the sources need. */
export function workerCommand(): Promise<readonly string[]> {
  command ??= bundled();
  return command;
}

async function bundled(): Promise<readonly string[]> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'arc-worker-program-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { prepared = [] } = await withWorker({}, folder, pino({ level: 'silent' }));
  return prepared;
}
