interface Identified {
  metadata: { namespace?: string; uid?: string; resourceVersion?: string };
}

/** Returns the namespace of an object, as part of a key or as an option of a list; empty for cluster-scoped objects. */
export function namespaceOf({ metadata: { namespace } }: Identified): { namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

/** Returns the precondition that a write or delete meets this very object, and not a later one of its name. */
export function uidOf({ metadata: { uid } }: Identified): { uid?: string } {
  return uid === undefined ? {} : { uid };
}

/** Returns the precondition that the object has not changed since it was read. */
export function versionOf({ metadata: { resourceVersion } }: Identified): { resourceVersion?: string } {
  return resourceVersion === undefined ? {} : { resourceVersion };
}
