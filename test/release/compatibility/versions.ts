import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Which module of which go.mod a program is. */
const modules = [
  ['crane, go-containerregistry', 'registry-tools', 'github.com/google/go-containerregistry'],
  ['distribution 3', 'registry-tools', 'github.com/distribution/distribution/v3'],
  ['regctl', 'transfer-rivals', 'github.com/regclient/regclient'],
  ['oras', 'transfer-rivals', 'oras.land/oras'],
  ['cosign', 'transfer-judges', 'github.com/sigstore/cosign/v3'],
  ['syft', 'transfer-judges', 'github.com/anchore/syft'],
  ['Helm', 'helm-judge', 'helm.sh/helm/v3'],
  ['regsync', 'compatibility', 'github.com/regclient/regclient'],
  ['umoci', 'compatibility', 'github.com/opencontainers/umoci'],
  ['CUE ociregistry', 'compatibility', 'cuelabs.dev/go/oci/ociregistry'],
] as const;

/** The programs of the page, with their versions. */
export async function toolVersions(
  read: (file: string, encoding: 'utf8') => Promise<string>,
): Promise<[string, string][]> {
  const built = modules.map(async ([name, folder, module]): Promise<[string, string]> => {
    const text = await read(`.ci/${folder}/go.mod`, 'utf8');
    const version = text.split('\n').flatMap((line) => {
      const [, found, at] = /^\s*(?:require )?(\S+) (v\S+)/.exec(line) ?? [];
      return found === module && at !== undefined ? [at.replace(/^v/, '')] : [];
    });
    return [name, version[0] ?? 'unknown'];
  });
  const programs = ['skopeo', 'docker-registry', 'podman', 'buildah', 'containerd'];
  const printed = programs.map(async (program): Promise<[string, string]> => {
    const { stdout } = await promisify(execFile)(program, ['--version'], { timeout: 10_000 });
    const name = program === 'docker-registry' ? 'distribution 2 (docker-registry of Debian)' : program;
    return [name, /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? 'unknown'];
  });
  return Promise.all([...printed, ...built]);
}
