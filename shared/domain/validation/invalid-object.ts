import { ArcError, type Cause } from '#shared/base/errors';
import { group } from '../kinds/refs.ts';

/** Returns the Invalid error for these causes, worded like kube-apiserver (k8s.io/apimachinery, NewInvalid). */
export function invalidObject(kind: string, name: string, causes: Cause[]): ArcError {
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  const all = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
  return new ArcError('Invalid', `${kind}.${group} "${name}" is invalid: ${all}`, {
    details: { name, group, kind, causes },
  });
}
