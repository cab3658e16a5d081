/** Reads YAML as Kubernetes and Helm read it (sigs.k8s.io/yaml), with every cost bounded. */

export { type YamlLimits, yamlToJson } from './yaml-to-json.ts';
