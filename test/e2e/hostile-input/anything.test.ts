import { describe, expect, it } from 'vitest';
import { anyCharacter, fc, runs } from '#shared/base/testing';
import type { Answer } from '../../fixtures/http/raw-http.ts';
import { attacked, orders, refused } from './attacked.ts';

const server = attacked();

describe('anything', () => {
  const kinds = [
    ['arc.opendefense.cloud/v1alpha1', 'Order', 'orders'],
    ['arc.opendefense.cloud/v1alpha1', 'Endpoint', 'endpoints'],
    ['arc.opendefense.cloud/v1alpha1', 'ArtifactType', 'artifacttypes'],
    ['argoproj.io/v1alpha1', 'Workflow', 'workflows'],
    ['v1', 'Secret', 'secrets'],
  ] as const;
  const words = [
    ...[
      'artifacts',
      'srcRef',
      'dstRef',
      'name',
      'type',
      'spec',
      'defaults',
      'cron',
      'schedules',
      'retry',
      'limit',
    ],
    ...[
      'remoteURL',
      'usage',
      'tls',
      'secretRef',
      'rules',
      'srcTypes',
      'parameters',
      'value',
      'workflowTemplateRef',
    ],
    ...[
      'data',
      'stringData',
      'templates',
      'entrypoint',
      'arguments',
      'ttl',
      'status',
      '__proto__',
      'constructor',
    ],
  ];
  const field = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...words) }, fc.string({ maxLength: 5 }));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.oneof(
        fc.string(),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom('{{x}}', '0', '-1s', 'a b'),
      ),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(field, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const meta = fc.oneof(
    tree,
    fc.dictionary(fc.constantFrom('labels', 'annotations', 'finalizers', 'uid'), tree),
  );

  const settled = (answer: Answer, codes: number[]) => {
    expect(codes).toContain(answer.code);
    if (answer.code >= 400) refused(answer, answer.code);
  };

  it.each(kinds)(
    'that is posted or patched as %s %s gets an answer that fits',
    async (apiVersion, kind, plural) => {
      const path = `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/default/${plural}`;
      await fc.assert(
        fc.asyncProperty(tree, tree, meta, async (spec, rest, metadata) => {
          const named = {
            generateName: 'fuzz-',
            ...(typeof metadata === 'object' ? metadata : { labels: metadata }),
          };
          const others = typeof rest === 'object' ? rest : {};
          const body = JSON.stringify({ ...others, spec, apiVersion, kind, metadata: named });
          settled(await server.send('POST', path, { body }), [201, 400, 422]);
          const type = 'application/merge-patch+json';
          const target = `${path}/${kind === 'Order' ? 'target' : 'absent'}?dryRun=All`;
          settled(await server.send('PATCH', target, { body, type }), [200, 400, 404, 409, 422]);
        }),
        {
          numRuns: runs(60),
          examples: [[{ '\n': '\u009b1m' }, { '\u202e': 1 }, { labels: { '\n\0': '\r' } }]],
        },
      );
    },
  );

  it('in a query gets an answer that fits', async () => {
    const names = [
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'labelSelector',
      'fieldSelector',
    ];
    const parameter = fc.tuple(
      fc.constantFrom(...names, 'pretty', 'watch', 'sendInitialEvents', 'allowWatchBookmarks'),
      fc.oneof(
        fc.string(),
        fc.string({ unit: anyCharacter }),
        fc.constantFrom('1', 'true', 'a=b', 'a in (b)', 'Exact', '0'),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parameter, { maxLength: 3 }), async (parameters) => {
        const query = new URLSearchParams([['timeoutSeconds', '1'], ...parameters]);
        // A watch that is granted lasts its second: enough of those are elsewhere.
        if (query.get('watch')) query.set('resourceVersion', 'x');
        settled(await server.send('GET', `${orders}?${query}`), [200, 400, 410, 422, 504]);
      }),
      {
        numRuns: runs(150),
        examples: [[[['fieldSelector', '\n\u0000']]], [[['labelSelector', 'a\u009b in (\u202e']]]],
      },
    );
  });
});
