import * as z from 'zod';
import { type Repository, readBlob, type Session, TransferError } from '#shared/transfer';
import type { Base } from './assemble.ts';

const index = z.object({
  manifests: z.array(
    z.object({
      digest: z.string(),
      platform: z.object({ os: z.string(), architecture: z.string() }).optional(),
    }),
  ),
});

const configuration = z.object({
  architecture: z.string(),
  os: z.string(),
  variant: z.string().optional(),
  config: z
    .object({
      Env: z.array(z.string()).nullish(),
      Labels: z.record(z.string(), z.string()).nullish(),
    })
    .nullish(),
  rootfs: z.object({ diff_ids: z.array(z.string()) }),
  history: z.array(z.looseObject({})).nullish(),
});

const longestConfig = 1024 * 1024;

/** Reads the base image for linux on `architecture`. Rejects with a TransferError that says why the base is unsuitable. */
export async function readBase(
  session: Session,
  repository: Repository,
  architecture: string,
  signal: AbortSignal,
): Promise<Base> {
  const { host, repository: path, tag, digest } = repository.address;
  const name = `${host}/${path}${tag === undefined ? '' : `:${tag}`}`;
  const refuse = (why: string): never => {
    throw new TransferError('config', `The base image ${name} is unsuitable: ${why}.`);
  };
  const find = async (reference: string) =>
    (await repository.manifest(reference, signal)) ?? refuse(`${reference} is not in the registry (404)`);

  const root = await find(digest ?? tag ?? 'latest');
  let image = root;
  if (root.children.length > 0) {
    const { manifests } = index.parse(JSON.parse(root.bytes.toString('utf8')));
    const fits = manifests.find(({ platform }) => {
      return platform?.os === 'linux' && platform.architecture === architecture;
    });
    image = await find((fits ?? refuse(`it has no image for linux/${architecture}`)).digest);
  }
  const [config, ...layers] = image.blobs;
  if (config === undefined || image.foreign.length > 0 || config.size > longestConfig)
    return refuse('its layers are not distributable, or its configuration is over 1 MiB');
  const bytes = await readBlob({ source: repository, blob: config, retry: session.retry }, signal);
  const parsed = configuration.safeParse(JSON.parse(bytes.toString('utf8')));
  if (!parsed.success)
    return refuse(`its configuration is not an image configuration: ${z.prettifyError(parsed.error)}`);
  const { os, variant, rootfs, history, config: container } = parsed.data;
  if (os !== 'linux' || parsed.data.architecture !== architecture)
    return refuse(`it is for ${os}/${parsed.data.architecture}, but Node is for linux/${architecture}`);
  if (rootfs.diff_ids.length !== layers.length)
    return refuse(`it has ${layers.length} layers but ${rootfs.diff_ids.length} digests`);
  return {
    name,
    digest: root.digest,
    layers,
    config: {
      architecture,
      os,
      ...(variant !== undefined && { variant }),
      config: { Env: container?.Env ?? [], Labels: container?.Labels ?? {} },
      rootfs,
      history: history ?? [],
    },
  };
}
