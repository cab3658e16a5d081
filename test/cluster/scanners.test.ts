import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { type QuarantinePod, quarantinePod } from '../../functions/transfer-worker/testing/quarantine-pod.ts';
import { transferPredicate } from '../../shared/transfer/attest/statement.ts';
import { vulnerabilityPredicate } from '../../shared/transfer/policy/scan-report.ts';
import { pushAlpine } from '../fixtures/image/alpine-image.ts';
import { crane, type RegistryProcess, startRegistryProcess } from '../fixtures/image/registry-tools.ts';
import { judgeBy, transferJudges } from '../fixtures/judges/transfer-judges.ts';

const tools = transferJudges();
if (!tools)
  console.log('skipped: what Grype and Syft find needs REGISTRY_TOOLS with .ci/transfer-judges/build.sh');
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const script = path.resolve('knative/examples/scan-with-grype.sh');
const [vulnerable, mended] = ['1.2.4-r1', '1.2.4-r3'];
const noCritical = { vulnerabilities: { max: { critical: 0 }, maxAge: '1h' } };
const layoutIndex = z.object({ manifests: z.array(z.looseObject({ digest: z.string() })) });
const attached = z.looseObject({ annotations: z.record(z.string(), z.string()) });

describe.skipIf(!tools)('an image in quarantine, scanned by Grype itself', () => {
  let folder = '';
  let source: RegistryProcess;
  let destination: RegistryProcess;
  let pod: QuarantinePod;
  const inFolder = (name: string) => path.join(folder, name);
  const judge = (...command: [string, ...string[]]) => judgeBy(tools ?? '', command, { home: folder });

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-grype-'));
    source = await startRegistryProcess(tools ?? '');
    destination = await startRegistryProcess(tools ?? '');
    await judge('grype-db', inFolder('db'), 'musl', '< 1.2.4-r2', 'CVE-2024-0001', 'critical');
    await pushAlpine(tools ?? '', `${source.host}/team/old:1`, vulnerable);
    await pushAlpine(tools ?? '', `${source.host}/team/new:1`, mended);
  });
  afterAll(async () => {
    await Promise.all([source?.stop(), destination?.stop()]);
    if (folder !== '') await rm(folder, { recursive: true });
  });
  beforeEach(async () => {
    pod = await quarantinePod();
  });
  afterEach(() => pod.remove());

  const fetched = async (image: string, policy: object) => {
    await pod.order({
      artifact: { type: 'oci-quarantine', spec: { image: `${image}:1` } },
      source: { name: 'src', type: 'oci', remoteURL: `http://${source.host}` },
      destination: { name: 'dst', type: 'oci', remoteURL: `http://${destination.host}` },
      policy: JSON.stringify(policy),
      attest: true,
    });
    expect(await pod.step('quarantine')).toMatchObject({ exitCode: 0 });
  };
  /** As the container of the scanner runs it. */
  const scan = (database = inFolder('db')) =>
    promisify(execFile)('/bin/sh', [script], {
      env: {
        PATH: `${tools}:/usr/bin:/bin`,
        TMPDIR: folder,
        GRYPE_DB_CACHE_DIR: database,
        ARC_QUARANTINE_DIR: pod.quarantine,
        ARC_REPORTS_DIR: pod.reports,
      },
      timeout: 60_000,
    });
  const digestAt = (registry: RegistryProcess, image: string) =>
    crane(tools ?? '', 'digest', `${registry.host}/${image}:1`);

  it('is held back for what was found in it', async () => {
    await fetched('team/old', noCritical);
    await scan();
    const { exitCode, outcome } = await pod.step('promote');
    expect([exitCode, outcome.reason]).toEqual([15, 'denied-by-policy']);
    expect(outcome.message).toMatch(
      /rule vulnerabilities\.max: image sha256:\w+ has 1 findings of severity critical, more than 0: CVE-2024-0001 \(grype\)/,
    );
    await expect(digestAt(destination, 'team/old')).rejects.toThrow('UNKNOWN');
  });

  it('arrives with its digest and the report, if nothing is wrong with its packages', async () => {
    await fetched('team/new', { ...noCritical, requiredSbom: true });
    await scan();
    const digest = await digestAt(source, 'team/new');
    expect(await pod.step('promote')).toMatchObject({ exitCode: 0, outcome: { digest } });
    expect(await digestAt(destination, 'team/new')).toBe(digest);
    // This registry has no API for referrers: they are listed under a tag.
    const at = `${destination.host}/team/new`;
    const manifest = async (reference: string) => JSON.parse(await crane(tools ?? '', 'manifest', reference));
    const { manifests } = layoutIndex.parse(await manifest(`${at}:${digest.replace(':', '-')}`));
    const types = await Promise.all(
      manifests.map(async (each) => {
        const { annotations } = attached.parse(await manifest(`${at}@${each.digest}`));
        return annotations['in-toto.io/predicate-type'];
      }),
    );
    expect(types.toSorted()).toEqual([transferPredicate, vulnerabilityPredicate].toSorted());
  });

  it('is not taken for clean by a Grype without a database', async () => {
    await fetched('team/new', noCritical);
    await expect(scan(inFolder('none'))).rejects.toThrow(/database/);
    // Grype has begun a report.
    expect(await pod.step('promote')).toMatchObject({ exitCode: 14, outcome: { reason: 'config' } });
  });

  it('passes for clean if Grype sees no package in it, unless an SBOM is required', async () => {
    await pushAlpine(tools ?? '', `${source.host}/team/bare:1`, undefined);
    await fetched('team/bare', { ...noCritical, requiredSbom: true });
    await scan();
    expect((await pod.step('promote')).outcome.message).toMatch(/rule requiredSbom/);
    await fetched('team/bare', noCritical);
    expect(await pod.step('promote')).toMatchObject({ exitCode: 0 });
  });

  it.each(['cyclonedx-json', 'spdx-json'])('has an SBOM, of Syft as %s', async (format) => {
    await fetched('team/new', { requiredSbom: true });
    const file = path.join(pod.reports, 'sbom.json');
    await judge('syft', 'scan', `oci-dir:${pod.images}/0`, '--quiet', '--output', `${format}=${file}`);
    expect(await readFile(file, 'utf8')).toContain('musl');
    expect(await pod.step('promote')).toMatchObject({ exitCode: 0 });
  });

  it('has none if Syft has described another image', async () => {
    await fetched('team/old', noCritical);
    const file = path.join(folder, 'other.json');
    await judge('syft', 'scan', `oci-dir:${pod.images}/0`, '--quiet', '--output', `spdx-json=${file}`);
    const other = await readFile(file);
    await fetched('team/new', { requiredSbom: true });
    await writeFile(path.join(pod.reports, 'sbom.json'), other);
    const { outcome } = await pod.step('promote');
    expect(outcome.message).toMatch(/rule requiredSbom/);
  });
});
