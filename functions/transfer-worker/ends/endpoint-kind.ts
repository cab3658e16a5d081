import type { Job, JobEndpoint } from '#shared/domain';
import type { ContentSink, ContentSource, ImageName, TransferContext } from '#shared/transfer';

/** How an Endpoint is reached: what a location of an artifact at it begins with. */
export function connection({ name, remoteURL, tls, credentials, tokenHosts, redirectHosts }: JobEndpoint) {
  return {
    name,
    remoteURL,
    ...(tls && { tls }),
    ...(credentials && { credentials }),
    ...(tokenHosts && { tokenHosts }),
    ...(redirectHosts && { redirectHosts }),
  };
}

/** True for a chart repository with an index.yaml; charts of any other Endpoint are images of a registry. */
export function isIndexed({ type, remoteURL }: Pick<JobEndpoint, 'type' | 'remoteURL'>): boolean {
  return type === 'helm' && !/^oci:\/\//i.test(remoteURL);
}

/** One end of a job, to be opened. */
export interface EndOpening extends TransferContext {
  endpoint: JobEndpoint;
  artifact: Job['artifact'];
}

/** An opened source, and how its artifact is called at a destination that names artifacts and where `spec` names no other. */
export interface NamedSource {
  source: ContentSource;
  name: ImageName;
}

/**
 * How Endpoints of one type are opened. The source reads the fields of `artifact.spec` that say what to fetch, the sink those that say
 * where it lands. Both reject with a config TransferError that names the field. What only one type needs is imported when it is opened.
 */
export interface EndpointKind {
  source?: (context: EndOpening) => Promise<NamedSource>;
  sink?: (context: EndOpening, name: ImageName) => Promise<ContentSink>;
}
