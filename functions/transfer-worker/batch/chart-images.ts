import { isRecord } from '#shared/base/meta';
import type { Job, JobEndpoint } from '#shared/domain';
import {
  formatReference,
  type ImageLocation,
  landingName,
  matchesGlob,
  matchesHost,
  type NamedImage,
  parseNamedImage,
  parsePlatforms,
  platformSubset,
  registrySource,
  registryURL,
  resolveAddress,
  type TransferContext,
  TransferError,
} from '#shared/transfer';
import { isChart, openChartSource } from '../ends/chart.ts';
import { connection, isIndexed } from '../ends/endpoint-kind.ts';
import type { Expansion, Found } from './expansion.ts';

/** True for a chart that is moved together with its images. */
export function isChartBatch(job: Pick<Job, 'artifact'>): boolean {
  const { withImages, images } = job.artifact.spec;
  return isChart(job) && (withImages === true || images !== undefined);
}

/**
 * Expands a chart into its images and the chart itself, which comes last. The images are those of `spec.images`, else those found in its values
 * merged with `spec.values`. An image keeps its repository and tag below the destination, without its registry. Rejects with a TransferError.
 */
export async function expandChart(
  job: Omit<Job, 'destination'>,
  context: TransferContext,
): Promise<Expansion> {
  const { artifact, source } = job;
  const chart = await openChartSource({ ...context, artifact, endpoint: source });
  const { images, warnings } = listed(artifact) ?? (await chart.images(overrides(artifact)));
  if (images.length === 0) warnings.push('The chart names no images in its values: list them in spec.images');
  return {
    items: itemsOf(images, job, context),
    last: {
      source: formatReference(chart.name),
      name: landingName(artifact.spec.override, chart.name),
      open: async () => chart.source,
    },
    warnings,
  };
}

function itemsOf(
  images: readonly NamedImage[],
  { artifact, source }: Omit<Job, 'destination'>,
  context: TransferContext,
): Found[] {
  const chosen = registriesOf(artifact);
  const platforms =
    artifact.spec.platforms === undefined ? undefined : parsePlatforms(artifact.spec.platforms);
  const owners = new Map<string, string>();
  return images.map((image) => {
    const { digest, ...whole } = image;
    // A subset of an index has another digest than the index.
    const name = {
      repository: image.repository,
      ...(image.tag && { tag: image.tag }),
      ...(digest && !platforms && { digest }),
    };
    const target = formatReference(name);
    const owner = owners.get(target) ?? image.written;
    owners.set(target, owner);
    return {
      source: image.written,
      name,
      async open({ session }) {
        if (owner !== whole.written)
          throw new TransferError(
            'config',
            `It has the same target as ${owner}, ${target}: move one of them with a separate Order.`,
          );
        const found = registrySource(session.repository(imageLocation(image, source, chosen), 'pull'));
        return platforms ? platformSubset(found, platforms, context.session.retry) : found;
      },
    };
  });
}

/**
 * Returns where to pull an image from: its own registry, which must be that of the source Endpoint or listed in its `redirectHosts`.
 * `spec.imageRegistries` only narrows these down, because the author of an artifact must not choose servers. The Endpoint's credentials and
 * cloud identity are sent only to its own registry, because a chart's author chooses the others; those get what a docker config holds for them,
 * and its CAs are trusted there in addition to the built-in ones. Throws a config TransferError.
 */
export function imageLocation(
  { host, repository, tag, digest }: NamedImage,
  endpoint: JobEndpoint,
  chosen: readonly string[] | undefined,
): ImageLocation {
  const name = { repository, ...(tag && { tag }), ...(digest && { digest }) };
  if (host === registryOf(endpoint)) {
    // The Endpoint's path prefix is for charts; image names are complete.
    const { protocol } = new URL(resolveAddress(endpoint.remoteURL, 'any', endpoint.tls).origin);
    return { ...connection(endpoint), remoteURL: `${protocol}//${host}`, image: formatReference(name) };
  }
  const refuse = (fix: string): never => {
    const text = `Images are not pulled from registry ${host} for a chart of Endpoint "${endpoint.name}": ${fix}.`;
    throw new TransferError('denied', text);
  };
  const { name: endpointName, credentials, tls, redirectHosts = [] } = endpoint;
  if (!matchesHost(redirectHosts, new URL(`https://${host}`)))
    refuse(`have an operator add "${host}" to spec.redirectHosts of the Endpoint`);
  if (chosen !== undefined && !chosen.some((pattern) => matchesGlob(pattern, host)))
    refuse(`add "${host}" to spec.imageRegistries of the artifact, or leave that out`);
  return {
    name: endpointName,
    remoteURL: registryURL(host),
    image: formatReference(name),
    // No other settings of spec.tls: they are for the Endpoint's own server.
    ...(tls?.ca && { tls: { ca: tls.ca, caBesideBuiltIn: true } }),
    ...(credentials && 'dockerConfigJson' in credentials ? { credentials } : {}),
    redirectHosts,
    identity: false,
  };
}

/** The registry of the Endpoint; undefined for a chart repository with an index. */
function registryOf(endpoint: JobEndpoint): string | undefined {
  return isIndexed(endpoint) ? undefined : resolveAddress(endpoint.remoteURL, 'any', endpoint.tls).host;
}

function listed({
  spec: { images },
}: Job['artifact']): { images: NamedImage[]; warnings: string[] } | undefined {
  if (images === undefined) return undefined;
  if (!Array.isArray(images) || !images.every((image) => typeof image === 'string'))
    throw new TransferError('config', 'spec.images must be a list of images such as "quay.io/team/app:1.0".');
  return { images: [...new Set(images)].map(parseNamedImage), warnings: [] };
}

function overrides({ spec: { values = {} } }: Job['artifact']): Record<string, unknown> {
  if (isRecord(values)) return values;
  throw new TransferError('config', 'spec.values must be an object, as in a values.yaml.');
}

/** Host patterns, where `*` matches any characters. As a parameter of the type, the value is JSON or a comma-separated list. */
function registriesOf({ spec: { imageRegistries } }: Job['artifact']): string[] | undefined {
  if (imageRegistries === undefined) return undefined;
  const list = typeof imageRegistries === 'string' ? parsedList(imageRegistries) : imageRegistries;
  if (Array.isArray(list) && list.every((host) => typeof host === 'string')) return list;
  throw new TransferError(
    'config',
    'spec.imageRegistries must be a list of registries such as "quay.io" or "*.example.com".',
  );
}

function parsedList(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text
      .split(',')
      .map((host) => host.trim())
      .filter(Boolean);
  }
}
