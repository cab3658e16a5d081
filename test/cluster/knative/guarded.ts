import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { transferPredicate } from '../../../shared/transfer/attest/statement.ts';
import { vulnerabilityPredicate } from '../../../shared/transfer/policy/scan-report.ts';
import { judgeBy, transferJudges } from '../../fixtures/judges/transfer-judges.ts';
import { ended } from './conduit.ts';
import type { Registries } from './images.ts';
import { apply, field, kubectl } from './kubectl.ts';
import { objects, orderOf } from './team.ts';
import { moved } from './types.ts';

const minutes = 60_000;
const volume = 'arc-team-bundles';
/** Versions of musl: the database of the scanner knows something of the first one. */
const [vulnerable, mended] = ['1.2.4-r1', '1.2.4-r3'];

const template = z.looseObject({
  kind: z.string(),
  spec: z.looseObject({
    templates: z.tuple([
      z.looseObject({
        containerSet: z.looseObject({ containers: z.array(z.looseObject({ name: z.string() })) }),
      }),
    ]),
  }),
});
const index = z.object({ manifests: z.array(z.looseObject({ digest: z.string() })) });
const attestation = z.looseObject({
  subject: z.looseObject({ digest: z.string() }),
  annotations: z.record(z.string(), z.string()),
});

/** Bundles on a volume, and a quarantine with Grype, by Argo's pods: crane says what has arrived. */
export function describeGuarded(registries: () => Registries): void {
  describe('bundles', { timeout: 8 * minutes }, () => {
    beforeAll(async () => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      await apply({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'bundle-keys', namespace: 'team' },
        stringData: {
          'sign.key': String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
          'trust.pub': String(publicKey.export({ format: 'pem', type: 'spki' })),
        },
      });
      // The volume keeps its data; the claim that had it last has to be forgotten.
      if ((await field('{.status.phase}', 'persistentvolume', volume)) === 'Released')
        await kubectl(
          ...['patch', 'persistentvolume', volume, '--type=merge'],
          '--patch={"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}',
        );
      await kubectl('apply', '-f', objects('bundles.yaml'));
    }, minutes);

    afterAll(async () => {
      await kubectl('delete', '-f', objects('bundles.yaml'), '--ignore-not-found');
      await kubectl('-n', 'team', 'delete', 'secret', 'bundle-keys', '--ignore-not-found');
    }, 2 * minutes);

    it('are written by one Order, and imported by another one', async () => {
      const { seed, digest, destination } = registries();
      const image = await seed('bundled/app', '1.0');
      // A bundle never changes, and the volume keeps those of earlier runs.
      const name = `release-${Date.now()}`;
      const contents = [{ image: 'bundled/app:1.0', override: 'carried/app' }];
      await moved('written', { type: 'bundle-export', dstRef: { name: 'disk' }, spec: { name, contents } });
      await moved('imported', { type: 'bundle-import', srcRef: { name: 'disk' }, spec: { name } });
      expect(await digest(`${destination}/mirror/carried/app:1.0`)).toBe(image);
    });
  });

  describe('a quarantine', { timeout: 8 * minutes }, () => {
    const component = 'knative/components/quarantine';
    beforeAll(async () => {
      const database = await mirroredDatabase(registries());
      const installed = template.parse(parse(await readFile(`${component}/template.yaml`, 'utf8')));
      const [{ containerSet }] = installed.spec.templates;
      containerSet.containers = containerSet.containers.map((one) => ({
        ...one,
        ...(one.name === 'scan'
          ? { image: 'dev.local/scanner:test', env: [{ name: 'GRYPE_DB_URL', value: database }] }
          : { image: 'dev.local/artifact-conduit:dev' }),
      }));
      await apply(installed);
      const type = z
        .looseObject({ spec: z.looseObject({}) })
        .parse(parse(await readFile(`${component}/oci-quarantine.yaml`, 'utf8')));
      // Of the team, so that it goes with its namespace.
      await apply({ ...type, kind: 'ArtifactType', metadata: { name: 'oci-quarantine', namespace: 'team' } });
    }, 3 * minutes);

    afterAll(async () => {
      await kubectl('delete', 'clusterworkflowtemplate', 'arc-oci-quarantine', '--ignore-not-found');
      await kubectl('-n', 'team', 'delete', 'artifacttype', 'oci-quarantine', '--ignore-not-found');
    }, minutes);

    it('moves on what was scanned, with an attestation', async () => {
      const { seedAlpine, digest, manifest, destination } = registries();
      const image = await seedAlpine('scanned/app', '1.0', mended);
      await moved('scanned', { type: 'oci-quarantine', spec: { image: 'scanned/app:1.0' } });
      const landed = `${destination}/mirror/scanned/app`;
      expect(await digest(`${landed}:1.0`)).toBe(image);
      // This registry has no API for referrers: they are listed under a tag.
      const { manifests } = index.parse(JSON.parse(await manifest(`${landed}:${image.replace(':', '-')}`)));
      const attached = await Promise.all(
        manifests.map(async (one) =>
          attestation.parse(JSON.parse(await manifest(`${landed}@${one.digest}`))),
        ),
      );
      const said = attached.map(({ subject, annotations }) => [
        subject.digest,
        annotations['in-toto.io/predicate-type'],
      ]);
      expect(said).toContainEqual([image, transferPredicate]);
      expect(said).toContainEqual([image, vulnerabilityPredicate]);
    });

    it('holds back what the policy denies, and writes nothing of it', async () => {
      const { seedAlpine, digest, destination } = registries();
      await seedAlpine('scanned/bad', '1.0', vulnerable);
      await apply(orderOf('denied', [{ type: 'oci-quarantine', spec: { image: 'scanned/bad:1.0' } }]));
      expect(await ended('team', 'denied')).toBe('Failed');
      expect(await field('{.status.artifactWorkflows}', '-n', 'team', 'order', 'denied')).toContain(
        'more than 0: CVE-2024-0001 (grype)',
      );
      await expect(digest(`${destination}/mirror/scanned/bad:1.0`)).rejects.toThrow();
      await kubectl('-n', 'team', 'delete', 'order', 'denied');
    });
  });
}

const layers = z.object({ layers: z.tuple([z.object({ digest: z.string() })]) });

/** Pushes a database of Grype to the source and has an Order bring it to the destination; resolves with where pods find it there. */
async function mirroredDatabase({ source, destination, manifest }: Registries): Promise<string> {
  const tools = transferJudges() ?? '';
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-grype-'));
  try {
    const env = { home: folder, DOCKER_CONFIG: process.env.DOCKER_CONFIG ?? '' };
    const known = ['musl', '< 1.2.4-r2', 'CVE-2024-0001', 'critical'];
    await judgeBy(tools, ['grype-db', path.join(folder, 'db'), ...known], env);
    const tar = path.join(folder, 'db.tar.gz');
    await promisify(execFile)('tar', ['-czf', tar, '-C', path.join(folder, 'db'), '.']);
    const push = ['push', '--plain-http', '--disable-path-validation', `${source}/grype/db:6`, tar];
    await judgeBy(tools, ['oras', ...push], env);
  } finally {
    await rm(folder, { recursive: true });
  }
  await moved('database', { type: 'oci', spec: { image: 'grype/db:6' } });
  const [{ digest }] = layers.parse(JSON.parse(await manifest(`${destination}/mirror/grype/db:6`))).layers;
  return `http://destination.registries.svc:5000/v2/mirror/grype/db/blobs/${digest}`;
}
