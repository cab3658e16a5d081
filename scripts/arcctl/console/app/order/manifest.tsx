import type { OrderHead } from '../../api.ts';
import { useRead } from '../data/use-read.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Loading, Notice } from '../parts/states.tsx';
import { Yaml } from '../parts/yaml.tsx';

/** The user-written part of the Order as YAML. */
export function Manifest({ order: { namespace, name } }: { order: OrderHead }) {
  const { value, problem } = useRead<{ text: string }>(`/api/orders/${namespace}/${name}/manifest`, 10_000);
  if (problem && !value) return <Notice>{problem}</Notice>;
  if (!value) return <Loading />;
  return (
    <div className="code-box">
      <div className="code-head">
        <span>{name}.yaml</span>
        <CopyButton text={value.text} what="manifest" />
      </div>
      <Yaml text={value.text} label={`Manifest of ${name}`} />
    </div>
  );
}
