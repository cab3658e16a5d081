import { useId } from 'react';
import { Pick } from '../parts/select.tsx';
import type { Field } from './draft.ts';

interface FieldProps {
  field: Field;
  value: unknown;
  onChange(value: unknown): void;
}

/** The form control for one field of an artifact. */
export function ArtifactField({ field, value, onChange }: FieldProps) {
  const id = useId();
  const { name, text, isRequired, form } = field;
  if (form === 'group')
    return <Group field={field} value={(value ?? {}) as Record<string, unknown>} onChange={onChange} />;
  if (form === 'flag')
    return (
      <div className="form-field">
        <label className="flag">
          <input
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.target.checked)}
          />
          {name}
        </label>
        {text && <p className="help">{text}</p>}
      </div>
    );
  return (
    <div className="form-field">
      <label htmlFor={id}>
        {name} {isRequired && <span className="required">required</span>}
      </label>
      <Control id={id} field={field} value={String(value ?? '')} onChange={onChange} />
      {text && <p className="help">{text}</p>}
    </div>
  );
}

function Group({
  field: { name, text, fields },
  value,
  onChange,
}: {
  field: Field;
  value: Record<string, unknown>;
  onChange(value: unknown): void;
}) {
  return (
    <fieldset className="artifact-form">
      <legend>{name}</legend>
      {text && <p className="help">{text}</p>}
      {fields.map((each) => (
        <ArtifactField
          key={each.name}
          field={each}
          value={value[each.name]}
          onChange={(next) => onChange({ ...value, [each.name]: next })}
        />
      ))}
    </fieldset>
  );
}

function Control({
  id,
  field: { name, form, choices, isRequired },
  value,
  onChange,
}: {
  id: string;
  field: Field;
  value: string;
  onChange(value: string): void;
}) {
  if (form === 'choice') {
    const none = isRequired ? [] : [{ value: '', label: 'not set' }];
    return (
      <Pick
        id={id}
        label={name}
        value={value}
        choices={[...none, ...choices.map((each) => ({ value: each, label: each }))]}
        onChange={onChange}
      />
    );
  }
  if (form === 'lines' || form === 'json')
    return (
      <textarea
        id={id}
        className="input"
        rows={3}
        placeholder={form === 'lines' ? 'One in each line' : 'JSON'}
        value={value}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
    );
  return (
    <input
      id={id}
      className="input"
      inputMode={form === 'number' ? 'decimal' : 'text'}
      value={value}
      spellCheck={false}
      autoComplete="off"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
