import { AddressError } from './address-error.ts';
import { escapeName, fileURL, namesOf } from './file-url.ts';
import { folderNames } from './folder.ts';
import { resolveAddress } from './image-address.ts';
import { entryName, type LayoutEntry, landingEntry, landingName, movedName, writtenTag } from './landing.ts';
import { formatReference, type ImageName, parseImageName } from './reference.ts';
import { awsHost, isAnywhere, s3Place } from './s3-object.ts';

/** Where an artifact is written: equal for two spellings of one place. */
export interface Place {
  /** `https://host[:port]`, or a folder as `file:///path`. All regions of AWS count as one server: bucket names are unique among them. */
  server: string;
  /** Below the server: `repository:tag`, `repository@digest`, `bucket/key` or a path. */
  path: string;
}

/** A destination and the name of an artifact there. */
export interface Landing {
  /** Type of the source Endpoint: files are named by other rules than images. */
  source: string;
  destination: { type: string; remoteURL: string; plainHTTP?: boolean };
  /** The value that names the place, such as `spec.override`, then the value that its tag is taken from if it has none, such as `spec.image`. */
  names: readonly [string, string?];
  /** Spec of the artifact; some of its fields make the artifact a selection of several artifacts, or a part of an image. */
  spec: Readonly<Record<string, unknown>>;
}

/** Types of Endpoint that hold single files. Unknown types count as registries: operators name types freely. */
export const fileTypes = ['http', 'webdav', 's3'] as const;
export type FileType = (typeof fileTypes)[number];

/** Returns true for an Endpoint that holds plain files rather than artifacts of a registry. */
export function hasFiles({ type }: { type: string }): boolean {
  return fileTypes.some((each) => each === type);
}

/** Returns the path of a bundle's record, the file that is written last: the place of a bundle is that of its record. */
export function bundleRecord(name: string): string {
  return `${name}.arc-bundle.json`;
}

/**
 * Returns the place where an artifact is written, resolved by the worker's own functions. undefined where there is no single place: the
 * worker refuses the address, or a bundle holds the names.
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
  if (hasFiles(destination) && first.endsWith('/')) return fileFolderPlace(destination, first);
  if (type === 's3') return filePlace(s3Place(remoteURL, first, destination).url);
  if (hasFiles(destination)) return filePlace(fileURL(remoteURL, first, destination));
  const override = second === undefined ? undefined : first;
  const image = () =>
    movedName(
      source === 'oci-layout' ? entryName(second ?? first) : parseImageName(second ?? first),
      spec.platforms,
    );
  // A chart's tag is known once its version is resolved, selected tags once the repository is listed.
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

/** A folder of files has a slash at its end; that of the Endpoint is written "/". */
function fileFolderPlace(destination: Landing['destination'], folder: string): Place {
  const { type, remoteURL } = destination;
  const anyFile = `${folder === '/' ? '' : folder}x`;
  const place =
    type === 's3' ? s3Place(remoteURL, anyFile, destination).url : fileURL(remoteURL, anyFile, destination);
  const { server, path } = filePlace(place);
  return { server, path: path.slice(0, -1) };
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
