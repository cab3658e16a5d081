import { Command, CommanderError } from 'commander';
import { bytesText, maskSecrets, printableLines } from '#shared/base/errors';
import type { Job } from '#shared/domain';
import {
  type BatchResult,
  type Comparison,
  type CopyOptions,
  type CopyResult,
  exitCodes,
  secretsOfEndpoint,
  TransferError,
} from '#shared/transfer';
import {
  batchOf,
  compareJob,
  isFileJob,
  isFolderJob,
  moveJob,
  planFileJob,
  policyPlace,
  verifyFileJob,
} from '../../functions/transfer-worker/index.ts';
import { version } from '../version/version.ts';
import { addBundleCommands } from './bundle-commands.ts';
import {
  connecting,
  type JobOptions,
  makeJob,
  policyOption,
  trustedRootOption,
  trusting,
  verifyOption,
} from './job.ts';
import { loginCommand } from './login.ts';
import { addLookCommands } from './look-commands.ts';
import { filtering, selecting } from './selection.ts';
import { optionsOf, print, type Terminal, withProgress } from './terminal.ts';

interface Options extends JobOptions {
  json?: boolean;
  quiet?: boolean;
  dryRun?: boolean;
  verifyDestination?: boolean;
  /** A folder with the reports of a scanner. */
  reports?: string;
}

const usageExitCode = 2;
const unexpectedExitCode = 1;
const interruptedExitCode = 130;

const reportsOption = [
  '--reports <folder>',
  'for --policy: reports of Trivy or Grype, and SBOMs, as JSON',
] as const;

const places = `
export writes a bundle for an air-gapped site, import copies it from there to a registry.
SRC and DST are host/path[:tag][@digest] or oci://host/path...; oci+http:// for a registry without TLS (on loopback, both are tried),
or oci-layout:FOLDER:NAME for an OCI image layout, for example to carry into an air-gapped site.
https://host/path is a file, davs://host/path one on a WebDAV server, s3://bucket/key an object at AWS
or at --endpoint-url (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION), helm+https://host/repository/chart:version a chart (SRC only).
A DST that ends with "/" takes the artifact under the name that it has in SRC.
Credentials are those of docker login, credential helpers included (DOCKER_CONFIG). HTTPS_PROXY and NO_PROXY are used.

Exit codes: 0 done; 2 wrong usage; 10 may succeed later; 11 cannot succeed, or verify found a difference; 12 not permitted; 13 credentials
missing or rejected; 14 wrong configuration; 15 denied by the policy; 130 interrupted; 141 the reader of
the output has gone; 1 unexpected.`;

/** Runs a command line (without node and script). Resolves with the exit code. Never rejects, and prints no credentials. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const secrets: string[] = [];
  try {
    await createProgram(terminal, secrets).parseAsync([...args], { from: 'user' });
    return 0;
  } catch (caught) {
    // Commander has printed its message or the requested help.
    if (caught instanceof CommanderError) return caught.exitCode === 0 ? 0 : usageExitCode;
    const known = caught instanceof TransferError;
    const text = maskSecrets(caught instanceof Error ? caught.message : String(caught), secrets);
    const said = known ? `${forPeople(text)}${advice(caught)}` : `unexpectedly, ${text}`;
    terminal.stderr.write(`Error: ${printableLines(said)}\n`);
    if (terminal.signal.aborted) return interruptedExitCode;
    return known ? exitCodes[caught.reason] : unexpectedExitCode;
  }
}

/** Creates the command line. `secrets` collects values that must not be printed. */
export function createProgram(terminal: Terminal, secrets: string[] = []): Command {
  const { stdout, stderr } = terminal;
  const program = new Command('arc-transfer')
    .description('Move images, charts and files by digest, with their signatures and SBOMs.')
    .version(version, '-V, --version', 'print the version of arc-transfer')
    .addHelpText('after', places)
    .helpCommand('help [command]', 'show the help of a command')
    .showHelpAfterError('Run "arc-transfer --help" for the commands.')
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text) })
    .exitOverride();
  const add = (name: string, description: string, act: Act): Command => {
    const command = connecting(new Command(name))
      .description(description)
      .argument('<SRC>', 'what to read')
      .argument('<DST>', 'where it lands')
      .option('--platform <os/arch...>', 'only these platforms of an index, such as linux/amd64')
      .option('--digest <digest>', 'fail unless the artifact has this digest')
      .copyInheritedSettings(program)
      .action(async (from: string, to: string, options: Options) => {
        const job = await makeJob(from, to, options, terminal.env);
        for (const { credentials } of [job.source, job.destination])
          secrets.push(...secretsOfEndpoint(credentials));
        await act(job, { from, to, options }, terminal);
      });
    program.addCommand(command);
    return command;
  };
  filtering(selecting(add('copy', 'copy an artifact, and what refers to it; safe to repeat', copy)))
    .option('--dry-run', 'as plan: print what would be copied')
    .option('--quiet', 'no progress')
    .option(...verifyOption)
    .option(...policyOption)
    .option(...trustedRootOption)
    .option(...reportsOption);
  add('plan', 'print what a copy would move, and move nothing', plan)
    .option(...policyOption)
    .option(...trustedRootOption)
    .option(...reportsOption);
  add('verify', 'check that DST has all of SRC, under its tag', verify);
  addBundleCommands(program, terminal, secrets);
  const make = (name: string) => new Command(name).copyInheritedSettings(program);
  addLookCommands((command) => program.addCommand(command), make, terminal, secrets);
  program.addCommand(loginCommand(make('login'), terminal, secrets));
  return program;
}

type Act = (
  job: Job,
  asked: { from: string; to: string; options: Options },
  terminal: Terminal,
) => Promise<void>;

const copy: Act = async (job, asked, terminal) => {
  if (asked.options.dryRun) return plan(job, asked, terminal);
  const { json } = asked.options;
  const result = await withProgress(terminal, asked.options, (shown) =>
    moveJob(job, { ...judging(terminal, asked.options), ...shown }),
  );
  if ('items' in result) return print(terminal, json, result, linesOf(result, asked));
  const { bytes, blobs, digest, referrers, repaired } = result;
  const parts = [
    `${blobs.copied} blobs copied (${bytesText(bytes.copied)})`,
    `${blobs.existed} were there`,
    ...(blobs.mounted > 0 ? [`${blobs.mounted} mounted`] : []),
    `${referrers} signatures, SBOMs and attestations`,
  ];
  print(terminal, json, result, [
    `Copied ${asked.from} to ${asked.to}: ${parts.join(', ')}.`,
    ...repairedText(repaired),
    digest,
  ]);
};

function repairedText(repaired: CopyResult['repaired']): string[] {
  if (repaired === undefined) return [];
  return [
    `Repaired: the destination had lost ${repaired.blobs} blob(s) and ${repaired.manifests} manifest(s) of it.`,
  ];
}

function linesOf(
  { items, bytes, repaired }: BatchResult,
  { from, to }: { from: string; to: string },
): string[] {
  const { total, copied, unchanged, deleted = 0, list } = items;
  return [
    ...list.map(({ outcome, target, digest }) => `${outcome} ${target} ${digest}`),
    ...(list.length < total ? [`and ${total - list.length} more`] : []),
    `Copied ${copied} of ${total} artifacts of ${from} to ${to} (${bytesText(bytes.copied)}); ${unchanged} were there.`,
    ...(deleted > 0 ? [`Deleted ${deleted} that ${from} does not have.`] : []),
    ...repairedText(repaired),
  ];
}

const plan: Act = async (job, asked, terminal) => {
  if (batchOf(job) || isFolderJob(job))
    throw new TransferError(
      'config',
      'A plan supports a single artifact, without selected tags, images of a chart, or a folder.',
    );
  if (isFileJob(job)) return planOfFile(job, asked, terminal);
  const found = await compareJob(job, judging(terminal, asked.options));
  const { missing, blobs, manifests, bytes, referrers, digest } = found;
  print(terminal, asked.options.json, found, [
    `${asked.from} has ${blobs} blobs and ${manifests} manifests (${bytesText(bytes)}), among them ${referrers} signatures, SBOMs and attestations.`,
    isComplete(found)
      ? `${asked.to} has all of it: nothing to copy.`
      : `To copy to ${asked.to}: ${missing.blobs} blobs and ${missing.manifests} manifests (${bytesText(missing.bytes)})${tagText(found)}.`,
    digest,
  ]);
};

function judging(terminal: Terminal, { reports, trustedRoot, verifyDestination }: Options): CopyOptions {
  const folder = reports === undefined ? {} : { reportsFolder: reports };
  const verify = verifyDestination === undefined ? {} : { verify: verifyDestination };
  return { ...optionsOf(terminal), ...folder, ...verify, ...trusting({ trustedRoot }) };
}

const verify: Act = async (job, asked, terminal) => {
  if (isFolderJob(job))
    throw new TransferError(
      'config',
      'A folder cannot be verified: copy it again, which sends only the differences.',
    );
  if (isFileJob(job)) return verifyOfFile(job, asked, terminal);
  const found = await compareJob(job, optionsOf(terminal));
  if (isComplete(found)) {
    print(terminal, asked.options.json, found, [`${asked.to} has all of ${asked.from}.`, found.digest]);
    return;
  }
  if (asked.options.json) print(terminal, true, found, []);
  const { blobs, manifests } = found.missing;
  throw new TransferError(
    'permanent',
    `${asked.to} differs from ${asked.from} (${found.digest}): ${blobs} blobs and ${manifests} manifests are missing${tagText(found)}.`,
  );
};

const planOfFile: Act = async (job, { from, to, options }, terminal) => {
  const found = await planFileJob(job, optionsOf(terminal));
  const size = found.size === undefined ? 'a file of unknown size' : bytesText(found.size);
  print(terminal, options.json, found, [
    found.there ? `${to} has ${from} (${size}): nothing to copy.` : `To copy to ${to}: ${size}.`,
    ...(found.digest === undefined ? [] : [found.digest]),
  ]);
};

const verifyOfFile: Act = async (job, { from, to, options }, terminal) => {
  const found = await verifyFileJob(job, optionsOf(terminal));
  const { there, digest = '' } = found;
  if (options.json || there) print(terminal, options.json, found, [`${to} has all of ${from}.`, digest]);
  if (!there)
    throw new TransferError(
      'permanent',
      `${to} does not have the content of ${from} (${digest}): copy it again.`,
    );
};

function isComplete({ missing, tag, digest }: Comparison): boolean {
  return missing.blobs + missing.manifests === 0 && (tag === undefined || tag.digest === digest);
}

function tagText({ tag, digest }: Comparison): string {
  if (tag === undefined || tag.digest === digest) return '';
  return `; tag ${tag.name} ${tag.digest === undefined ? 'does not exist' : `is ${tag.digest}`}`;
}

/** Rewrites messages about Endpoints, which the command line does not have. */
function forPeople(text: string): string {
  return text
    .replace(policyPlace, 'the file of --policy')
    .replace(
      /have an operator add "([^"]*)" to spec\.redirectHosts[^.]*/g,
      'name it, with --image-registry $1',
    )
    .replace(
      /list (\S+|the host) in spec\.redirectHosts(?: of Endpoint "[^"]*")?/g,
      'name it with --redirect-host $1',
    )
    .replace(/spec\.redirectHosts/g, '--redirect-host')
    .replaceAll('spec.tags', 'what is selected')
    .replace(/remoteURL of Endpoint "([^"]*)"/g, 'the address $1')
    .replace(/: it names no Secret \(spec\.secretRef\)/g, '')
    .replace(/: check the Secret of Endpoint "[^"]*", and that/g, ': check that')
    .replace(/Endpoint "([^"]*)"/g, 'registry $1');
}

function advice({ reason, message }: TransferError): string {
  // For a chart's images the message names each registry that refused.
  const hosts = reason === 'auth' ? [...message.matchAll(/Registry (\S+) answered 401/g)] : [];
  if (hosts.length > 0) {
    const commands = [...new Set(hosts.map(([, host]) => `arc-transfer login ${host} -u NAME`))];
    return `\nLog in first, for example with: ${commands.join('; ')}`;
  }
  if (/spec\.tls|plainHTTP/.test(message))
    return '\nHere: --ca FILE trusts certificate authorities, --plain-http speaks HTTP without TLS.';
  return '';
}
