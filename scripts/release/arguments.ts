import { parseArgs } from 'node:util';

export interface ReleaseOptions {
  folder: string;
  image: string;
  url?: string;
  base?: string;
  key?: string;
}

const usage = `usage: npm run release -- [--folder dist/release] [--image <host/path>] [--url <URL>] [--base <reference>] [--key <file>]
  --folder  output folder (default dist/release); an earlier release in it is replaced
  --image   name under which the image will be published; manifests and chart refer to it by tag and digest
            (default registry.example.com/artifact-conduit)
  --url     download URL of the files, for the krew manifest (default https://example.com/artifact-conduit/v<version>)
  --base    the base image, with glibc and libstdc++ for amd64 and arm64; default: none, with libraries of Debian
            from the archive that apt is configured for
  --key     the Ed25519 or ECDSA private key (PEM) that signs checksums, provenance, image and bundle
SOURCE_DATE_EPOCH (seconds) is the time of all files (default: the commit time).`;

/** Parses the options of `npm run release`; returns a usage error or the help text instead if applicable. */
export function parseReleaseArguments(
  args: readonly string[],
): ReleaseOptions | { usage: string } | { help: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        folder: { type: 'string', default: 'dist/release' },
        image: { type: 'string', default: 'registry.example.com/artifact-conduit' },
        url: { type: 'string' },
        base: { type: 'string' },
        key: { type: 'string' },
      },
    });
    const { help, ...options } = values;
    if (help) return { help: usage };
    for (const [option, value] of Object.entries(options))
      if (value === '') return { usage: `--${option} is empty\n${usage}` };
    if (!/^[a-z0-9][a-z0-9.-]*(?::\d+)?(?:\/[a-z0-9._-]+)+$/.test(options.image))
      return {
        usage: `--image ${options.image}: give host/path without a tag, which is the version\n${usage}`,
      };
    if (options.url !== undefined && URL.parse(options.url)?.protocol !== 'https:')
      return { usage: `--url ${options.url}: give an https:// URL\n${usage}` };
    return options;
  } catch (caught) {
    return { usage: `${caught instanceof Error ? caught.message : String(caught)}\n${usage}` };
  }
}
