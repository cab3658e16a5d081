import { TransferError } from '../errors/transfer-error.ts';

type Env = Readonly<Record<string, string | undefined>>;

const loopback = ['localhost', '127.0.0.1', '[::1]', '::1'];

/**
 * The proxy variables of `env` (upper or lower case) in the form that Node's agents read. A proxy without a scheme uses http, as in curl.
 * In NO_PROXY a name includes its subdomains, as in curl and Go, and IPv4 networks (`10.0.0.0/8`), common in Kubernetes clusters, become
 * ranges. Loopback never uses a proxy. Throws a config TransferError for an unusable proxy.
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
  // The message omits the value, which can contain a password.
  throw new TransferError(
    'config',
    `${name} is not a usable proxy: it must have the form http://host:port or https://host:port.`,
  );
}

/** `svc` and `.svc` for `svc`; anything but a plain name unchanged. */
function withSubdomains(entry: string): string[] {
  return /^(?=.*[a-z])[\w-]+(\.[\w-]+)*$/i.test(entry) ? [entry, `.${entry}`] : [entry];
}

/** `10.0.0.0-10.255.255.255` for `10.0.0.0/8`; anything else unchanged. */
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
