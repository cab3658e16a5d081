import * as z from 'zod';

const credentials = z.union([
  z.strictObject({ username: z.string(), password: z.string() }),
  z.strictObject({ dockerConfigJson: z.string() }),
  z.strictObject({ token: z.string() }),
]);

const jobEndpoint = z.strictObject({
  name: z.string(),
  type: z.string(),
  remoteURL: z.string().min(1),
  tls: z
    .strictObject({
      ca: z.string().optional(),
      insecureSkipVerify: z.boolean().optional(),
      plainHTTP: z.boolean().optional(),
    })
    .optional(),
  credentials: credentials.optional(),
});

/** What one transfer-worker does: the content of `job.json` in the rendered Secret. `tls.ca` is PEM. */
export const jobSchema = z.strictObject({
  artifact: z.strictObject({
    type: z.string(),
    name: z.string().optional(),
    spec: z.record(z.string(), z.unknown()),
  }),
  source: jobEndpoint,
  destination: jobEndpoint,
});

export type JobCredentials =
  | { username: string; password: string }
  | { dockerConfigJson: string }
  | { token: string };

export type JobEndpoint = {
  name: string;
  type: string;
  remoteURL: string;
  tls?: { ca?: string; insecureSkipVerify?: boolean; plainHTTP?: boolean };
  credentials?: JobCredentials;
};

export type Job = {
  artifact: { type: string; name?: string; spec: Record<string, unknown> };
  source: JobEndpoint;
  destination: JobEndpoint;
};
