/** Rules of names, keys and label values with the messages of k8s.io/apimachinery, util/validation. Each returns the errors of a value. */

const subdomainPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';
const labelPattern = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const qualifiedPattern = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const valuePattern = `(${qualifiedPattern})?`;

const subdomain = new RegExp(`^${subdomainPattern}$`);
const label = new RegExp(`^${labelPattern}$`);
const qualified = new RegExp(`^${qualifiedPattern}$`);
const value = new RegExp(`^${valuePattern}$`);

function noMatch(text: string, pattern: string, ...examples: string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${text} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

const tooLong = (max: number) => `must be no more than ${max} characters`;

/** Names of most kinds. */
export function subdomainFaults(name: string): string[] {
  const text =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [
    ...(name.length > 253 ? [tooLong(253)] : []),
    ...(subdomain.test(name) ? [] : [noMatch(text, subdomainPattern, 'example.com')]),
  ];
}

/** Names of namespaces. */
export function labelNameFaults(name: string): string[] {
  const text =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [
    ...(name.length > 63 ? [tooLong(63)] : []),
    ...(label.test(name) ? [] : [noMatch(text, labelPattern, 'my-name', '123-abc')]),
  ];
}

/** Keys of labels and annotations, names of finalizers: `[prefix/]name`. */
export function qualifiedFaults(key: string): string[] {
  const text =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  const described = () => noMatch(text, qualifiedPattern, 'MyName', 'my.name', '123-abc');
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name ${described()} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? parts[0] : undefined;
  const prefixFaults = prefix === '' ? ['must be non-empty'] : prefix ? subdomainFaults(prefix) : [];
  const nameFaults = [
    ...(name === '' ? ['must be non-empty'] : name.length > 63 ? [tooLong(63)] : []),
    ...(qualified.test(name) ? [] : [described()]),
  ];
  return [
    ...prefixFaults.map((fault) => `prefix part ${fault}`),
    ...nameFaults.map((fault) => `name part ${fault}`),
  ];
}

/** Values of labels. */
export function labelValueFaults(text: string): string[] {
  const described =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [
    ...(text.length > 63 ? [tooLong(63)] : []),
    ...(value.test(text) ? [] : [noMatch(described, valuePattern, 'MyValue', 'my_value', '12345')]),
  ];
}
