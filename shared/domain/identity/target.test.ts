import { describe, expect, it } from 'vitest';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import { targetOf } from './target.ts';

const oci = { target: ['specOverride', 'specImage'] };

function target(
  values: Record<string, string>,
  spec: Partial<ArtifactType['spec']> = oci,
  remoteURL = 'https://to',
) {
  const parameters = Object.entries(values).map(([name, value]) => ({ name, value }));
  const type: ArtifactType = {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'ClusterArtifactType',
    metadata: { name: 'oci' },
    spec: { workflowTemplateRef: { name: 't' }, ...spec },
  };
  return targetOf({ type, remoteURL, parameters, spec: values });
}

describe('the target of a transfer', () => {
  it('is the first of the parameters of the type that is set', () => {
    expect(target({ specImage: 'a:1' })).toMatch(/^[0-9a-f]{16}$/);
    expect(target({ specImage: 'a:1', specOverride: 'm:1' })).toBe(
      target({ specImage: 'b:2', specOverride: 'm:1' }),
    );
    expect(target({ specImage: 'a:1', specOverride: '' })).toBe(target({ specImage: 'a:1' }));
    expect(target({ specImage: 'a:1' })).not.toBe(target({ specImage: 'a:2' }));
  });

  it('takes the tag or digest of the next parameter where the first has none', () => {
    const renamed = (image: string) => target({ specImage: image, specOverride: 'host:5000/m' });
    expect(renamed('a:1')).not.toBe(renamed('a:2'));
    expect(renamed('a:1')).toBe(target({ specImage: 'host:5000/m:1' }));
    expect(renamed('a@sha256:00')).toBe(target({ specImage: 'host:5000/m@sha256:00' }));
  });

  it('is at the destination, however its URL is written', () => {
    const at = (url: string) => target({ specImage: 'a:1' }, oci, url);
    expect(at('https://Registry.example.com/')).toBe(at('registry.example.com'));
    expect(at('https://registry.example.com')).not.toBe(at('https://registry.example.com/team'));
  });

  it('is the whole spec where the type names no parameters', () => {
    const whole = (values: Record<string, string>) => target(values, {});
    expect(whole({ specImage: 'a:1' })).not.toBe(whole({ specImage: 'a:1', specOther: 'b' }));
  });
});
