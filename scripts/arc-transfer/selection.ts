import { type Command, InvalidArgumentError } from 'commander';
import type { Job } from '#shared/domain';
import { TransferError } from '#shared/transfer';

/** The options that select several artifacts of SRC. */
export interface Selection {
  tagMatch?: string;
  tagSemver?: string;
  newest?: number;
  maxAge?: string;
  withImages?: boolean;
  imageRegistry?: string[];
  include?: string[];
  exclude?: string[];
  delete?: boolean;
}

/** Adds the options of commands that can copy several artifacts. */
export function selecting(command: Command): Command {
  return command
    .option(
      '--tag-match <pattern>',
      'for SRC without a tag: every tag that matches, such as "1.*", or "*" for all',
    )
    .option('--tag-semver <range>', 'for SRC without a tag: the versions in this range, such as "^1.2"')
    .option('--newest <n>', 'for SRC without a tag: the n highest versions', wholeNumber)
    .option('--max-age <duration>', 'for SRC without a tag: only images created within this time')
    .option('--with-images', 'for a chart: also every image in its values')
    .option(
      '--image-registry <host...>',
      'for --with-images: registries other than that of SRC, or "*" for any',
    );
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 9999.');
}

/** Adds the options of a command that can copy a folder. */
export function filtering(command: Command): Command {
  return command
    .option(
      '--include <pattern...>',
      'for a folder: only files that match one of these, such as "*.tgz" or "/docs/**"',
    )
    .option('--exclude <pattern...>', 'for a folder: no file that matches one of these')
    .option(
      '--delete',
      'for a folder: delete files of DST that SRC does not have, after all others were copied',
    );
}

/** Adds the selection to an artifact, in the fields of docs/orders.md. Throws a config TransferError. */
export function selected(artifact: Job['artifact'], selection: Selection): Job['artifact'] {
  const { tagMatch, tagSemver, newest, maxAge, withImages } = selection;
  const tags = {
    ...(tagMatch !== undefined && { match: tagMatch }),
    ...(tagSemver !== undefined && { semver: tagSemver }),
    ...(newest !== undefined && { newest }),
    ...(maxAge !== undefined && { maxAge }),
  };
  const { image, chart } = artifact.spec;
  const isTagged = Object.keys(tags).length > 0;
  if (isTagged && image === undefined)
    throw new TransferError(
      'config',
      'Tags can be selected only for images: SRC must be a repository of a registry.',
    );
  const { include, exclude, delete: deletes } = selection;
  const { path } = artifact.spec;
  if (typeof path === 'string' && path.endsWith('/'))
    return {
      ...artifact,
      spec: {
        ...artifact.spec,
        ...(include && { include }),
        ...(exclude && { exclude }),
        ...(deletes && { deletions: 'Delete' }),
      },
    };
  if (include || exclude || deletes)
    throw new TransferError(
      'config',
      '--include, --exclude and --delete are for folders: SRC must be a folder, with a trailing slash.',
    );
  if (withImages && chart === undefined && typeof image !== 'string')
    throw new TransferError('config', '--with-images is for charts: SRC must be a chart.');
  if (!withImages) return isTagged ? { ...artifact, spec: { ...artifact.spec, tags } } : artifact;
  return { ...artifact, spec: { ...chartSpec(artifact.spec), withImages } };
}

/** In a registry, an artifact is a chart only if the options say so. */
function chartSpec({ image, ...spec }: Job['artifact']['spec']): Job['artifact']['spec'] {
  if (typeof image !== 'string') return spec;
  const [path = '', version] = image.split(':');
  const cut = path.lastIndexOf('/');
  return {
    ...spec,
    chart: path.slice(cut + 1),
    ...(cut > 0 && { repo: path.slice(0, cut) }),
    ...(version !== undefined && { version }),
  };
}
