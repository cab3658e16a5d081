import { ArcError } from '#shared/base/errors';
import { jobKey } from '../kinds/well-known.ts';
import { byField, filledText, flag, list, object, record, type TypeOf, text } from '../values/shape.ts';

export type JobCredentials = TypeOf<typeof credentials>;
const credentials = byField(
  {
    dockerConfigJson: object({ dockerConfigJson: text }),
    token: object({ token: text }),
    accessKeyID: object({ accessKeyID: text, secretAccessKey: text }, { sessionToken: text, region: text }),
  },
  object({ username: text, password: text }),
);

export type JobEndpoint = TypeOf<typeof endpoint>;
const endpoint = object(
  { name: text, type: text, remoteURL: filledText },
  {
    /** Hosts, in addition to that of `remoteURL`, that may receive the credentials. */
    tokenHosts: list(text),
    /** Hosts, in addition to that of `remoteURL`, that its server may redirect to, without the credentials. */
    redirectHosts: list(text),
    /** As PEM: `ca`, the trusted authorities; `certificate` and `key`, for servers that require a client certificate. */
    tls: object({}, { ca: text, certificate: text, key: text, insecureSkipVerify: flag, plainHTTP: flag }),
    credentials,
    /** For type `bundle`, as PEM: the private key that signs exports, and the public keys whose signatures imports accept. */
    keys: object({}, { sign: text, trust: text }),
  },
);

/** The task of one transfer-worker: the content of `job.json` in the rendered Secret. */
export type Job = TypeOf<typeof job>;
const job = object(
  {
    artifact: object({ type: text, spec: record }, { name: text }),
    source: endpoint,
    destination: endpoint,
  },
  {
    /** The policies to apply, as JSON (`parsePolicies`): the policy of its type, or a list that includes enforced policies. */
    policy: text,
    /** True: an attestation of the transfer is written to the destination. */
    attest: flag,
    /** True: every blob is looked for at the destination, even below a manifest that exists there. */
    verify: flag,
  },
);

/**
 * Parses a Job. Unknown fields are ignored: a newer release may have written them. Throws Invalid, which names the field and what to do,
 * and quotes nothing of the text, which holds credentials.
 */
export function parseJob(json: string): Job {
  try {
    return job(parsed(json), '');
  } catch (caught) {
    const { message } = ArcError.from(caught);
    throw new ArcError(
      'Invalid',
      `The job cannot be read: ${message}. It is written by render-secret; delete the ArtifactWorkflow's Secret to have it rendered anew.`,
    );
  }
}

function parsed(json: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The parser's message quotes the text.
    throw new ArcError('Invalid', `${jobKey} must be JSON`);
  }
  return record(value, jobKey);
}
