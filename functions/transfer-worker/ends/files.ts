import type { Job, JobEndpoint } from '#shared/domain';
import {
  type CopyOptions,
  type CopyResult,
  copyFile,
  type FileEnds,
  type FileLocation,
  type FileSink,
  type FileSource,
  type FileType,
  hasFiles,
  type NamedFile,
  ociFile,
  ociFileSink,
  openS3Sink,
  openS3Source,
  openWebSink,
  openWebSource,
  type TransferContext,
  TransferError,
} from '#shared/transfer';
import { connection } from './endpoint-kind.ts';

/** Opens files at Endpoints of one type. */
interface FileKind {
  source: (location: FileLocation, context: TransferContext) => FileSource;
  sink: (location: FileLocation, context: TransferContext) => FileSink;
}

const http: FileKind = {
  source: (location, { session }) => openWebSource(location, session),
  sink: (location, { session }) => openWebSink(location, session, false),
};
const webdav: FileKind = {
  ...http,
  sink: (location, { session }) => openWebSink(location, session, true),
};
const s3: FileKind = {
  source: (location, { session }) => openS3Source(location, session),
  sink: (location, { session }) => openS3Sink(location, session),
};
const oci: FileKind = {
  source: ({ path, ...location }, { session }) =>
    ociFile(session.repository({ ...location, image: path }, 'pull')),
  sink: ({ path, ...location }, { session, folder }) =>
    ociFileSink(session.repository({ ...location, image: path }, 'pull,push'), folder, session.retry),
};

const fileKinds: Record<FileType | 'oci', FileKind> = { http, webdav, s3, oci };
const kinds = new Map<string, FileKind>(Object.entries(fileKinds));

/** True for a job that moves a file: the type of one of its Endpoints stores files, not images. */
export function isFileJob({ source, destination }: Job): boolean {
  return [source, destination].some(hasFiles);
}

/** Moves the file of a job. Rejects with a TransferError whose message contains no credentials. */
export function moveFile(job: Job, options: CopyOptions): Promise<CopyResult> {
  return copyFile(options, (context) => openFileEnds(job, context));
}

/**
 * Opens both ends of a job that moves a file, from `spec.path` to `spec.override`. Rejects with a config TransferError that names the field.
 */
export async function openFileEnds(
  { artifact, source, destination }: Job,
  context: TransferContext,
): Promise<FileEnds> {
  const { spec } = artifact;
  const path = pathOf(spec);
  const target = textOf(spec, 'override') ?? landingOf(source, destination, path);
  return {
    ...openFile({ artifact, source }, context),
    destination: kindOf(destination).sink({ ...connection(destination), path: target }, context),
    name: nameOf(source.type === 'oci' ? target : path),
  };
}

/** Opens the file `spec.path`. Throws a config TransferError that names the field. */
export function openFile(
  { artifact, source }: Pick<Job, 'artifact' | 'source'>,
  context: TransferContext,
): NamedFile {
  const { spec } = artifact;
  const path = pathOf(spec);
  const mediaType = textOf(spec, 'mediaType');
  if (mediaType !== undefined && !/^[\w.+-]+\/[\w.+-]+$/.test(mediaType))
    throw config('spec.mediaType must be a media type such as "application/gzip".');
  const expected = digestOf(spec);
  return {
    source: kindOf(source).source({ ...connection(source), path }, context),
    name: nameOf(path),
    ...(expected === undefined ? {} : { expected }),
    ...(mediaType === undefined ? {} : { mediaType }),
  };
}

function pathOf(spec: Spec): string {
  const path = textOf(spec, 'path');
  if (path !== undefined) return path;
  throw config('spec.path must name a file of the source, such as "dist/app.tgz".');
}

/** The target path of a file without an override: its source path. A registry does not name files by path. */
function landingOf(source: JobEndpoint, destination: JobEndpoint, path: string): string {
  if (source.type !== 'oci' && destination.type !== 'oci') return path;
  const form = destination.type === 'oci' ? 'as "tools/app:1.0"' : 'as "tools/app.tgz"';
  throw config(`spec.override must be the name of the file at Endpoint "${destination.name}", such ${form}.`);
}

/** The last part of a path. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

type Spec = Job['artifact']['spec'];

function config(message: string): TransferError {
  return new TransferError('config', message);
}

function kindOf({ name, type }: JobEndpoint): FileKind {
  const kind = kinds.get(type);
  if (kind) return kind;
  throw config(
    `Endpoint "${name}" has type "${type}", which has no files: use one of ${[...kinds.keys()].join(', ')}.`,
  );
}

function textOf(spec: Spec, field: string): string | undefined {
  const value = spec[field];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw config(`spec.${field} must be a string.`);
  return value;
}

/** The required digest: `spec.sha256`, 64 hex digits, with or without the prefix `sha256:`. */
function digestOf(spec: Spec): string | undefined {
  const text = textOf(spec, 'sha256')?.toLowerCase();
  if (text === undefined) return undefined;
  const [, hex] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(text) ?? [];
  if (hex === undefined) throw config('spec.sha256 must have 64 hexadecimal digits.');
  return `sha256:${hex}`;
}
