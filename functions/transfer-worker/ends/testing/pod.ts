import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, startRegistry } from '#shared/local';
import { type Authority, createAuthority } from '../../../../shared/base/testing/authority.ts';
import { type Cloud, type CloudService, startCloud } from '../../../../shared/transfer/testing/cloud.ts';
import { podToken } from '../../../../shared/transfer/testing/pod-token.ts';
import { transferJob } from '../../transfer-job.ts';

/** A worker with a ServiceAccount token that can resolve only the real names of a cloud's servers. */
export interface Pod {
  folder: string;
  token: string;
  tokenFile: string;
  /** The environment of the worker. */
  env: Record<string, string>;
  /** The backend of the cloud's registry; it needs no credentials at its own address. */
  registry: Registry;
  cloud: Cloud;
  /** The CA of the cloud's certificates, trusted by this process. */
  authority: Authority;
  /** Closes a server together with the pod. */
  keep<T extends { close(): Promise<void> }>(server: T): T;
  move(artifact: Job['artifact'], source: JobEndpoint, destination: JobEndpoint, attempts?: number): Moved;
  /** The number of requests to a server, optionally below a path. */
  asked(host: string): number;
  close(): Promise<void>;
}

type Moved = ReturnType<typeof transferJob>;

/** What a cloud provides for a pod: its servers, and the environment injected by its webhook. */
export interface Given {
  services: Readonly<Record<string, CloudService>>;
  env: Record<string, string>;
}

const authority = await createAuthority('clouds');

/** Starts a pod with a token for `audience`. */
export async function startPod(
  audience: string,
  give: (pod: Pick<Pod, 'folder' | 'token' | 'tokenFile' | 'registry' | 'keep'>) => Promise<Given>,
): Promise<Pod> {
  const trusted = tls.getCACertificates('default');
  tls.setDefaultCACertificates([...trusted, authority.cert]);
  const servers: { close(): Promise<void> }[] = [];
  const keep: Pod['keep'] = (server) => {
    servers.push(server);
    return server;
  };
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-identity-'));
  const token = podToken('system:serviceaccount:demo:arc-workflow', audience);
  const tokenFile = path.join(folder, 'token');
  await writeFile(tokenFile, `${token}\n`);
  const registry = keep(await startRegistry());
  const own = { folder, token, tokenFile, registry, keep };
  const given = await give(own);
  const cloud = keep(await startCloud(given.services, authority));
  const env = { ...given.env, HTTPS_PROXY: cloud.proxy };
  return {
    ...own,
    env,
    cloud,
    authority,
    move(artifact, source, destination, attempts = 1) {
      const signal = new AbortController().signal;
      const environment = { workDir: folder, proxyEnv: env, identityEnv: env };
      return transferJob(
        { artifact, source, destination },
        { signal, retry: { attempts, baseMs: 1 }, ...environment },
      );
    },
    asked: (host) => cloud.requests.filter((request) => request.includes(` ${host}`)).length,
    async close() {
      await Promise.all(servers.map((server) => server.close()));
      await rm(folder, { recursive: true });
      tls.setDefaultCACertificates(trusted);
    },
  };
}

/** An Endpoint without a Secret. */
export function end(type: string, remoteURL: string, more: Partial<JobEndpoint> = {}): JobEndpoint {
  return { name: `${type} of ${new URL(remoteURL).host}`, type, remoteURL, ...more };
}

export const image = { type: 'oci', spec: { image: 'team/app:1.0', override: 'mirror/app' } };
