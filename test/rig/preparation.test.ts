import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { knativeRelease, preparation, readVersions, type Versions } from './preparation.ts';

const root = path.join(import.meta.dirname, '../..');
const text = (file: string) => readFile(path.join(root, file), 'utf8');
let versions: Versions;
beforeAll(async () => {
  versions = readVersions(await text('test/rig/versions.env'));
});

describe('the preparation of an existing cluster', () => {
  it('applies the published manifests of the pinned releases, CRDs before objects', () => {
    const commands = preparation(versions).map((args) => args.join(' '));
    const position = (part: string) => commands.findIndex((command) => command.includes(part));
    expect(
      position(`argo-workflows/releases/download/v${versions.ARGO_WORKFLOWS}/install.yaml`),
    ).toBeGreaterThan(0);
    expect(position('serving-crds.yaml')).toBeLessThan(position('serving-core.yaml'));
    expect(position('eventing-crds.yaml')).toBeLessThan(position('eventing-core.yaml'));
    expect(position('eventing-core.yaml')).toBeLessThan(position('mt-channel-broker.yaml'));
    expect(position('cert-manager')).toBe(-1);
  });

  it('installs cert-manager on request', () => {
    const commands = preparation(versions, { certManager: true }).flat();
    expect(commands).toContain(
      `https://github.com/cert-manager/cert-manager/releases/download/v${versions.CERT_MANAGER}/cert-manager.yaml`,
    );
  });

  it('names the version that is missing', () => {
    expect(() => preparation({ ...versions, KOURIER: undefined as never })).toThrow(/versions.env.*KOURIER/);
  });
});

describe('the pinned releases', () => {
  it('are those that knative/README.md calls tested', async () => {
    const readme = await text('knative/README.md');
    const serving = versions.KNATIVE_SERVING ?? '';
    const eventing = versions.KNATIVE_EVENTING ?? '';
    for (const row of [
      `| Kubernetes | ${versions.KUBERNETES} |`,
      `| Knative Serving | ${minor(knativeRelease(serving))} (\`knative.dev/serving\` ${serving}) |`,
      `| Knative Eventing | ${minor(knativeRelease(eventing))} (\`knative.dev/eventing\` ${eventing}) |`,
      `| Argo Workflows | ${versions.ARGO_WORKFLOWS} |`,
      `with Kueue ${versions.KUEUE} on the rig`,
    ])
      expect(readme).toContain(row);
  });

  it('include the cert-manager that test:cluster runs', async () => {
    expect(await text('.ci/cert-manager/go.mod')).toContain(
      `github.com/cert-manager/cert-manager v${versions.CERT_MANAGER}\n`,
    );
  });

  it('include an ingress of the same Knative release as Serving', () => {
    expect(minor(versions.KOURIER ?? '')).toBe(minor(knativeRelease(versions.KNATIVE_SERVING ?? '')));
  });
});

function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
