import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { seedImage, startRegistry } from '#shared/local';
import { createAddressGuard, probeServer, type TlsSettings } from '#shared/transfer';
import { transferJob } from '../../functions/transfer-worker/transfer-job.ts';
import { type Authority, createAuthority } from '../../shared/base/testing/authority.ts';
import { loopbackRanges } from '../../shared/transfer/http/address-ranges.ts';
import {
  type RegistryProcess,
  registryTools,
  startRegistryProcess,
} from '../fixtures/image/registry-tools.ts';

const tools = registryTools();
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe.skipIf(!tools)('a registry that is not ours and requires a client certificate', () => {
  let [folder, clients, ca]: [string, Authority | undefined, string] = ['', undefined, ''];
  let registry: RegistryProcess;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'arc-mtls-'));
    const servers = await createAuthority('servers');
    clients = await createAuthority('clients');
    ca = servers.cert;
    const own = await servers.issue({ name: 'registry' }, { hosts: ['127.0.0.1'] });
    const tls = { certificate: own.cert, key: own.key, clients: clients.cert };
    registry = await startRegistryProcess(tools ?? '', tls);
  });
  afterAll(async () => {
    await registry.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const shown = async (authority: Authority | undefined): Promise<TlsSettings> => {
    const issued = await authority?.issue({ name: 'mover' }, { use: 'client' });
    return { ca, ...(issued && { certificate: issued.cert, key: issued.key }) };
  };

  async function push(tls: TlsSettings, attempts = 1): Promise<string | undefined> {
    const source = await startRegistry();
    try {
      await seedImage(source, 'team/app', '1.0');
      const { digest } = await transferJob(
        {
          artifact: { type: 'oci', spec: { image: 'team/app:1.0' } },
          source: { name: 'src', type: 'oci', remoteURL: source.url },
          destination: { name: 'dst', type: 'oci', remoteURL: `https://${registry.host}`, tls },
        },
        { signal: new AbortController().signal, workDir: folder, retry: { attempts } },
      );
      return digest;
    } finally {
      await source.close();
    }
  }
  const probe = (tls: TlsSettings) =>
    probeServer({
      name: 'dst',
      type: 'oci',
      remoteURL: `https://${registry.host}`,
      tls,
      guard: createAddressGuard(loopbackRanges),
      signal: new AbortController().signal,
    });

  it('takes an image with one, and lets it be probed', async () => {
    const tls = await shown(clients);
    expect(await push(tls, 3)).toMatch(/^sha256:/);
    expect(await probe(tls)).toMatchObject({ reachable: { status: 'True', reason: 'Reachable' } });
  });

  it('is explained when it gets none', async () => {
    const words = 'requires a client certificate';
    await expect(push(await shown(undefined))).rejects.toThrow(words);
    const { reachable } = await probe(await shown(undefined));
    expect(reachable).toMatchObject({ reason: 'TLSError', message: expect.stringContaining(words) });
  });

  it('is explained when it gets that of a stranger', async () => {
    const tls = await shown(await createAuthority('strangers'));
    const words = /client certificate.*the Secret of Endpoint "dst"/;
    await expect(push(tls)).rejects.toThrow(words);
    expect((await probe(tls)).reachable).toMatchObject({
      reason: 'TLSError',
      message: expect.stringMatching(words),
    });
  });
});
