import { conduitNamespace, settingsName, settingsTable } from '#shared/domain';

/** Returns the section of the API reference about the operator's settings: a row for each key of the ConfigMap. */
export function settingsReference(): string {
  const rows = Object.entries(settingsTable).map(
    ([key, { form, unset, what }]) => `| \`${key}\` | ${form} | ${unset} | ${what} |`,
  );
  return `## Settings of the operator

Keys of the ConfigMap \`${settingsName}\` in \`${conduitNamespace}\`. Each value is a string; an empty string counts as unset. [Tenants](operate/tenants.md#settings-for-all-orders) says
how they work.

| key | value | without it | |
| --- | --- | --- | --- |
${rows.join('\n')}
`;
}
