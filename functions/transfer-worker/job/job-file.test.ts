import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJob } from './job-file.ts';

describe('readJob', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'arc-job-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('reports a missing file as a Secret that is not mounted', async () => {
    const message = expect.stringMatching(/^Cannot read the job: ENOENT.*mounted at .*ARC_CONFIG_DIR/);
    await expect(readJob(folder)).rejects.toMatchObject({ reason: 'config', message });
  });

  it('rejects a file that is not a Job with the reason config', async () => {
    await writeFile(path.join(folder, 'job.json'), '{}');
    const message = expect.stringContaining('artifact must be an object');
    await expect(readJob(folder)).rejects.toMatchObject({ reason: 'config', message });
  });
});
