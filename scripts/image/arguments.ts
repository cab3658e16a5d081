import { parseArgs } from 'node:util';

export interface ImageOptions {
  base?: string;
  push?: string;
  layout?: string;
  archive?: string;
  name?: string;
}

const usage = `usage: npm run image -- [--base <reference>] [--push <reference>] [--layout <folder>] [--archive <file>] [--name <reference>]
  --base     the base image, with glibc and libstdc++; default: none, with the
             libraries of this machine
  --push     host/path:tag of a registry; credentials are those of docker login (DOCKER_CONFIG)
  --layout   write an OCI image layout to this folder
  --archive  write the layout as a tar, for ctr image import, docker load and others
  --name     host/path:tag of the image in a layout or archive (default: that of --push)
A reference is [http://|https://]host[:port]/path[:tag][@digest]: https unless it says http:// or names loopback.
SOURCE_DATE_EPOCH (seconds) is the time of all files and of the image (default 0).`;

/** Parses the options of `npm run image`; returns a usage error or the help text instead if applicable. */
export function parseImageArguments(
  args: readonly string[],
): ImageOptions | { usage: string } | { help: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        base: { type: 'string' },
        push: { type: 'string' },
        layout: { type: 'string' },
        archive: { type: 'string' },
        name: { type: 'string' },
      },
    });
    const { help, ...options } = values;
    if (help) return { help: usage };
    const wrong = whatIsWrong(options);
    return wrong === undefined ? options : { usage: `${wrong}\n${usage}` };
  } catch (caught) {
    return { usage: `${caught instanceof Error ? caught.message : String(caught)}\n${usage}` };
  }
}

function whatIsWrong(options: ImageOptions): string | undefined {
  const { push, layout, archive, name } = options;
  for (const [option, value] of Object.entries(options)) if (value === '') return `--${option} is empty`;
  if (push === undefined && layout === undefined && archive === undefined)
    return 'no destination: give --push, --layout or --archive';
  if (push?.includes('@')) return `--push ${push}: the digest is a result; give host/path:tag`;
  if (name !== undefined && layout === undefined && archive === undefined)
    return '--name requires --layout or --archive; --push sets the name of a pushed image';
  if (name !== undefined && !/^[^/:]+(?::\d+)?\/.+:[^/:]+$/.test(name))
    return `--name ${name}: give host/path:tag, such as dev.local/arc/functions:v1`;
  return undefined;
}

/** Parses SOURCE_DATE_EPOCH (reproducible-builds.org/specs/source-date-epoch) to seconds; 0 without it, undefined if it is invalid. */
export function sourceDate(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return 0;
  return /^\d{1,10}$/.test(text) ? Number(text) : undefined;
}
