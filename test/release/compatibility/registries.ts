import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startRegistry } from '#shared/local';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { startRegistryProcess } from '../../fixtures/image/registry-tools.ts';
import { freePorts, start } from '../../fixtures/program.ts';

export interface RunningRegistry {
  host: string;
  stop(): Promise<void>;
}

/** The registries of the page, by the names of its columns. */
export const registries: Readonly<Record<string, (tools: string) => Promise<RunningRegistry>>> = {
  'distribution 2': startDebianRegistry,
  'distribution 3': (tools) => startRegistryProcess(tools),
  'go-containerregistry': (tools) =>
    startPrinting(path.join(tools, 'crane'), ['registry', 'serve', '--address', '127.0.0.1:0']),
  'CUE ociregistry': (tools) => startPrinting(path.join(tools, 'ocimem'), []),
  ARC: async () => {
    const registry = await startRegistry();
    return { host: registry.host, stop: () => registry.close() };
  },
};

async function startDebianRegistry(): Promise<RunningRegistry> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-registry-'));
  const [port] = await freePorts(1);
  const host = `127.0.0.1:${port}`;
  const config = path.join(folder, 'config.yml');
  const storage = `{ filesystem: { rootdirectory: '${folder}/data' } }`;
  await writeFile(config, `version: 0.1\nstorage: ${storage}\nhttp: { addr: '${host}' }\n`);
  const program = start('/usr/bin/docker-registry', ['serve', config]);
  const stop = async () => {
    await program.stop();
    await rm(folder, { recursive: true, force: true });
  };
  await eventually('the registry to answer', 10_000, async () => {
    program.mustRun();
    await fetch(`http://${host}/v2/`);
  });
  return { host, stop };
}

/** Of a program that prints where it listens. */
async function startPrinting(command: string, args: readonly string[]): Promise<RunningRegistry> {
  const program = start(command, args);
  let port = '';
  await eventually('the registry to say where it listens', 10_000, () => {
    program.mustRun();
    port =
      /(?:127\.0\.0\.1|\[::\]|port):? ?(\d+)/.exec(program.output.stdout + program.output.stderr)?.[1] ?? '';
    if (port === '') throw new Error(program.output.stderr);
  });
  return { host: `127.0.0.1:${port}`, stop: async () => void (await program.stop()) };
}
