/** Variables passed on from our own environment: paths of programs and certificates, and proxies. */
const passedOn = [
  ...['PATH', 'LANG', 'LC_ALL', 'TZ', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** Returns the variables that programs inherit from our environment. */
export function inheritedEnvironment(
  outer: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) if (outer[name] !== undefined) env[name] = outer[name];
  return env;
}
