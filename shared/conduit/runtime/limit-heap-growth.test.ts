import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** Keeps 20 MB alive while it makes ten times as much garbage that lives for a while; prints the largest heap in MB. */
const churn = `
const live = Array.from({ length: 200_000 }, (_, index) => ({ index, text: 'x'.repeat(index % 7) + index }));
const passing = [];
let largest = 0;
for (let round = 0; round < 2_000_000; round++) {
  passing[round % 100_000] = { round, text: 'y' + round, more: [round] };
  if (round % 10_000 === 0) largest = Math.max(largest, process.memoryUsage().heapTotal);
}
console.log(Math.round(largest / 1e6), live.length);
`;

async function largestHeap(prelude: string): Promise<number> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', `${prelude}\n${churn}`]);
  return Number(stdout.split(' ')[0]);
}

describe('limitHeapGrowth', () => {
  it('makes a busy process smaller than one without it', async () => {
    const file = path.join(import.meta.dirname, 'limit-heap-growth.ts');
    const limited = `import { limitHeapGrowth } from ${JSON.stringify(file)}; limitHeapGrowth();`;
    expect(await largestHeap(limited)).toBeLessThan(await largestHeap(''));
  });
});
