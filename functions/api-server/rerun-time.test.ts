import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';

const collection = '/apis/arc.opendefense.cloud/v1alpha1/namespaces/team';
const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const present = Date.parse('2026-01-02T03:00:00Z') / 1000;

let server: ArcServer;
let clock: Date;
beforeAll(async () => {
  server = await startArcServer({ now: () => clock });
});
afterAll(() => server.close());

const call = (method: string, at: string, body?: object) => server.call(method, `${collection}/${at}`, body);

const annotated = (name: 'force-at' | 'retry-at', time: number) => ({
  metadata: { annotations: { [`arc.opendefense.cloud/${name}`]: String(time) } },
});

describe.each([
  ['Order', 'orders', {}],
  ['ArtifactWorkflow', 'artifactworkflows', { workflowTemplateRef: { name: 'arc-oci-image' } }],
] as const)('a time to run again of an %s', (kind, plural, spec) => {
  const fresh = async (name: string, metadata: object = {}) => {
    clock = new Date(present * 1000);
    return call('POST', plural, { apiVersion, kind, metadata: { name, ...metadata }, spec });
  };

  it.each(['force-at', 'retry-at'] as const)(
    'is refused in the future, with the value, the time of the server and what to do: %s',
    async (name) => {
      await fresh(`late-${name}`);
      const { status, body } = await call(
        'PATCH',
        `${plural}/late-${name}`,
        annotated(name, present + 3_600),
      );
      expect(status).toBe(422);
      expect(body.message).toBe(
        `${kind}.arc.opendefense.cloud "late-${name}" is invalid: metadata.annotations[arc.opendefense.cloud/${name}]: ` +
          `Invalid value: "${present + 3_600}": is 3600 s in the future: the server's time is ${present} (2026-01-02T03:00:00Z); ` +
          'set the present time in Unix seconds, as date +%s prints it',
      );
      const created = await fresh(`born-${name}`, annotated(name, present + 61).metadata);
      expect(created.status).toBe(422);
    },
  );

  it('may be a minute ahead, because clocks differ', async () => {
    await fresh('skewed');
    expect((await call('PATCH', `${plural}/skewed`, annotated('retry-at', present + 61))).status).toBe(422);
    expect((await call('PATCH', `${plural}/skewed`, annotated('retry-at', present + 60))).status).toBe(200);
    expect((await call('PATCH', `${plural}/skewed`, annotated('force-at', present - 60))).status).toBe(200);
  });

  it('is checked when it changes, and never while the object is being deleted', async () => {
    await fresh('kept', { finalizers: ['test.example.com/held'] });
    const at = `${plural}/kept`;
    expect((await call('PATCH', at, annotated('force-at', present))).status).toBe(200);
    clock = new Date((present - 3_600) * 1000);
    expect((await call('PATCH', at, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
    expect((await call('PATCH', at, annotated('force-at', present + 1))).status).toBe(422);
    await call('DELETE', at);
    expect((await call('PATCH', at, annotated('force-at', present + 1))).status).toBe(200);
    expect((await call('PATCH', at, { metadata: { finalizers: null } })).status).toBe(200);
    expect((await call('GET', at)).status).toBe(404);
  });
});
