/** Passed on from our own environment: where programs and certificates are, how to reach the network. */
const passedOn = [
  ...['PATH', 'LANG', 'LC_ALL', 'TZ', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** What programs inherit from our own environment. */
export function inheritedEnvironment(
  outer: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) if (outer[name] !== undefined) env[name] = outer[name];
  return env;
}
