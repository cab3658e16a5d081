/**
 * Returns the one condition that carries the message: that by which kstatus decides. None where all is well, as `status.message` says it: three
 * copies of a message hide the entries of artifacts from a person who reads the YAML.
 */
export function tellingCondition(
  verdict: Readonly<Record<'Ready' | 'Reconciling' | 'Stalled', boolean>>,
): string {
  if (verdict.Reconciling) return 'Reconciling';
  if (verdict.Stalled) return 'Stalled';
  return verdict.Ready ? '' : 'Ready';
}
