import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { parseManifests } from '#shared/local';

const assets = process.env.KUBEBUILDER_ASSETS;
const run = promisify(execFile);
const minutes = 60_000;
const components = (await readdir('knative/components')).toSorted();

const kustomization = z.looseObject({
  resources: z.array(z.string()),
  components: z.array(z.string()).default([]),
});
const bridge = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z.tuple([z.object({ env: z.array(z.looseObject({ name: z.string() })) })]),
      }),
    }),
  }),
});

/** A component that takes a feature away. */
const isSwitch = (name: string) => name.startsWith('no-');

/** Every pair of components, and all of them, made in a copy of each overlay as knative/README.md says to. */
describe.skipIf(!assets)('the components of knative/', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'arc-components-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** What is there: every object, and every variable of the bridge, which several components set. Rejects unless each is there once. */
  async function render(overlay: string, chosen: readonly string[]): Promise<Set<string>> {
    const own = path.resolve('knative/overlays', overlay);
    const copy = path.join(folder, [overlay, ...chosen].join('-'));
    await cp(own, copy, { recursive: true });
    const file = path.join(copy, 'kustomization.yaml');
    const from = (base: string) => (place: string) =>
      place.startsWith('..') ? path.relative(copy, path.resolve(base, place)) : place;
    const text = kustomization.parse(parse(await readFile(file, 'utf8')));
    const places = chosen.map((name) => `../../components/${name}`);
    const added = places.filter((place) => !text.components.includes(place)).map(from(own));
    const resources = text.resources.map(from(own));
    await writeFile(
      file,
      stringify({ ...text, resources, components: [...text.components.map(from(own)), ...added] }),
    );
    const options = { maxBuffer: 16 * 1024 * 1024 };
    const { stdout } = await run(path.join(assets ?? '', 'kubectl'), ['kustomize', copy], options);
    const facts = parseManifests(stdout, copy).flatMap((one) => {
      const { kind, metadata } = one;
      const isBridge = kind === 'Deployment' && metadata.name === 'watch-bridge';
      const env = isBridge ? bridge.parse(one).spec.template.spec.containers[0].env : [];
      return [
        `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
        ...env.map((each) => JSON.stringify(each)),
      ];
    });
    expect(facts.filter((fact, index) => facts.indexOf(fact) !== index)).toEqual([]);
    return new Set(facts);
  }

  it.each(['dev', 'production'])(
    'can be chosen together over %s, and each does what it does alone',
    async (overlay) => {
      const none = await render(overlay, []);
      const effects = new Map<string, { adds: Set<string>; drops: Set<string> }>();
      const all = await render(
        overlay,
        components.filter((name) => !isSwitch(name)),
      );
      for (const name of components) {
        const alone = await render(overlay, [name]);
        // What is switched off goes, whichever component has brought it.
        const whole = isSwitch(name) ? all : none;
        const rest = isSwitch(name)
          ? await render(overlay, [...components.filter((one) => !isSwitch(one)), name])
          : alone;
        effects.set(name, { adds: alone.difference(none), drops: whole.difference(rest) });
      }
      const pairs = components.flatMap((one, index) =>
        components.slice(index + 1).map((other) => [one, other]),
      );
      await inTurn(2, [...pairs, components], async (chosen) => {
        let expected = none;
        for (const name of chosen.toSorted((a, b) => Number(isSwitch(a)) - Number(isSwitch(b)))) {
          const { adds, drops } = effects.get(name) ?? { adds: new Set(), drops: new Set() };
          expected = expected.difference(drops).union(adds);
        }
        expect([...(await render(overlay, chosen))].toSorted(), chosen.join(' ')).toEqual(
          [...expected].toSorted(),
        );
      });
    },
    10 * minutes,
  );
});

async function inTurn<T>(at: number, items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: at }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
