import * as z from 'zod';

const count = z.coerce.number().int().min(1).max(10_000);
const port = z.coerce.number().int().min(0).max(65_535);
/** A browser gives no secure cookie to anything else. */
const httpsUrl = z.url({ protocol: /^https$/, error: 'must be an https:// URL' });

/** The environment of the program. */
export const settings = z.object({
  /** The address that browsers open, without a path: `https://arc.example.com`. */
  ARC_CONSOLE_URL: httpsUrl.refine((text) => new URL(text).pathname === '/', 'must have no path'),
  ARC_BIND_ADDRESS: z.string().default('0.0.0.0'),
  /** Of the probes, and of the pages where there is no certificate. */
  PORT: port.default(8080),
  /** Of the pages, where there is one. */
  ARC_TLS_PORT: port.default(8443),
  /** PEM files, read again when they change. The first decides at the start whether there is a certificate. */
  ARC_TLS_CERT_FILE: z.string().optional(),
  ARC_TLS_KEY_FILE: z.string().optional(),
  /** Proxies in front that append to X-Forwarded-For; 0: clients connect themselves. */
  ARC_CONSOLE_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  ARC_CONSOLE_IDLE_MINUTES: count.default(30),
  ARC_CONSOLE_SESSION_HOURS: count.default(12),
  ARC_CONSOLE_MOST_SESSIONS: count.default(100),
  /** Without an issuer people sign in by token alone. */
  ARC_OIDC_ISSUER: httpsUrl.optional(),
  ARC_OIDC_CLIENT_ID: z.string().default('arc-console'),
  /** Of a confidential client. */
  ARC_OIDC_CLIENT_SECRET: z.string().optional(),
  ARC_OIDC_SCOPES: z.string().default('openid profile email offline_access'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

export type Settings = z.infer<typeof settings>;
