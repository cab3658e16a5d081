/** Reads YAML as Kubernetes and Helm read it (sigs.k8s.io/yaml), and writes JSON as YAML, with every cost bounded. */

export { jsonToYaml } from './json-to-yaml.ts';
export { type YamlLimits, yamlToJson } from './yaml-to-json.ts';
