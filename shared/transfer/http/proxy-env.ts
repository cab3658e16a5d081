import { TransferError } from '../errors/transfer-error.ts';

type Env = Readonly<Record<string, string | undefined>>;

const loopback = ['localhost', '127.0.0.1', '[::1]', '::1'];

/**
 * The proxy variables of `env` (either case) as Node's agents read them: a proxy without a scheme is an http one, as for
 * curl; of NO_PROXY, a name stands for its subdomains too, as for curl and Go, and IPv4 networks (`10.0.0.0/8`), which Kubernetes
 * clusters have there, become ranges; loopback is always reached directly. Throws a config TransferError for a proxy that cannot be used.
 */
export function proxyVariables(env: Env): Record<string, string> {
  const direct = (given(env, 'NO_PROXY') ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  const variables: Record<string, string> = {
    NO_PROXY: [...direct.flatMap(withSubdomains).map(asRange), ...loopback].join(','),
  };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) {
    const value = given(env, name);
    if (value !== undefined) variables[name] = proxyURL(name, value);
  }
  return variables;
}

function given(env: Env, name: string): string | undefined {
  return [env[name], env[name.toLowerCase()]].find((value) => value !== undefined && value !== '');
}

function proxyURL(name: string, value: string): string {
  const url = value.includes('://') ? value : `http://${value}`;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  // The value itself is not shown: it can hold a password.
  throw new TransferError(
    'config',
    `${name} names no proxy that can be used: it must be http://host:port or https://host:port.`,
  );
}

/** `svc` and `.svc` for `svc`; anything but a plain name as it is. */
function withSubdomains(entry: string): string[] {
  return /^(?=.*[a-z])[\w-]+(\.[\w-]+)*$/i.test(entry) ? [entry, `.${entry}`] : [entry];
}

/** `10.0.0.0-10.255.255.255` for `10.0.0.0/8`; anything else as it is. */
function asRange(entry: string): string {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)\/(\d+)$/.exec(entry);
  if (!match) return entry;
  const [a = 0, b = 0, c = 0, d = 0, length = 0] = match.slice(1).map(Number);
  if ([a, b, c, d].some((part) => part > 255) || length > 32) return entry;
  const size = 2 ** (32 - length);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  const first = address - (address % size);
  return `${dotted(first)}-${dotted(first + size - 1)}`;
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}
