const decimal = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const binary = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * Parses a Kubernetes quantity such as 10, 10k, 64Mi or 1e3 (k8s.io/apimachinery, pkg/api/resource) into a whole number; undefined for any
 * other text, a negative number, or a significant fraction.
 */
export function parseQuantity(text: string): number | undefined {
  const [, digits, suffix = '', exponent] =
    /^\+?(\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:([kMGTPE]|[KMGTPE]i)|[eE]\+?(\d{1,2}))?$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const power = binary.indexOf(suffix);
  const factor =
    exponent === undefined
      ? power >= 0
        ? 1024 ** (power + 1)
        : 1000 ** decimal.indexOf(suffix)
      : 10 ** Number(exponent);
  const value = Number(digits) * factor;
  return Number.isInteger(value) ? value : undefined;
}
