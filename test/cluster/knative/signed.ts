import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf } from '#shared/transfer';
import { Sigstore } from '../../../shared/transfer/testing/sigstore.ts';
import {
  type SigstoreInstallation,
  startSigstoreInstallation,
} from '../../fixtures/judges/sigstore-installation.ts';
import { judgeBy, transferJudges } from '../../fixtures/judges/transfer-judges.ts';
import { ended } from './conduit.ts';
import type { Registries } from './images.ts';
import { apply, field, kubectl } from './kubectl.ts';
import { orderOf } from './team.ts';
import { moved } from './types.ts';

const minutes = 60_000;
const secret = 'arc-trusted-root';
const signer = 'release@acme.example';

/**
 * Signatures without a key that cosign has made with a Fulcio, a Rekor and a timestamp authority of one's own, judged by Argo's pods, which reach
 * none of them, by the trust root that is mounted there.
 */
export function describeSigned(registries: () => Registries): void {
  describe('signatures without a key', { timeout: 8 * minutes }, () => {
    let sigstore: SigstoreInstallation;
    let folder = '';

    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'arc-keyless-'));
      sigstore = await startSigstoreInstallation(transferJudges() ?? '', folder);
      const trustedRoot = await readFile(sigstore.trustedRoot, 'utf8');
      await trust(trustedRoot);
      const { url: issuer } = sigstore.issuer;
      await apply(typeOf('oci-acme', { identity: '*@acme.example', issuer }, trustedRoot));
      await apply(typeOf('oci-other', { identity: '*@other.example', issuer }, trustedRoot));
    }, 2 * minutes);

    afterAll(async () => {
      await sigstore?.stop();
      await kubectl('-n', 'team', 'delete', 'secret', secret, '--ignore-not-found');
      await kubectl('-n', 'team', 'delete', 'artifacttype', 'oci-acme', 'oci-other', '--ignore-not-found');
      await rm(folder, { recursive: true });
    }, minutes);

    /** Pushes an image to the source, signed by cosign; resolves with its digest. */
    async function signed(repository: string): Promise<string> {
      const { source, seed } = registries();
      const digest = await seed(repository, '1.0');
      await judgeBy(
        transferJudges() ?? '',
        [
          ...(['cosign', 'sign', '--yes', '--allow-http-registry'] as const),
          ...['--identity-token', sigstore.issuer.token(signer), '--signing-config', sigstore.signingConfig],
          ...['--trusted-root', sigstore.trustedRoot],
          `${source}/${repository}@${digest}`,
        ],
        { home: folder, DOCKER_CONFIG: process.env.DOCKER_CONFIG ?? '' },
      );
      return digest;
    }

    async function failure(name: string, artifact: object): Promise<string> {
      await apply(orderOf(name, [artifact]));
      expect(await ended('team', name)).toBe('Failed');
      const said = await field('{.status.artifactWorkflows}', '-n', 'team', 'order', name);
      await kubectl('-n', 'team', 'delete', 'order', name);
      return said;
    }

    it('let an image pass if the policy names who has signed it', async () => {
      const { digest, destination } = registries();
      const image = await signed('keyless/app');
      await moved('by-acme', { type: 'oci-acme', spec: { image: 'keyless/app:1.0' } });
      expect(await digest(`${destination}/mirror/keyless/app:1.0`)).toBe(image);
    });

    it('do not if it names another, and the status says who has signed', async () => {
      await signed('keyless/denied');
      const said = await failure('by-other', { type: 'oci-other', spec: { image: 'keyless/denied:1.0' } });
      expect(said).toContain('rule requiredSigners');
      expect(said).toContain(signer);
    });

    it('do not by another trust root than the policy names', async () => {
      await signed('keyless/distrusted');
      await trust(new Sigstore().trustedRoot());
      const said = await failure('distrusted', {
        type: 'oci-acme',
        spec: { image: 'keyless/distrusted:1.0' },
      });
      expect(said).toContain('requiredSigners.trustedRoot');
    });
  });
}

function trust(trustedRoot: string): Promise<void> {
  return apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: secret, namespace: 'team' },
    stringData: { 'trusted_root.json': trustedRoot },
  });
}

/** A type of the team, so that it goes with its namespace. */
function typeOf(name: string, signer: object, root: string): object {
  const trustedRoot = digestOf(Buffer.from(root));
  return {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'ArtifactType',
    metadata: { name, namespace: 'team' },
    spec: {
      rules: { srcTypes: ['oci'], dstTypes: ['oci'] },
      target: ['specOverride', 'specImage'],
      workflowTemplateRef: { name: 'arc-oci-image', clusterScope: true },
      parameters: [
        { name: 'policy', value: JSON.stringify({ requiredSigners: { anyOf: [signer], trustedRoot } }) },
      ],
    },
  };
}
