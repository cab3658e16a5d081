import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { bytesText } from '#shared/base/errors';
import { type Job, parseDuration } from '#shared/domain';
import {
  type ExportItem,
  inSession,
  isDigest,
  loadBundles,
  secretsOfEndpoint,
  TransferError,
} from '#shared/transfer';
import {
  bundleDestination,
  expandContents,
  type Holding,
  withPolicy,
} from '../../functions/transfer-worker/index.ts';
import {
  connecting,
  type JobOptions,
  makeDestination,
  makeSource,
  policyOf,
  policyOption,
  trustedRootOption,
  trusting,
  verifyOption,
} from './job.ts';
import { selecting } from './selection.ts';
import { optionsOf, print, type Terminal, withProgress } from './terminal.ts';

interface BundleOptions extends JobOptions {
  json?: boolean;
  quiet?: boolean;
  signKey?: string;
}
interface ExportOptions extends BundleOptions {
  partSize?: string;
  since?: string;
}
interface ImportOptions extends BundleOptions {
  key?: string;
  receipt?: string;
  verifyDestination?: boolean;
  name?: string;
  notOlderThan?: Date;
}

/** Adds `export` and `import`. `secrets` collects values that must not be printed. */
export function addBundleCommands(program: Command, terminal: Terminal, secrets: string[]): void {
  const exporting = selecting(connecting(new Command('export')))
    .description('write artifacts, and what refers to them, into a bundle: an OCI layout as tar')
    .usage('[options] <SRC...> <FILE.tar>')
    .argument('<SRC... FILE.tar...>', 'what to read, and the file to write')
    .option('--platform <os/arch>', 'only this platform of each index; may be repeated', collect)
    .option('--part-size <size>', 'write FILE.tar.001 and so on, each of this size at most, such as 4GiB')
    .option('--since <file>', 'leave out the blobs of an earlier bundle: its .arc-bundle.json')
    .option(...policyOption)
    .option(...trustedRootOption)
    .option('--sign-key <file>', 'sign with this Ed25519 or ECDSA private key (PEM)')
    .option('--quiet', 'no progress')
    .copyInheritedSettings(program)
    .action(async (names: string[], options: ExportOptions, command: Command) => {
      const [file, from] = lastOf(names, command, 'FILE.tar');
      const jobs = await Promise.all(from.map((each) => makeSource(each, options, terminal.env)));
      for (const { source } of jobs) secrets.push(...secretsOfEndpoint(source.credentials));
      await exportTo(file, from, jobs, options, terminal);
    });
  const importing = connecting(new Command('import'))
    .description('verify a bundle, then send its artifacts to DST under their own names; safe to repeat')
    .usage('[options] <FILE.tar> <DST/>')
    .argument(
      '<FILE.tar DST/...>',
      'the bundle (of parts: the first one, or all of them), and a place that ends with "/"',
    )
    .option('--key <file>', 'demand a signature of this public key (PEM)')
    .option('--name <name>', 'refuse a bundle that was exported under another name')
    .option('--digest <digest>', 'refuse a bundle with another digest than this, which its export printed')
    .option(
      '--not-older-than <time>',
      'refuse a bundle that was made before: a time such as 2026-01-31T12:00:00Z, or a duration such as 720h',
      earliest,
    )
    .option(...policyOption)
    .option(...trustedRootOption)
    .option(...verifyOption)
    .option('--receipt <file>', 'write what was imported as JSON')
    .option('--sign-key <file>', 'sign the receipt with this Ed25519 or ECDSA private key (PEM)')
    .option('--quiet', 'no progress')
    .copyInheritedSettings(program)
    .action(async (names: string[], options: ImportOptions, command: Command) => {
      const [to, files] = lastOf(names, command, 'DST');
      const landing = await makeDestination(to, options, terminal.env);
      secrets.push(...secretsOfEndpoint(landing.destination.credentials));
      await importTo(to, bundleOf(files), landing, options, terminal);
    });
  program.addCommand(exporting).addCommand(importing);
}

function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Parses a time, or a duration before now. */
function earliest(text: string): Date {
  const ago = parseDuration(text);
  const time = ago === undefined ? Date.parse(text) : Date.now() - ago;
  // Date.parse accepts other formats, but reads them as local time.
  if (
    Number.isNaN(time) ||
    (ago === undefined && !/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.test(text))
  )
    throw new InvalidArgumentError(
      'It must be a time such as 2026-01-31T12:00:00Z, a day such as 2026-01-31, or a duration such as 720h.',
    );
  return new Date(time);
}

function lastOf(names: readonly string[], command: Command, need: string): [last: string, others: string[]] {
  const [last, others] = [names.at(-1), names.slice(0, -1)];
  if (last !== undefined && others.length > 0) return [last, others];
  return command.error(`error: missing required argument '${need}'`);
}

/** The name of a bundle. A shell expands FILE.tar.* to the names of all parts. */
function bundleOf(files: readonly string[]): string {
  const bases = new Set(files.map((file) => file.replace(/\.(?:\d{3,6}|\*)$/, '')));
  const [first = ''] = files;
  if (bases.size === 1) return first;
  throw new TransferError(
    'config',
    `${[...bases].slice(0, 5).join(' and ')} are different bundles: import them one by one.`,
  );
}

async function exportTo(
  file: string,
  asked: readonly string[],
  jobs: readonly Omit<Job, 'destination'>[],
  { platform, partSize, since, signKey, policy, ...shown }: ExportOptions,
  terminal: Terminal,
): Promise<void> {
  const rules = await policyOf(policy);
  const copying = withPolicy(rules, { ...optionsOf(terminal), ...trusting(shown) });
  const { exportBundle, partSizeOf, readPrivateKey } = await loadBundles();
  const own = {
    file,
    now: new Date(),
    ...(rules.policy !== undefined && { policyText: rules.policy }),
    ...(partSize !== undefined && { partSize: partSizeOf(partSize, '--part-size') }),
    ...(since !== undefined && { since: await readRecord(since) }),
    ...(signKey !== undefined && { signKey: await readPrivateKey(signKey) }),
  };
  const made = await withProgress(terminal, shown, (progress) =>
    inSession(copying, async (context) => {
      const known = new Map<string, Holding>();
      const items: ExportItem[] = [];
      const warnings: string[] = [];
      for (const [index, job] of jobs.entries()) {
        const text = asked[index] ?? '';
        const contents = [{ text, at: text, spec: job.artifact.spec }];
        const found = await expandContents(job, contents, context, { known });
        items.push(...found.items);
        warnings.push(...found.warnings);
      }
      const platforms = platform === undefined ? {} : { platforms: platform };
      const exported = await exportBundle(
        items.map((item) => ({ ...item, ...platforms })),
        { ...copying, ...progress, ...own },
      );
      return { ...exported, warnings: [...warnings, ...exported.warnings] };
    }),
  );
  const { record, files, digest, bytes, recordFile, warnings } = made;
  const left = record.requires?.blobs.length ?? 0;
  const result = {
    digest,
    files,
    recordFile,
    bytes,
    items: record.items.map(named),
    leftOut: left,
    warnings,
  };
  print(terminal, shown.json, result, [
    `Exported ${counted(record.items.length, 'artifact')} to ${files.join(', ')}: ${counted(record.blobs.length, 'blob')} (${bytesText(bytes)})${left > 0 ? `, ${left} left out` : ''}.`,
    `Its record is ${recordFile}: keep it for a later export with --since.`,
    digest,
  ]);
}

function named({ name, digest }: { name: string; digest: string }): { name: string; digest: string } {
  return { name, digest };
}

async function importTo(
  to: string,
  name: string,
  landing: Omit<Job, 'source'>,
  {
    key,
    receipt,
    signKey,
    policy,
    name: wanted,
    digest,
    notOlderThan,
    verifyDestination = false,
    ...shown
  }: ImportOptions,
  terminal: Terminal,
): Promise<void> {
  const { signal } = terminal;
  if (signKey !== undefined && receipt === undefined)
    throw new TransferError('config', '--sign-key signs the receipt: set its file with --receipt.');
  if (digest !== undefined && !isDigest(digest))
    throw new TransferError('config', `--digest ${digest.slice(0, 200)} is not a sha256 or sha512 digest.`);
  const expected = {
    ...(wanted !== undefined && { name: wanted }),
    ...(digest !== undefined && { digest }),
    ...(notOlderThan !== undefined && { notBefore: notOlderThan }),
  };
  const copying = withPolicy(await policyOf(policy), {
    ...optionsOf(terminal),
    ...trusting(shown),
    verify: verifyDestination,
  });
  const { importBundle, readBundle, readPrivateKey, readPublicKeys, receiptOf, saveReceipt } =
    await loadBundles();
  const publicKey = key === undefined ? {} : { keys: await readPublicKeys(key) };
  const receiptKey = signKey === undefined ? undefined : await readPrivateKey(signKey);
  const bundle = await withProgress(terminal, shown, (progress) =>
    readBundle({ name, signal, expected, ...publicKey, ...progress }),
  );
  const imported = await withProgress(terminal, shown, (progress) =>
    importBundle(bundle, bundleDestination(landing), { ...copying, ...progress }),
  );
  const { items, failure } = imported;
  const fileName = path.basename(name).replace(/\.tar(?:\.(?:\d{3,6}|\*))?$/, '');
  const { name: ownName, created } = bundle.record;
  const warnings = [
    ...(wanted === undefined && digest === undefined && fileName !== ownName
      ? [
          `the bundle in ${path.basename(name)} was exported as "${ownName}" at ${created}: use --name to require a name`,
        ]
      : []),
    ...(bundle.signature === 'unchecked' ? ['the signature of the bundle was not verified: use --key'] : []),
    ...imported.warnings,
  ];
  const told = receiptOf(bundle, to, imported.items, new Date());
  if (receipt !== undefined) await saveReceipt(receipt, told, receiptKey);
  const done = items.filter(({ outcome }) => outcome === 'imported');
  const copied = done.reduce((sum, { bytes }) => sum + (bytes?.copied ?? 0), 0);
  print(terminal, shown.json, { ...told, warnings }, [
    ...items.map(
      (item) => `${item.outcome} ${item.name} ${item.digest}${item.message ? `: ${item.message}` : ''}`,
    ),
    `Imported ${done.length} of ${counted(items.length, 'artifact')} to ${to}: ${bytesText(copied)} sent.`,
  ]);
  if (failure !== undefined) throw failure;
  signal.throwIfAborted();
}

async function readRecord(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot read the record of --since: ${why}.`);
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
