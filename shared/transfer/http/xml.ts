import { parseXml, type XmlElement } from '@rgrove/parse-xml';

/** The root element of a body; undefined if it is not XML, or too deep. The parser expands no entities of a document's own. */
export function rootOf(bytes: Uint8Array): XmlElement | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return parseXml(Buffer.from(bytes).toString('utf8')).root ?? undefined;
  } catch {
    return undefined;
  }
}

/** The elements of this name directly in `parent`. */
export function elements(parent: XmlElement | undefined, name: string): XmlElement[] {
  const isElement = (node: object): node is XmlElement => 'name' in node && node.name === name;
  return (parent?.children ?? []).filter(isElement);
}

/** The text of the first element of this name directly in `parent`; undefined if there is none, or nothing in it. */
export function textOf(parent: XmlElement | undefined, name: string): string | undefined {
  const text = elements(parent, name)[0]?.text.trim();
  return text === undefined || text === '' ? undefined : text;
}
