import { X509Certificate } from 'node:crypto';
import { ArcError } from '#shared/base/errors';

/** The trusted authorities in ConfigMap kube-system/extension-apiserver-authentication. */
export interface AuthenticationConfig {
  /** Issuers of client certificates of users. */
  clientAuthorities: readonly X509Certificate[];
  /** Undefined: no front proxy is trusted. */
  frontProxy: FrontProxyConfig | undefined;
}

export interface FrontProxyConfig {
  authorities: readonly X509Certificate[];
  /** Allowed common names; empty: any. */
  allowedNames: readonly string[];
  /** Header names and prefixes in lower case. */
  usernameHeaders: readonly string[];
  uidHeaders: readonly string[];
  groupHeaders: readonly string[];
  extraPrefixes: readonly string[];
}

/** Parses the data of the ConfigMap: PEM bundles and JSON arrays of strings. Throws Invalid that names the invalid key. */
export function parseAuthenticationConfig(data: Readonly<Record<string, string>>): AuthenticationConfig {
  return {
    clientAuthorities: certificates(data, 'client-ca-file'),
    frontProxy: frontProxy(data),
  };
}

function frontProxy(data: Readonly<Record<string, string>>): FrontProxyConfig | undefined {
  const authorities = certificates(data, 'requestheader-client-ca-file');
  if (authorities.length === 0) return undefined;
  const usernameHeaders = headers(data, 'requestheader-username-headers');
  if (usernameHeaders.length === 0) throw invalidKey('requestheader-username-headers', 'is empty');
  return {
    authorities,
    allowedNames: texts(data, 'requestheader-allowed-names'),
    usernameHeaders,
    uidHeaders: headers(data, 'requestheader-uid-headers'),
    groupHeaders: headers(data, 'requestheader-group-headers'),
    extraPrefixes: headers(data, 'requestheader-extra-headers-prefix'),
  };
}

function certificates(data: Readonly<Record<string, string>>, key: string): X509Certificate[] {
  const text = data[key] ?? '';
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0 && text.trim() !== '') throw invalidKey(key, 'contains no PEM certificate');
  return blocks.map((block) => {
    try {
      return new X509Certificate(block);
    } catch (caught) {
      throw invalidKey(key, `contains an invalid certificate: ${ArcError.from(caught).message}`);
    }
  });
}

function headers(data: Readonly<Record<string, string>>, key: string): string[] {
  return texts(data, key).map((name) => {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) throw invalidKey(key, `"${name}" is not a header name`);
    return name.toLowerCase();
  });
}

function texts(data: Readonly<Record<string, string>>, key: string): string[] {
  const text = data[key] ?? '';
  if (text === '') return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw invalidKey(key, 'is not valid JSON');
  }
  if (Array.isArray(parsed) && parsed.every((each) => typeof each === 'string')) return parsed;
  throw invalidKey(key, 'is not a JSON array of strings');
}

function invalidKey(key: string, reason: string): ArcError {
  return new ArcError(
    'Invalid',
    `ConfigMap kube-system/extension-apiserver-authentication: ${key} ${reason}`,
    {
      details: { causes: [{ reason: 'FieldValueInvalid', field: `data.${key}`, message: reason }] },
    },
  );
}
