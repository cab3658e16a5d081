import { readFile } from 'node:fs/promises';
import type { Job, JobEndpoint } from '#shared/domain';
import { formatReference, isDigest, parseImageName, TransferError } from '#shared/transfer';
import { dockerCredentials } from './docker-credentials.ts';
import { type Place, parsePlace } from './place.ts';

export interface JobOptions {
  platform?: string[];
  digest?: string;
  ca?: string;
  plainHttp?: boolean;
  insecureSkipTlsVerify?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The job of a worker that the command line stands for. Rejects with a config TransferError. */
export async function makeJob(from: string, to: string, options: JobOptions, env: Environment): Promise<Job> {
  const [source, destination] = [parsePlace(from), parsePlace(to)];
  if (source.name === undefined && source.type !== 'oci-layout')
    throw new TransferError(
      'config',
      `SRC "${from}" names no artifact, only a place: add it, as in oci://host/team/app:1.0.`,
    );
  const override = landing(source.name ?? '', destination, options.digest);
  return {
    artifact: {
      type: source.type,
      spec: {
        ...(source.name !== undefined && { image: source.name }),
        ...(override !== undefined && { override }),
        ...(options.platform && { platforms: options.platform }),
      },
    },
    source: await endpoint(source, options, env),
    destination: await endpoint(destination, options, env),
  };
}

/** The name at the destination; with the digest that is expected, if one is. */
function landing(from: string, { type, name }: Place, digest: string | undefined): string | undefined {
  if (digest === undefined) return name;
  if (!isDigest(digest))
    throw new TransferError('config', `--digest ${digest.slice(0, 200)} is not a sha256 or sha512 digest.`);
  if (type === 'oci-layout') return `${(name ?? from).split('@')[0]}@${digest}`;
  const source = parseImageName(from);
  const given = parseImageName(name ?? source.repository);
  const tag = given.tag ?? source.tag;
  return formatReference({ ...given, ...(tag !== undefined && { tag }), digest });
}

async function endpoint(place: Place, options: JobOptions, env: Environment): Promise<JobEndpoint> {
  const credentials = place.host === undefined ? undefined : await dockerCredentials(place.host, env);
  const remoteURL = options.plainHttp ? place.remoteURL.replace(/^https:/, 'http:') : place.remoteURL;
  const tls = {
    ...(options.ca !== undefined && { ca: await certificates(options.ca) }),
    ...(options.insecureSkipTlsVerify && { insecureSkipVerify: true }),
  };
  return {
    name: place.host ?? place.remoteURL,
    type: place.type,
    remoteURL,
    ...(Object.keys(tls).length > 0 && { tls }),
    ...(credentials && { credentials }),
  };
}

async function certificates(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot read the certificates of --ca: ${why}.`);
  }
}
