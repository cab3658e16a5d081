import type { Job, JobEndpoint } from '#shared/domain';
import type { ContentSink, ContentSource, ImageName, Opening } from '#shared/transfer';

/** One end of a job, to be opened. */
export interface EndOpening extends Opening {
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
  source?: (opening: EndOpening) => Promise<NamedSource>;
  sink?: (opening: EndOpening, name: ImageName) => Promise<ContentSink>;
}
