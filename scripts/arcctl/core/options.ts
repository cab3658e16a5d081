import { Option } from 'commander';
import { formats } from './print.ts';

/** Options shared by several commands, named as in kubectl. */

export function outputOption(choices: readonly string[] = formats): Option {
  return new Option('-o, --output <format>', 'output format').choices(choices);
}

export function selectorOption(): Option {
  return new Option('-l, --selector <selector>', 'label selector, such as team=a,env!=test');
}

export function allNamespacesOption(): Option {
  return new Option('-A, --all-namespaces', 'in all namespaces');
}

export function allOption(): Option {
  return new Option('--all', 'all Orders of the namespace');
}

export function yesOption(): Option {
  return new Option('--yes', 'with --all: do not ask for confirmation');
}

export function dryRunOption(): Option {
  return new Option('--dry-run', 'server-side dry run: validate, but store nothing');
}

/** Files with Orders; repeatable. */
export function filenameOption(): Option {
  return new Option('-f, --filename <file>', 'YAML or JSON; - for stdin; repeatable')
    .argParser(collectValues)
    .makeOptionMandatory();
}

/** Collects the values of a repeatable option. */
export function collectValues(value: string, before: string[] = []): string[] {
  return [...before, value];
}
