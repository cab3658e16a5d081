// Labels as in RFC 1123; an IPv6 address stands in brackets, as in a URL.
const label = '[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?';
const pattern = new RegExp(`^(?:\\*\\.)?${label}(?:\\.${label})*(?::\\d{1,5})?$`);
const address = /^\[[0-9a-f:.]{2,45}\](?::\d{1,5})?$/;
const longestPattern = 262;

/** True for a host pattern: `host` or `*.domain`, in lower case, each with or without a port. */
export function isHostPattern(text: string): boolean {
  return text.length <= longestPattern && (pattern.test(text) || address.test(text));
}

/**
 * True if a pattern allows this port of the host (in the form of `URL.hostname`). `*.example.com` allows every host below
 * example.com, but not example.com itself; a pattern without a port allows every port.
 */
export function allowsHost(patterns: readonly string[], host: string, port: number): boolean {
  return patterns.some((one) => {
    const [, name = one, wanted] = /^(.*?)(?::(\d+))?$/.exec(one) ?? [];
    if (wanted !== undefined && Number(wanted) !== port) return false;
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) : host === name;
  });
}
