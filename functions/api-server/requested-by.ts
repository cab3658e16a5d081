import { annotations, group } from '#shared/domain';
import type { AdmissionPlugin } from '#shared/kubernetes/apiserver';

/**
 * Keeps the annotation `requested-by` as the last action has written it: what a client sends for it is not stored, as with other
 * fields of the server, so that nobody can put another user's name there. It may be taken away.
 */
export const requestedByServer: AdmissionPlugin = {
  name: 'RequestedBy',
  handles: ({ kind, subResource }) => kind.group === group && subResource === '',
  async mutate({ object, oldObject }) {
    if (object === undefined) return undefined;
    const { [annotations.requestedBy]: given, ...notes } = object.metadata.annotations ?? {};
    const before = oldObject?.metadata.annotations?.[annotations.requestedBy];
    if (given === undefined || given === before) return undefined;
    const kept = before === undefined ? {} : { [annotations.requestedBy]: before };
    return { ...object, metadata: { ...object.metadata, annotations: { ...notes, ...kept } } };
  },
};
