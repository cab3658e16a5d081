/** YAML with highlighted keys. */
export function Yaml({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <section className="code" tabIndex={0} aria-label={label}>
      <pre>
        {text.split('\n').map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
          <Line key={index} line={line} />
        ))}
      </pre>
    </section>
  );
}

const pattern = /^(\s*(?:- )*)([^\s:#'"][^:]*)(:)(\s.*)?$/;

function Line({ line }: { line: string }) {
  const [, indent = '', key, colon, rest = ''] = pattern.exec(line) ?? [];
  if (line.trimStart().startsWith('#'))
    return (
      <span className="yaml-note">
        {line}
        {'\n'}
      </span>
    );
  if (key === undefined)
    return (
      <span className="yaml-value">
        {line}
        {'\n'}
      </span>
    );
  return (
    <span>
      {indent}
      <span className="yaml-key">{key}</span>
      {colon}
      <span className="yaml-value">{rest}</span>
      {'\n'}
    </span>
  );
}
