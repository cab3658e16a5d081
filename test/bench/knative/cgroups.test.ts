import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findPodsRoot, readPods, readSeconds } from './cgroups.ts';

const uid = '5ea24219-965f-4a78-a639-c39b8835c42d';
const other = 'c0ef4547-47c5-46e2-bd0f-115f61010340';
const id = 'a'.repeat(64);
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-cgroups-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function write(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
}

it('reads pods and containers of cgroups v1, made by kubelet itself', async () => {
  await write('cpuacct/kubepods/cpuacct.usage', '9000000000\n');
  await write(`cpuacct/kubepods/pod${other}/cpuacct.usage`, '500000000\n');
  await write(`cpuacct/kubepods/burstable/pod${uid}/cpuacct.usage`, '2000000000\n');
  await write(`cpuacct/kubepods/burstable/pod${uid}/${id}/cpuacct.usage`, '1250000000\n');
  const root = findPodsRoot(folder) ?? '';
  expect(readSeconds(root)).toBe(9);
  expect(readPods(root)).toEqual(
    new Map([
      [uid, { seconds: 2, containers: new Map([[id, 1.25]]) }],
      [other, { seconds: 0.5, containers: new Map() }],
    ]),
  );
});

it('reads those of cgroups v2, made by systemd', async () => {
  const pod = `kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`;
  await write('kubepods.slice/cpu.stat', 'usage_usec 3000000\nuser_usec 1\n');
  await write(`${pod}/cpu.stat`, 'usage_usec 2000000\n');
  await write(`${pod}/cri-containerd-${id}.scope/cpu.stat`, 'usage_usec 1000000\n');
  const root = findPodsRoot(folder) ?? '';
  expect(readSeconds(root)).toBe(3);
  expect(readPods(root)).toEqual(new Map([[uid, { seconds: 2, containers: new Map([[id, 1]]) }]]));
});

it('reports nothing on a machine without pods, or for a pod that is gone', () => {
  expect(findPodsRoot(folder)).toBeUndefined();
  expect(readPods(path.join(folder, 'kubepods'))).toEqual(new Map());
  expect(readSeconds(path.join(folder, 'kubepods'))).toBeUndefined();
});
