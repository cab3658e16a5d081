import { parseArgs } from 'node:util';

export interface DemoOptions {
  json: boolean;
  keep: boolean;
  /** An image in another registry to copy instead of the demo's own. */
  source: string | undefined;
}

const usage = `usage: npm run demo -- [--json] [--keep] [--source <registry/repository:tag>]
  --json    print the result as JSON in the last line
  --keep    leave everything running, print the URLs, stop with Ctrl-C
  --source  copy this image instead of the demo's own`;

/** Parses the demo's options; returns the usage text for invalid ones. */
export function parseDemoArguments(
  args: readonly string[],
): DemoOptions | { usage: string } | { help: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        json: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        source: { type: 'string' },
      },
    });
    if (values.help) return { help: usage };
    if (values.source !== undefined && !values.source.includes('/'))
      return { usage: `--source ${values.source}: give registry/repository:tag\n${usage}` };
    return { json: values.json, keep: values.keep, source: values.source };
  } catch (caught) {
    return { usage: `${caught instanceof Error ? caught.message : String(caught)}\n${usage}` };
  }
}
