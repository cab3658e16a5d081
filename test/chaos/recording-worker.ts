/**
 * The transfer-worker under observation: before it starts it takes a lock named after its artifact, and it says so in
 * `overlaps.log` when a process that still lives holds that lock. Run by the standalone in place of the real program.
 */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const folder = process.argv[2] ?? '';
const job = JSON.parse(readFileSync(path.join(process.env.ARC_CONFIG_DIR ?? '', 'job.json'), 'utf8'));
const name = String(job.artifact.spec.override).replace(/\W/g, '-');
const lock = path.join(folder, `${name}.lock`);

const holder = holderOf(lock);
if (holder !== undefined)
  appendFileSync(path.join(folder, 'overlaps.log'), `${name}: ${holder} and ${process.pid}\n`);
appendFileSync(path.join(folder, 'runs.log'), `${name}\n`);
writeFileSync(lock, String(process.pid));
process.on('exit', () => rmSync(lock, { force: true }));

await import('../../functions/transfer-worker/main.ts');

/** The process that holds the lock; a lock whose process is gone was left by a kill -9. */
function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined; // no lock, or nobody with that id any more
  }
}
