import path from 'node:path';

/** The transfer-worker's image, run from source by this very Node. */
export function workerProgram(): Record<string, string[]> {
  const main = path.resolve(import.meta.dirname, '../../functions/transfer-worker/main.ts');
  return { 'arc/transfer-worker:*': [process.execPath, main] };
}
