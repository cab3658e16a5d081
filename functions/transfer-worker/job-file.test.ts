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

  it('says that nothing is mounted where there is no file', async () => {
    const message = expect.stringMatching(/^There is no job to do: ENOENT.*mounted at .*ARC_CONFIG_DIR/);
    await expect(readJob(folder)).rejects.toMatchObject({ reason: 'config', message });
  });

  it('fails as a mistake of configuration where the file is no Job', async () => {
    await writeFile(path.join(folder, 'job.json'), '{}');
    const message = expect.stringContaining('artifact must be an object');
    await expect(readJob(folder)).rejects.toMatchObject({ reason: 'config', message });
  });
});
