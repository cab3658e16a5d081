import { existsSync } from 'node:fs';
import path from 'node:path';
import { progress } from '../measure/report.ts';
import { benchAtRest } from './at-rest.ts';
import { benchSweep } from './sweep.ts';
import { benchSynthetic } from './synthetic.ts';

/** `bench scale [orders]`, `bench scale synthetic [objects]`, `bench scale sweep [objects]`: what very many finished Orders cost that nobody touches. */
export async function benchScale([first = '100000', second]: readonly string[]): Promise<void> {
  if (first === 'sweep') return benchSweep(Number(second ?? '100000'));
  if (first === 'synthetic') return benchSynthetic(Number(second ?? '1000000'));
  const assets = process.env.KUBEBUILDER_ASSETS ?? '';
  if (existsSync(path.join(assets, 'kube-apiserver'))) await benchAtRest(assets, Number(first));
  else progress('scale: left out: KUBEBUILDER_ASSETS names no folder with etcd and kube-apiserver');
}
