/** Parses YAML as Kubernetes and Helm do (sigs.k8s.io/yaml), and prints JSON as YAML, both with bounded cost. */

export { jsonToYaml } from './json-to-yaml.ts';
export { type YamlLimits, yamlToJson } from './yaml-to-json.ts';
