import { AddressError } from './address-error.ts';
import { escapeName, fileURL, namesOf } from './file-url.ts';
import { folderNames } from './folder.ts';
import { resolveAddress } from './image-address.ts';
import { entryName, type LayoutEntry, landingEntry, landingName, movedName, writtenTag } from './landing.ts';
import { formatReference, type ImageName, parseImageName } from './reference.ts';
import { awsHost, isAnywhere, s3Place } from './s3-object.ts';

/** Where something is written: equal for two spellings of one place. */
export interface Place {
  /** `https://host[:port]`, or the folder as `file:///path`. All regions of AWS are one server: a bucket is in one of them. */
  server: string;
  /** Below it: `repository:tag`, `repository@digest`, `bucket/key` or a path. */
  path: string;
}

/** A destination, and how an artifact is called there. */
export interface Landing {
  /** Type of the source Endpoint: a file is called otherwise than an image. */
  source: string;
  destination: { type: string; remoteURL: string; plainHTTP?: boolean };
  /** What names the place, such as `spec.override`, and after it what its tag is taken from if it has none, such as `spec.image`. */
  names: readonly [string, string?];
  /** Of the artifact; read for what makes it several ones, or a part of one. */
  spec: Readonly<Record<string, unknown>>;
}

/** Types of Endpoint that hold single files. Any type that is not known is a registry: operators name types freely. */
const fileTypes: ReadonlySet<string> = new Set(['http', 'webdav', 's3']);

/** True for an Endpoint with files that are no artifacts of a registry. */
export function hasFiles({ type }: { type: string }): boolean {
  return fileTypes.has(type);
}

/** The file beside the parts of a bundle that is written last: the bundle is where it lies. */
export function bundleRecord(name: string): string {
  return `${name}.arc-bundle.json`;
}

/**
 * Where an artifact is written, resolved by the functions that the worker resolves it by. undefined where that cannot be said: the worker
 * refuses the address, or a bundle has the names.
 */
export function placeOf(landing: Landing): Place | undefined {
  try {
    return resolved(landing);
  } catch (caught) {
    if (caught instanceof AddressError) return undefined;
    throw caught;
  }
}

function resolved({ source, destination, names: [first, second], spec }: Landing): Place | undefined {
  const { type, remoteURL } = destination;
  if (type === 'bundle') return bundlePlace(remoteURL, bundleRecord(first));
  if (source === 'bundle') return undefined;
  if (type === 's3') return filePlace(s3Place(remoteURL, first, destination).url);
  if (hasFiles(destination)) return filePlace(fileURL(remoteURL, first, destination));
  const override = second === undefined ? undefined : first;
  const image = () =>
    movedName(
      source === 'oci-layout' ? entryName(second ?? first) : parseImageName(second ?? first),
      spec.platforms,
    );
  // A chart has its tag when its version is found, and which tags there are is known when the repository has been read.
  const isOpen = spec.tags !== undefined || spec.chart !== undefined;
  if (type === 'oci-layout') return layoutPlace(remoteURL, landingEntry(override, image()), isOpen);
  const landed = hasFiles({ type: source }) ? parseImageName(first) : landingName(override, image());
  return imagePlace(destination, landed, isOpen);
}

function bundlePlace(remoteURL: string, record: string): Place | undefined {
  if (isAnywhere(remoteURL)) return filePlace(s3Place(remoteURL, record).url);
  if (/^https?:/i.test(remoteURL)) return filePlace(fileURL(remoteURL, record));
  return folderPlace(remoteURL, record);
}

function filePlace(url: URL): Place {
  const { hostname, protocol, port } = url;
  const aws = awsHost.exec(hostname);
  const names = [...(aws?.[1] === undefined ? [] : [aws[1]]), ...namesOf(url)];
  const server =
    aws === null
      ? `${protocol}//${hostname.replace(/\.$/, '')}${port === '' ? '' : `:${port}`}`
      : `https://s3.amazonaws.com${hostname.endsWith('.cn') ? '.cn' : ''}`;
  // A name with a slash in it is not two names.
  const isPlain = names.every((name) => !name.includes('/'));
  return { server, path: isPlain ? names.join('/') : `/${names.map(escapeName).join('/')}` };
}

function layoutPlace(remoteURL: string, entry: LayoutEntry, isOpen: boolean): Place | undefined {
  const tag = writtenTag(entry) ?? `@${entry.digest}`;
  return folderPlace(remoteURL, isOpen ? `${tag}:*` : tag);
}

function folderPlace(remoteURL: string, path: string): Place | undefined {
  const names = folderNames(remoteURL);
  return names && { server: `file:///${names.map(escapeName).join('/')}`, path };
}

function imagePlace(destination: Landing['destination'], name: ImageName, isOpen: boolean): Place {
  const found = resolveAddress(destination.remoteURL, formatReference(name), destination);
  const { origin: server, repository, ...version } = found;
  if (isOpen && version.tag === undefined && version.digest === undefined)
    return { server, path: repository };
  const tag = writtenTag(version);
  return { server, path: tag === undefined ? `${repository}@${version.digest}` : `${repository}:${tag}` };
}
