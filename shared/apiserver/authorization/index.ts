/** May they: asking the cluster, and acting as somebody else. */
export { delegatedAuthorizer } from './delegated.ts';
export { impersonate } from './impersonation.ts';
