/** Server-side apply and the book-keeping of who owns which field. Pure: no I/O, no clock. */
export { type Applied, applyConfiguration } from './apply-configuration.ts';
export { type ManagedFieldsEntry, sameOwners } from './managed-fields.ts';
export { trackUpdate, type Writer } from './track-update.ts';
