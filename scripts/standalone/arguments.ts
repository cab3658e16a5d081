import { isSea } from 'node:sea';
import { parseArgs } from 'node:util';
import { version } from '../version/version.ts';
import { type OptionalFeature, optionalFeatures } from './optional-features.ts';

export interface StartOptions {
  folder: string;
  /** 0: any free port at the first start, the same port at later starts. */
  port: number;
  logLevel: string;
  /** Local command by image pattern. */
  programs: Record<string, string[]>;
  /** Disabled features. */
  without: OptionalFeature[];
  /** Starts two registries, and writes an Order that copies between them. */
  withRegistry: boolean;
  /** Subscriber of domain events. */
  sink?: URL;
  /** Recovers the readable part of a damaged store before the start. */
  recover: boolean;
  /** Writes a backup of the state to this file, and exits. */
  backup?: string;
  /** Replaces the state by this backup before the start. */
  restore?: string;
}

/** The command that starts the standalone: in a checkout, or as a single executable. */
export const startCommand = isSea() ? 'arc-standalone' : 'npm start --';

const usage = `usage: ${startCommand} [--folder .arc] [--port 0] [--log-level warn] [--program '<image pattern>=<command>']
                    [--without <feature>,...] [--with-registry] [--sink <URL>] [--recover] [--version]
                    [--backup <file> | --restore <file>]
  --folder     state folder (default .arc)
  --port       port of the API server on loopback (default: a free port, kept at later starts)
  --log-level  debug, info, warn or error (default warn); logs are JSON lines on stdout
  --program    run this local command for container images that match the pattern; repeatable
  --without    disable features, like the components of that name: ${optionalFeatures.join(', ')}
  --with-registry  start two in-memory registries, one with an image, and print an Order that copies it
  --sink       send the events of Orders and artifacts to this http(s) URL, as a Knative Trigger would
  --version    print the version
  --recover    recover the readable part of a damaged store into a new one, keep the damaged files, and start
  --backup     write all objects to this file, and exit; no standalone may run in the folder
  --restore    replace all objects by those of this file, keep the previous store, and start`;

/** Parses the standalone's options; returns a usage error or the help text instead if applicable. */
export function parseStartArguments(
  args: readonly string[],
): StartOptions | { usage: string } | { help: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        version: { type: 'boolean', default: false },
        folder: { type: 'string', default: '.arc' },
        port: { type: 'string', default: '0' },
        'log-level': { type: 'string', default: 'warn' },
        program: { type: 'string', multiple: true, default: [] },
        without: { type: 'string', multiple: true, default: [] },
        'with-registry': { type: 'boolean', default: false },
        sink: { type: 'string' },
        recover: { type: 'boolean', default: false },
        backup: { type: 'string' },
        restore: { type: 'string' },
      },
    });
    if (values.help) return { help: usage };
    if (values.version) return { help: version };
    if (values.folder === '') return { usage: `--folder: give the path of a folder\n${usage}` };
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      return { usage: `--port ${values.port}: give a number from 0 to 65535\n${usage}` };
    if (!['debug', 'info', 'warn', 'error'].includes(values['log-level']))
      return { usage: `--log-level ${values['log-level']}: give debug, info, warn or error\n${usage}` };
    const programs = programsOf(values.program);
    const without: OptionalFeature[] = [];
    for (const name of values.without.flatMap((list) => list.split(','))) {
      const found = optionalFeatures.find((one) => one === name);
      if (found === undefined)
        return { usage: `--without ${name}: use some of ${optionalFeatures.join(', ')}\n${usage}` };
      without.push(found);
    }
    const sink = sinkOf(values.sink);
    if (sink === null) return { usage: `--sink ${values.sink}: give an http:// or https:// URL\n${usage}` };
    const { backup, restore } = values;
    if (backup !== undefined && restore !== undefined)
      return { usage: `--backup and --restore exclude each other: give one\n${usage}` };
    const files = { ...(backup !== undefined && { backup }), ...(restore !== undefined && { restore }) };
    const { folder, recover, 'with-registry': withRegistry } = values;
    const rest = { logLevel: values['log-level'], programs, withRegistry, recover };
    return { without, folder, port, ...rest, ...files, ...(sink && { sink }) };
  } catch (caught) {
    return { usage: `${caught instanceof Error ? caught.message : String(caught)}\n${usage}` };
  }
}

/** Parses --program options. Throws an Error with the problem. */
function programsOf(texts: readonly string[]): Record<string, string[]> {
  const programs: Record<string, string[]> = {};
  for (const text of texts) {
    const [pattern = '', command = ''] = splitOnce(text, '=');
    if (pattern === '' || command === '')
      throw new Error(`--program ${text}: give <image pattern>=<command>`);
    programs[pattern] = command.split(' ');
  }
  return programs;
}

/** Parses --sink; null for an invalid URL. */
function sinkOf(text: string | undefined): URL | null | undefined {
  if (text === undefined) return undefined;
  const sink = URL.parse(text);
  return sink !== null && ['http:', 'https:'].includes(sink.protocol) ? sink : null;
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
