import { parseXml, type XmlElement } from '@rgrove/parse-xml';

/** The root element of a body; undefined if the body is not XML, or nested too deeply. The parser expands no entities that the document declares. */
export function rootOf(bytes: Uint8Array): XmlElement | undefined {
  if (bytes.length === 0) return undefined;
  try {
    return parseXml(Buffer.from(bytes).toString('utf8')).root ?? undefined;
  } catch {
    return undefined;
  }
}

/** The child elements of `parent` with this name. */
export function elements(parent: XmlElement | undefined, name: string): XmlElement[] {
  const isElement = (node: object): node is XmlElement => 'name' in node && node.name === name;
  return (parent?.children ?? []).filter(isElement);
}

/** The text of the first child element with this name; undefined if absent or empty. */
export function textOf(parent: XmlElement | undefined, name: string): string | undefined {
  const text = elements(parent, name)[0]?.text.trim();
  return text === undefined || text === '' ? undefined : text;
}
