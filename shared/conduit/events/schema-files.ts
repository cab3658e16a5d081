import * as z from 'zod';
import { dataSchemaOf, domainEventType } from './domain-event.ts';
import { type DomainEventName, domainEventSchemas } from './domain-event-schemas.ts';

export const domainEventNames = Object.keys(domainEventSchemas) as DomainEventName[];

/**
 * Returns the published JSON Schemas (draft 2020-12) of the data of domain events: text by file name, which ends their `$id` too. They
 * allow additional fields, which a later release may send.
 */
export function schemaFiles(): Map<string, string> {
  return new Map(domainEventNames.map((name) => [`${domainEventType(name)}.json`, schemaText(name)]));
}

function schemaText(name: DomainEventName): string {
  const schema = domainEventSchemas[name].meta({ $id: dataSchemaOf(name), title: domainEventType(name) });
  return `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), null, 2)}\n`;
}
