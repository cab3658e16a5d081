import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, startRegistry } from '#shared/local';
import { bundleJob } from '../bundle-job.ts';
import type { BundleOptions } from '../bundle-place.ts';

/** The keys of who makes bundles, of who takes them, and of somebody else. */
export const [maker, taker, other] = [keyPair(), keyPair(), keyPair()];

/** What is exported unless the spec says otherwise, and how a test seeds it so that it fills several parts. */
export const image = { image: 'team/app:1.0' };
export const light = { platforms: ['linux/amd64'], layers: 2, layerBytes: 80 * 1024 };

interface Export {
  from?: JobEndpoint;
  keys?: JobEndpoint['keys'];
  policy?: string;
}

type Outcome = ReturnType<NonNullable<ReturnType<typeof bundleJob>>>;

/** The two sides of a boundary: a registry and a volume for bundles on each, and nothing between them but what is carried. */
export interface Sides {
  /** The registry that bundles are made of. */
  source: Registry;
  /** The registry that they are imported into, below `mirror`. */
  inside: Registry;
  /** The folder with both volumes. */
  root: string;
  /** A path on the volume where bundles are made. */
  out(...names: string[]): string;
  /** A path on the volume that they are imported from. */
  into(...names: string[]): string;
  run(job: Job, side: 'out' | 'in'): Outcome | undefined;
  exported(spec: object, how?: Export): Outcome | undefined;
  imported(spec?: object, keys?: JobEndpoint['keys']): Outcome | undefined;
  /** As somebody does who carries a disk. */
  carry(): Promise<void>;
  /** How many requests that write the inside registry had. */
  writes(): number;
  close(): Promise<void>;
}

/** Runs a job with the volume of one side below `root`. */
export function runBundle(
  root: string,
  job: Job,
  side: string,
  options: Partial<BundleOptions> = {},
): Outcome | undefined {
  return bundleJob(job)?.({
    signal: new AbortController().signal,
    retry: { attempts: 1, baseMs: 1, maxMs: 2 },
    workDir: path.join(root, 'work'),
    bundleDir: path.join(root, side),
    maxBytes: 64 * 1024 ** 2,
    ...options,
  });
}

export async function startSides(): Promise<Sides> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'arc-bundles-'));
  const [source, inside] = [await startRegistry({}), await startRegistry({})];

  const sides: Sides = {
    source,
    inside,
    root,
    out: (...names) => path.join(root, 'out', 'bundles', ...names),
    into: (...names) => path.join(root, 'in', 'bundles', ...names),
    run: (job, side) => runBundle(root, job, side),
    exported: (spec, { from = registry('registry', source), keys = { sign: maker.sign }, policy } = {}) =>
      sides.run(
        {
          artifact: {
            type: 'bundle-export',
            spec: { name: 'first', contents: [image], partSize: '64KiB', ...spec },
          },
          source: from,
          destination: medium(keys),
          ...(policy !== undefined && { policy }),
        },
        'out',
      ),
    imported: (spec = {}, keys = { trust: maker.trust, sign: taker.sign }) =>
      sides.run(
        {
          artifact: { type: 'bundle-import', spec: { name: 'first', ...spec } },
          source: medium(keys),
          destination: { ...registry('mirror', inside), remoteURL: `${inside.url}/mirror` },
        },
        'in',
      ),
    carry: () => cp(sides.out(), sides.into(), { recursive: true }),
    writes: () => inside.count('POST') + inside.count('PUT') + inside.count('PATCH'),
    async close() {
      await Promise.all([source.close(), inside.close()]);
      await rm(root, { recursive: true });
    },
  };
  return sides;
}

/** A registry as an Endpoint. */
export function registry(name: string, { url }: Registry): JobEndpoint {
  return { name, type: 'oci', remoteURL: url };
}

/** The volume as an Endpoint. */
export function medium(keys: JobEndpoint['keys']): JobEndpoint {
  return { name: 'medium', type: 'bundle', remoteURL: 'file:///bundles', ...(keys && { keys }) };
}

function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    sign: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    trust: String(publicKey.export({ format: 'pem', type: 'spki' })),
  };
}
