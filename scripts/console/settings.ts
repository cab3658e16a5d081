import * as z from 'zod';

const count = z.coerce.number().int().min(1).max(10_000);
const port = z.coerce.number().int().min(0).max(65_535);
/** Browsers send secure cookies over HTTPS only. */
const httpsUrl = z.url({ protocol: /^https$/, error: 'must be an https:// URL' });

/** The environment variables of the console. */
export const settings = z.object({
  /** Public URL of the console, without a path: `https://arc.example.com`. */
  ARC_CONSOLE_URL: httpsUrl.refine((text) => new URL(text).pathname === '/', 'must have no path'),
  ARC_BIND_ADDRESS: z.string().default('0.0.0.0'),
  /** Port of the probes, and of the pages if there is no certificate. */
  PORT: port.default(8080),
  /** Port of the pages if there is a certificate. */
  ARC_TLS_PORT: port.default(8443),
  /** PEM files, reloaded on change. TLS is on if the first exists at startup. */
  ARC_TLS_CERT_FILE: z.string().optional(),
  ARC_TLS_KEY_FILE: z.string().optional(),
  /** Number of trusted reverse proxies that append to X-Forwarded-For; 0: clients connect directly. */
  ARC_CONSOLE_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  ARC_CONSOLE_IDLE_MINUTES: count.default(30),
  ARC_CONSOLE_SESSION_HOURS: count.default(12),
  ARC_CONSOLE_MOST_SESSIONS: count.default(100),
  /** Without an issuer, sign-in is by token only. */
  ARC_OIDC_ISSUER: httpsUrl.optional(),
  ARC_OIDC_CLIENT_ID: z.string().default('arc-console'),
  /** Secret of a confidential client. */
  ARC_OIDC_CLIENT_SECRET: z.string().optional(),
  ARC_OIDC_SCOPES: z.string().default('openid profile email offline_access'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

export type Settings = z.infer<typeof settings>;
