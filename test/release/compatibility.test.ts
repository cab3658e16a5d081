import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startRegistryProcess } from '../fixtures/image/registry-tools.ts';
import { transferJudges } from '../fixtures/judges/transfer-judges.ts';
import { serverPrograms } from '../fixtures/servers/programs.ts';
import { cases } from './compatibility/cases.ts';
import { digestAt, type Ground, groundIn, seedBase } from './compatibility/ground.ts';
import { compatibilityPage, type Outcome } from './compatibility/page.ts';
import { type RunningRegistry, registries } from './compatibility/registries.ts';
import { toolVersions } from './compatibility/versions.ts';

const folderOfTools = transferJudges();
const isReady =
  folderOfTools !== undefined &&
  serverPrograms() !== undefined &&
  existsSync(path.join(folderOfTools, 'ocimem')) &&
  ['podman', 'buildah', 'containerd'].every((program) => existsSync(`/usr/bin/${program}`));
if (!isReady)
  console.log(
    'skipped: the page about compatibility needs what .ci/registry-tools/build.sh and .ci/transfer-judges/build.sh make, and skopeo, docker-registry, podman, buildah and containerd',
  );
const tools = folderOfTools ?? '';
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const names = Object.keys(registries);
const combinations = names.flatMap((registry) => cases.map((each) => ({ registry, ...each })));

describe.skipIf(!isReady)('what other tools make is moved, and they read it', () => {
  let folder = '';
  let base: RunningRegistry;
  const running = new Map<string, RunningRegistry>();
  const outcomes: Outcome[] = [];
  const host = (name: string) => running.get(name)?.host ?? '';
  const ground = () => groundIn(folder, tools, base.host, names.map(host));

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-compatibility-'));
    base = await startRegistryProcess(tools);
    for (const name of names) running.set(name, await (registries[name]?.(tools) ?? Promise.reject(name)));
    // Its files are beside those of the cases, which add layers of them.
    const seeding = await ground();
    await seedBase({ ...seeding, folder });
  });
  afterAll(async () => {
    const page = process.env.ARC_COMPATIBILITY;
    if (page && outcomes.length === combinations.length)
      await writeFile(page, compatibilityPage(outcomes, names, await toolVersions(readFile)));
    await Promise.all([base, ...running.values()].map((each) => each?.stop()));
    if (folder !== '') await rm(folder, { recursive: true });
  });

  it.each(combinations)('$tool, $format, $registry', async ({ registry, ...each }) => {
    const { tool, format, write, read } = each;
    const repository = `${tool}/${format}`.toLowerCase().replace(/[^a-z/]+/g, '-');
    const next = names[(names.indexOf(registry) + 1) % names.length] ?? '';
    const [from, to] = [`${host(registry)}/from/${repository}:1`, `${host(next)}/to/${repository}:1`];
    const at = await ground();
    const move = each.move ?? copy;
    const outcome: Outcome = { tool, format, registry, failure: 'it was not tried' };
    outcomes.push(outcome);
    try {
      await write(at, from);
      await move(at, from, to);
      await read(at, to);
      outcome.failure = undefined;
    } catch (caught) {
      outcome.failure = String(caught).split('\n')[0]?.slice(0, 200);
      throw caught;
    }
  });
});

async function copy(ground: Ground, from: string, to: string): Promise<void> {
  await ground.arc('copy', from, to);
  expect(await digestAt(ground, to)).toBe(await digestAt(ground, from));
}
