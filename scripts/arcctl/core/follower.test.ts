import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { orders } from '#shared/domain';
import { order } from '../../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { createProgram } from '../program.ts';
import { quietIo } from '../testing/quiet-io.ts';
import { createFollower } from './follower.ts';

describe('a cluster that is not there', () => {
  let folder: string;
  const kubeconfig = () => path.join(folder, 'kubeconfig');
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'arcctl-'));
    const named = (name: string, more: object) => [{ name, ...more }];
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'none',
      clusters: named('none', { cluster: { server: 'https://127.0.0.1:1' } }),
      users: named('none', { user: { token: 't' } }),
      contexts: named('none', { context: { cluster: 'none', user: 'none' } }),
    };
    await writeFile(kubeconfig(), JSON.stringify(config));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([[['watch']], [['events', '--follow']], [['wait', '--all', '--timeout', '1h']]])(
    'ends %j at once',
    async (args) => {
      const run = createProgram(quietIo({ env: { KUBECONFIG: kubeconfig() } }));
      await expect(run.parseAsync(['node', 'arcctl', ...args])).rejects.toMatchObject({
        code: 'ServiceUnavailable',
        message: expect.stringContaining('cannot reach the API server'),
      });
    },
  );
});

describe('a connection that is lost', () => {
  it('is told of once, and opened again', async () => {
    const api = new FakeApi([order('first', ['a:1'])]);
    let watches = 0;
    api.before = ({ verb }) => {
      watches += Number(verb === 'watch');
      if (verb === 'watch' && watches <= 2) throw new ArcError('ServiceUnavailable', 'the server restarts');
    };
    const told: string[] = [];
    await using follower = createFollower(api.client, new AbortController().signal, (text) =>
      told.push(text),
    );
    const seen = follower.follow(orders, { namespace: 'team' });
    while (!seen.synced) await follower.changed(0);
    api.put(order('second', ['a:1']));
    while (seen.values().length < 2) await follower.changed(0, 100);
    expect(told).toEqual(['the server restarts; retrying']);
  });
});
