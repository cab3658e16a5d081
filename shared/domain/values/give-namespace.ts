/** Returns the command that gives a namespace to ARC: without it the functions have no rights to Secrets and Workflows there. */
export function giveNamespace(namespace = ''): string {
  return `kubectl apply -k knative/tenant -n ${namespace}`;
}
