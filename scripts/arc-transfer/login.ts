import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { createAddressGuard, probeServer, TransferError } from '#shared/transfer';
import { storeLogin } from './docker-credentials.ts';
import { connecting, type JobOptions, makePlace } from './job.ts';
import type { Terminal } from './terminal.ts';

interface LoginOptions extends JobOptions {
  username?: string;
  passwordStdin?: boolean;
}

/** A password is one line, but a cloud token can be long. */
const maxPasswordLength = 64 * 1024;
/** Registries on this machine may be probed. */
const loopback = [
  ['127.0.0.0', 8],
  ['::1', 128],
] as const;

/** Adds `login`, which stores a password where docker and other registry tools look for it. */
export function loginCommand(command: Command, terminal: Terminal, secrets: string[]): Command {
  return connecting(command)
    .description('try a user name and password at a registry, and keep them as docker login does')
    .argument('<HOST>', 'the registry, such as registry.example.com or docker.io')
    .requiredOption('-u, --username <name>', 'name of the account')
    .option('--password-stdin', 'read the password from the standard input; otherwise it is asked for')
    .action(async (host: string, options: LoginOptions) => {
      const { place, endpoint } = await makePlace(`${host}/`, options, terminal.env);
      if (place.type !== 'oci' || place.host !== host)
        throw new TransferError(
          'config',
          `"${host}" is not a registry: use its host, such as registry.example.com.`,
        );
      const { username = '' } = options;
      const password = await readPassword(terminal, options.passwordStdin === true);
      secrets.push(password);
      const { tls, remoteURL } = endpoint;
      const credentials = { username, password };
      const { reachable, authenticated } = await probeServer({
        name: host,
        type: 'oci',
        remoteURL,
        credentials,
        signal: terminal.signal,
        ...(tls && { tls }),
        guard: createAddressGuard(loopback),
      });
      if (authenticated.status === 'False')
        throw new TransferError('auth', `Registry ${host} refused user "${username}": nothing was stored.`);
      if (reachable.status === 'False')
        throw new TransferError('retryable', `${reachable.message}: nothing was stored.`);
      const kept = await storeLogin({ host, username, password }, terminal.env);
      if (authenticated.status === 'Unknown')
        terminal.stderr.write(`Warning: not tested: ${authenticated.message}\n`);
      terminal.stdout.write(`Logged in to ${host} as ${username}; the password is in ${kept}.\n`);
    });
}

async function readPassword({ stdin, stderr, signal }: Terminal, fromPipe: boolean): Promise<string> {
  if (stdin === undefined || (!fromPipe && stdin.isTTY !== true))
    throw new TransferError(
      'config',
      'There is no terminal to ask for the password: pass it with --password-stdin.',
    );
  if (fromPipe) {
    let text = '';
    for await (const chunk of stdin) {
      text += String(chunk);
      if (text.length > maxPasswordLength)
        throw new TransferError('config', 'The password is longer than 64 KiB.');
    }
    return filled(text.replace(/\r?\n$/, ''));
  }
  stderr.write('Password: ');
  // The input is not echoed.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output, terminal: true });
  try {
    return filled(await lines.question('', { signal }));
  } finally {
    lines.close();
    stderr.write('\n');
  }
}

function filled(password: string): string {
  if (password === '') throw new TransferError('config', 'The password is empty.');
  return password;
}
