import { type Command, InvalidArgumentError } from 'commander';
import type { Job } from '#shared/domain';
import { TransferError } from '#shared/transfer';

/** What SRC stands for, where it is several artifacts. */
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

/** Adds the options of commands that can move several artifacts as one. */
export function selecting(command: Command): Command {
  return command
    .option(
      '--tag-match <pattern>',
      'of SRC without a tag: every tag that fits, such as "1.*", or "*" for all',
    )
    .option('--tag-semver <range>', 'of SRC without a tag: the versions in this range, such as "^1.2"')
    .option('--newest <n>', 'of SRC without a tag: the highest so many versions', wholeNumber)
    .option('--max-age <duration>', 'of SRC without a tag: only images that were made so long ago at most')
    .option('--with-images', 'of a chart: every image that its values name, too')
    .option('--image-registry <host...>', 'for --with-images: registries beside that of SRC, or "*" for any');
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 9999.');
}

/** Adds the options of a command that can move a folder. */
export function filtering(command: Command): Command {
  return command
    .option(
      '--include <pattern...>',
      'of a folder: only files that one of these fits, such as "*.tgz" or "/docs/**"',
    )
    .option('--exclude <pattern...>', 'of a folder: no file that one of these fits')
    .option(
      '--delete',
      'of a folder: delete files of DST that SRC does not have, once all others have arrived',
    );
}

/** The artifact with what is selected of it, in the fields that docs/orders.md lists. Throws a config TransferError. */
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
    throw new TransferError('config', 'Tags are selected of images: SRC must be a repository of a registry.');
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
      '--include, --exclude and --delete are for folders: SRC must be one, with a slash at its end.',
    );
  if (withImages && chart === undefined && typeof image !== 'string')
    throw new TransferError('config', '--with-images is for charts: SRC must be one.');
  if (!withImages) return isTagged ? { ...artifact, spec: { ...artifact.spec, tags } } : artifact;
  return { ...artifact, spec: { ...chartSpec(artifact.spec), withImages } };
}

/** An artifact of a registry is a chart where somebody says so. */
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
