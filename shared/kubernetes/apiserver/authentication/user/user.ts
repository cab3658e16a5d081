/** A user, with the field names of a SubjectAccessReview. */
export interface User {
  name: string;
  groups: readonly string[];
  uid?: string;
  extra?: Readonly<Record<string, readonly string[]>>;
}

/** The user of a request without a credential. */
export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };
