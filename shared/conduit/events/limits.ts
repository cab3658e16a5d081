import { longestObjectName } from '#shared/domain';

/** What a domain event holds at most; its published schemas say the same. Bytes for what is cut, characters for the schema. */
export const longestEventName = longestObjectName;
export const longestEventMessage = 1_024;
export const longestEventDigest = 256;

/** Characters of an attribute of a step event: the API has no longer names, and these attributes are in labels of metrics. */
export const longestAttribute = longestObjectName;
/** Characters of the answer on a dead letter; brokers keep as many bytes of it. */
export const longestAnswer = 1_024;
