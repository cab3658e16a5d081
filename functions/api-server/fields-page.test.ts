import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseManifests } from '#shared/local';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';
import { create, manifestsOf, readPage } from './testing/pages.ts';

const page = await readPage('docs/fields.md');

/** The manifests of the page, each with the message that rejects it according to the text before it. */
const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(({ 1: text = '', index }) => {
  const before = page.slice(0, index).trimEnd().split('\n\n').at(-1) ?? '';
  const [object] = parseManifests(text, 'docs/fields.md');
  if (object === undefined) throw new Error(`no manifest in ${text}`);
  return { object, refused: /is rejected with\s`([^`]+)`/.exec(before)?.[1] };
});
const actions = [...page.matchAll(/kubectl create --raw (\S+)/g)].map(([, at = '']) => at);

let server: ArcServer;
beforeAll(async () => {
  server = await startArcServer();
  for (const type of await manifestsOf('knative/base/artifact-types/oci.yaml')) await create(server, type);
});
afterAll(() => server.close());

describe('docs/fields.md', () => {
  it('has a manifest for every field of an Order that its life goes by', () => {
    const accepted = JSON.stringify(examples.filter(({ refused }) => refused === undefined));
    const fields = ['ttl', 'ttlSecondsAfterCompletion', 'cron', 'maxInFlight', 'parallelism', 'schema'];
    for (const field of [...fields, 'retry', 'suspend', 'cancel', 'verify']) {
      expect(accepted).toContain(`"${field}":`);
      expect(page).toMatch(new RegExp(`^## .*\`${field}\``, 'm'));
    }
    expect(actions.map((at) => path.basename(at))).toEqual(['retry', 'force', 'cancel']);
  });

  it('has only manifests that the API server takes, but for those that it says are refused', async () => {
    for (const { object, refused } of examples) {
      const { status, body, warnings } = await create(server, object);
      const { name } = object.metadata;
      expect([name, status, warnings]).toEqual([name, refused === undefined ? 201 : 422, undefined]);
      if (refused !== undefined) expect(body.message).toContain(refused);
    }
  });

  it('has requests for actions that the API server knows', async () => {
    for (const at of actions) expect((await server.call('POST', at, {})).status, at).toBe(201);
  });
});
