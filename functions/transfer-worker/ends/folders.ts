import type { Job, JobEndpoint } from '#shared/domain';
import {
  type BatchResult,
  type CopyOptions,
  copyFolder,
  type FileFolder,
  type FileLocation,
  type FileType,
  type FolderEnds,
  hasFiles,
  openS3Folder,
  openWebFolder,
  type TransferContext,
  TransferError,
} from '#shared/transfer';
import { connection } from './endpoint-kind.ts';
import { openFileEnds } from './files.ts';

type Spec = Job['artifact']['spec'];

type OpenFolder = (location: FileLocation, context: TransferContext) => FileFolder;

const openers: Record<FileType, OpenFolder> = {
  http: (location, { session }) => openWebFolder(location, session, false),
  webdav: (location, { session }) => openWebFolder(location, session, true),
  s3: (location, { session }) => openS3Folder(location, session),
};
const kinds = new Map<string, OpenFolder>(Object.entries(openers));

/** True for a job that moves a folder: its path ends with a slash. */
export function isFolderJob({ artifact, source, destination }: Job): boolean {
  const { path } = artifact.spec;
  return typeof path === 'string' && path.endsWith('/') && [source, destination].some(hasFiles);
}

/** Moves the files of a folder. Rejects with a TransferError whose message contains no credentials. */
export function moveFolder(job: Job, options: CopyOptions): Promise<BatchResult> {
  return copyFolder(options, async (context) => openFolderEnds(job, context));
}

/** Opens both folders of a job. Throws a config TransferError that names the field. */
function openFolderEnds({ artifact, source, destination }: Job, context: TransferContext): FolderEnds {
  const { spec } = artifact;
  const { path: from, override, include, exclude, deletions, ...file } = spec;
  const path = folderOf(from, 'path');
  const target = override === undefined || override === '' ? path : folderOf(override, 'override');
  if (file.sha256 !== undefined && file.sha256 !== '')
    throw config('spec.sha256 applies to one file, but spec.path is a folder: remove it.');
  if (deletions !== undefined && deletions !== 'Keep' && deletions !== 'Delete')
    throw config('spec.deletions must be Keep or Delete.');
  return {
    source: folderAt(source, path, context),
    destination: folderAt(destination, target, context),
    filter: { include: patternsOf(include, 'include'), exclude: patternsOf(exclude, 'exclude') },
    deletes: deletions === 'Delete',
    open: (name) => {
      const single = { ...file, path: `${path}${name}`, override: `${target}${name}` };
      return openFileEnds({ artifact: { ...artifact, spec: single }, source, destination }, context);
    },
  };
}

function folderAt(endpoint: JobEndpoint, path: string, context: TransferContext): FileFolder {
  const open = kinds.get(endpoint.type);
  if (open) return open({ ...connection(endpoint), path }, context);
  throw config(
    `Endpoint "${endpoint.name}" has type "${endpoint.type}", which has no folders: use one of ${[...kinds.keys()].join(', ')}, or move a single file.`,
  );
}

/** A path with a trailing slash; '' for the folder of the Endpoint itself, written as "/". */
function folderOf(value: Spec[string], field: string): string {
  if (typeof value !== 'string') throw config(`spec.${field} must be a string.`);
  return value === '/' ? '' : `${value.replace(/\/$/, '')}/`;
}

/** A list of patterns. As a parameter of the type, the value is a comma-separated list. */
function patternsOf(value: Spec[string], field: string): string[] {
  const list = typeof value === 'string' ? value.split(',').filter(Boolean) : (value ?? []);
  if (Array.isArray(list) && list.every((one) => typeof one === 'string' && one !== '')) return list;
  throw config(`spec.${field} must be a list of patterns such as "*.tgz" or "/docs/**".`);
}

function config(message: string): TransferError {
  return new TransferError('config', message);
}
