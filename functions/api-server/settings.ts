import * as z from 'zod';

const seconds = z.coerce.number().min(0).max(600);
const limit = z.coerce
  .number({ error: notALimit })
  .int({ error: notALimit })
  .min(1, { error: notALimit })
  .max(100_000, { error: notALimit });

function notALimit({ input }: { input?: unknown }): string {
  return `must be a whole number from 1 to 100000, not ${String(input)}`;
}

/** The names in a list that is separated by commas. */
const names = z.string().transform((text) => text.split(',').flatMap((name) => name.trim() || []));

/** The environment of the program. */
export const settings = z.object({
  ARC_BIND_ADDRESS: z.string().default('0.0.0.0'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(8443),
  /** PEM files, read again when they change. The certificate is for `<service>.<namespace>.svc`. */
  ARC_TLS_CERT_FILE: z.string().default('/etc/arc/tls/tls.crt'),
  ARC_TLS_KEY_FILE: z.string().default('/etc/arc/tls/tls.key'),
  /** Offers HTTP/1.1 only. */
  ARC_DISABLE_HTTP2: z.enum(['true', 'false']).default('false'),
  ARC_STORE_FOLDER: z.string().optional(),
  ARC_ETCD_ENDPOINTS: z.string().optional(),
  ARC_ETCD_PREFIX: z.string().optional(),
  ARC_ETCD_CA_FILE: z.string().optional(),
  ARC_ETCD_CERT_FILE: z.string().optional(),
  ARC_ETCD_KEY_FILE: z.string().optional(),
  /** Manifests of our own kinds, `*.yaml`, applied at each start. */
  ARC_DEFAULTS_FOLDER: z.string().optional(),
  ARC_SHUTDOWN_DELAY_SECONDS: seconds.default(5),
  ARC_SHUTDOWN_GRACE_SECONDS: seconds.default(60),
  ARC_WATCH_SPREAD_SECONDS: seconds.default(2),
  ARC_MAX_READS: limit.default(400),
  ARC_MAX_WRITES: limit.default(200),
  ARC_MAX_WATCHES_PER_USER: limit.default(500),
  /** Users and groups that meet no limit, separated by commas. */
  ARC_EXEMPT_USERS: names.default([]),
  /** An audit.k8s.io/v1 Policy. With one, the audit log goes to stdout. */
  ARC_AUDIT_POLICY_FILE: z.string().optional(),
  /** Where `backup` and `restore` keep backups: a folder, or `https://host/bucket[/prefix]` of an S3 storage with its keys. */
  ARC_BACKUP_TARGET: z.string().optional(),
  ARC_BACKUP_KEEP: limit.default(14),
  ARC_BACKUP_ACCESS_KEY_ID: z.string().optional(),
  ARC_BACKUP_SECRET_ACCESS_KEY: z.string().optional(),
  ARC_BACKUP_REGION: z.string().optional(),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});

export type Settings = z.infer<typeof settings>;
