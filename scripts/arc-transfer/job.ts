import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { Job, JobEndpoint } from '#shared/domain';
import {
  type CopyOptions,
  formatReference,
  hasFiles,
  isDigest,
  parseImageName,
  TransferError,
} from '#shared/transfer';
import { dockerCertificates } from './docker-certificates.ts';
import { dockerCredentials, dockerLogins } from './docker-credentials.ts';
import { speaksTls } from './loopback-tls.ts';
import { type Place, parsePlace } from './place.ts';
import { type Selection, selected } from './selection.ts';

export interface JobOptions extends Selection {
  platform?: string[];
  digest?: string;
  ca?: string;
  plainHttp?: boolean;
  insecureSkipTlsVerify?: boolean;
  /** The S3 storage of `s3://` URLs, if not AWS, and its region. */
  endpointUrl?: string;
  region?: string;
  /** Further hosts that servers may redirect to. */
  redirectHost?: string[];
  /** A file with a policy. */
  policy?: string;
  /** The file with the policy's trust root for certificates. */
  trustedRoot?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** For commands that copy, or predict a copy. */
export const policyOption = ['--policy <file>', 'move nothing that this policy (JSON) denies'] as const;

export const trustedRootOption = [
  '--trusted-root <file>',
  'for --policy: judge keyless signatures by this trusted_root.json',
] as const;

export const verifyOption = [
  '--verify-destination',
  'ask DST for every manifest and blob, and send what it has lost behind a manifest',
] as const;

/** The option of the trust root, if one is given. */
export function trusting({
  trustedRoot,
}: {
  trustedRoot?: string | undefined;
}): Pick<CopyOptions, 'trustedRoot'> {
  return trustedRoot === undefined ? {} : { trustedRoot };
}

/** Adds the options that every command has: connections, and the format of the result. */
export function connecting(command: Command): Command {
  return command
    .option('--ca <file>', 'trust these certificate authorities (PEM)')
    .option('--plain-http', 'speak HTTP without TLS')
    .option('--insecure-skip-tls-verify', 'do not check certificates')
    .option('--endpoint-url <url>', 'the S3 storage that s3:// means, such as https://minio.example.com:9000')
    .option('--region <region>', 'the region of s3://')
    .option('--redirect-host <host...>', 'private hosts to which a server may redirect or have uploads sent')
    .option('--json', 'print the result as one line of JSON');
}

/** Returns the worker's job for a command line. Rejects with a config TransferError. */
export async function makeJob(from: string, to: string, options: JobOptions, env: Environment): Promise<Job> {
  const [source, destination] = [parseSource(from), parsePlace(to)];
  return {
    artifact: selected(
      { type: source.type, spec: specOf(source.name, source, destination, options) },
      options,
    ),
    source: await endpoint('source', source, options, env),
    destination: await endpoint('destination', destination, options, env),
    ...(await policyOf(options.policy)),
  };
}

/** Returns the half of a job that reads SRC for a bundle. Rejects with a config TransferError. */
export async function makeSource(
  from: string,
  options: JobOptions,
  env: Environment,
): Promise<Omit<Job, 'destination'>> {
  const source = parseSource(from);
  if (hasFiles(source))
    throw new TransferError(
      'config',
      `SRC "${from}" is a file, but a bundle contains images, charts and other OCI artifacts: copy it into a registry first.`,
    );
  // A bundle is a layout, where an artifact keeps its name.
  const bundle: Place = { type: 'oci-layout', remoteURL: '', name: undefined };
  return {
    artifact: selected({ type: source.type, spec: specOf(source.name, source, bundle, options) }, options),
    source: await endpoint('source', source, options, env),
  };
}

/** Returns the half of a job that writes to DST, each artifact under its own name. Rejects with a config TransferError. */
export async function makeDestination(
  to: string,
  options: JobOptions,
  env: Environment,
): Promise<Omit<Job, 'source'>> {
  const destination = parsePlace(to);
  const { type, name } = destination;
  if (name !== undefined || (type !== 'oci' && type !== 'oci-layout'))
    throw new TransferError(
      'config',
      `DST "${to}" cannot be the target of a bundle, whose artifacts keep their names: use a registry path that ends with "/", such as registry.example.com/mirror/, or a layout.`,
    );
  return {
    artifact: { type, spec: {} },
    destination: await endpoint('destination', destination, options, env),
  };
}

/** Returns a place to read from, and its connection settings. Rejects with a config TransferError. */
export async function makePlace(
  text: string,
  options: JobOptions,
  env: Environment,
): Promise<{ place: Place; endpoint: JobEndpoint }> {
  const place = parsePlace(text);
  return { place, endpoint: await endpoint('source', place, options, env) };
}

function parseSource(from: string): Place {
  const source = parsePlace(from);
  if (source.name !== undefined || source.type === 'oci-layout' || hasFiles(source)) return source;
  throw new TransferError(
    'config',
    `SRC "${from}" names no artifact: add it, as in oci://host/team/app:1.0.`,
  );
}

/** The fields for the type of the source, as documented in docs/orders.md. */
function specOf(
  name: string | undefined,
  source: Place,
  destination: Place,
  options: JobOptions,
): Job['artifact']['spec'] {
  const { digest } = options;
  if (name === undefined && hasFiles(source)) return folderSpec(source, destination, options);
  if (name === undefined || source.type === 'oci-layout') return imageSpec(name, destination, options);
  if (hasFiles(source) || hasFiles(destination)) {
    const last = name.slice(name.lastIndexOf('/') + 1);
    const override = destination.name ?? (destination.type === 'oci' ? undefined : last);
    return {
      path: name,
      ...(override !== undefined && { override }),
      ...(digest !== undefined && { sha256: digest }),
    };
  }
  if (source.type === 'helm') {
    if (digest !== undefined)
      throw new TransferError(
        'config',
        '--digest is for images and files: a chart is identified by its version.',
      );
    const [chart = '', version] = name.split(':');
    const override = destination.name;
    return {
      chart,
      ...(version !== undefined && { version }),
      ...(override !== undefined && { override }),
    };
  }
  return imageSpec(name, destination, options);
}

/** The contents of the folder SRC go into the folder DST. */
function folderSpec(
  { remoteURL }: Place,
  { type, name, remoteURL: to }: Place,
  { digest }: JobOptions,
): Job['artifact']['spec'] {
  if (digest !== undefined)
    throw new TransferError('config', '--digest is for a single artifact, but SRC is a folder.');
  if (name === undefined && hasFiles({ type })) return { path: '/' };
  throw new TransferError(
    'config',
    `SRC ${remoteURL}/ is a folder, but DST ${to} is not: DST must be a folder on a file server or in S3, with a trailing slash.`,
  );
}

function imageSpec(
  name: string | undefined,
  destination: Place,
  { digest, platform }: JobOptions,
): Job['artifact']['spec'] {
  const override = landing(name ?? '', destination, digest);
  return {
    ...(name !== undefined && { image: name }),
    ...(override !== undefined && { override }),
    ...(platform && { platforms: platform }),
  };
}

/** The name at the destination, with the expected digest if there is one. */
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

async function endpoint(
  side: 'source' | 'destination',
  place: Place,
  options: JobOptions,
  env: Environment,
): Promise<JobEndpoint> {
  const credentials = await credentialsOf(side, place, options, env);
  const remoteURL = await remoteURLOf(place, options, env);
  const { type, host } = place;
  // Image registries are only read from, so they are no redirect hosts of the destination.
  const registries = side === 'source' ? (options.imageRegistry ?? []) : [];
  const redirectHosts = [...(options.redirectHost ?? []), ...registries];
  const tls = {
    ...(type === 'oci' && host !== undefined && (await dockerCertificates(host, env))),
    ...(options.ca !== undefined && { ca: await fileOf('--ca', options.ca, 'certificates') }),
    ...(options.insecureSkipTlsVerify && { insecureSkipVerify: true }),
  };
  return {
    name: host ?? place.remoteURL,
    type,
    remoteURL,
    ...(Object.keys(tls).length > 0 && { tls }),
    ...(credentials && { credentials }),
    ...(redirectHosts.length > 0 && { redirectHosts }),
  };
}

async function remoteURLOf(place: Place, options: JobOptions, env: Environment): Promise<string> {
  const { type, remoteURL, maySpeakTls } = place;
  const storage = options.endpointUrl ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL ?? '';
  const given =
    type === 's3' && storage !== ''
      ? remoteURL.replace(/^s3:\/\//, `${storage.replace(/\/+$/, '')}/`)
      : remoteURL;
  if (options.plainHttp) return given.replace(/^https:/, 'http:');
  return maySpeakTls && (await speaksTls(given)) ? given.replace(/^http:/, 'https:') : given;
}

/** The credentials of docker login for registries, including those of a chart's images, and AWS environment variables for S3. */
async function credentialsOf(
  side: 'source' | 'destination',
  { type, host }: Place,
  options: JobOptions,
  env: Environment,
): Promise<JobEndpoint['credentials']> {
  const { withImages, imageRegistry = [] } = options;
  if (side === 'source' && withImages)
    return dockerLogins([...(host === undefined ? [] : [host]), ...imageRegistry], env);
  if (type === 'oci') return host === undefined ? undefined : dockerCredentials(host, env);
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env;
  const region = options.region ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  if (type !== 's3' || !AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) return undefined;
  return {
    accessKeyID: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    ...(region && { region }),
  };
}

/** The policy in the file of `--policy`, if given. Rejects with a config TransferError. */
export async function policyOf(file: string | undefined): Promise<Pick<Job, 'policy'>> {
  return file === undefined ? {} : { policy: await fileOf('--policy', file, 'policy') };
}

async function fileOf(option: string, file: string, what: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot read the ${what} of ${option}: ${why}.`);
  }
}
