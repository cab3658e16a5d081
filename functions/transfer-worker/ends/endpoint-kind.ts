import type { Job, JobEndpoint } from '#shared/domain';
import type { ContentSink, ContentSource, ImageName, TransferContext } from '#shared/transfer';

/** The connection settings of an Endpoint, common to all locations there. */
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

/** True for a chart repository with an index.yaml; other Endpoints store charts as images in a registry. */
export function isIndexed({ type, remoteURL }: Pick<JobEndpoint, 'type' | 'remoteURL'>): boolean {
  return type === 'helm' && !/^oci:\/\//i.test(remoteURL);
}

/** The context for opening one end of a job. */
export interface EndOpening extends TransferContext {
  endpoint: JobEndpoint;
  artifact: Job['artifact'];
}

/** An opened source, and the default name of its artifact at the destination. */
export interface NamedSource {
  source: ContentSource;
  name: ImageName;
}

/**
 * Opens Endpoints of one type. The source reads the fields of `artifact.spec` that say what to fetch, the sink those about the target. Both
 * reject with a config TransferError that names the field. Code for a single type is loaded on demand.
 */
export interface EndpointKind {
  source?: (context: EndOpening) => Promise<NamedSource>;
  sink?: (context: EndOpening, name: ImageName) => Promise<ContentSink>;
}
