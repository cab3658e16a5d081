import { longestObjectName } from '#shared/domain';

/** Limits on the data of domain events, which the published schemas repeat. Bytes where a value is cut, characters in the schema. */
export const longestEventName = longestObjectName;
export const longestEventMessage = 1_024;
export const longestEventDigest = 256;

/** Characters of an attribute of a step event: names in the API are no longer, and the attributes become metric labels. */
export const longestAttribute = longestObjectName;
/** Characters of the answer in a dead letter; brokers keep as many bytes. */
export const longestAnswer = 1_024;
