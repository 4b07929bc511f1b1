import {packageVersion} from '../../job/version.ts';

/** This module writes Prometheus text, version 0.0.4. A family is a metric with all its samples. */

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'summary';
  readonly samples: readonly Sample[];
}

type SampleValue = readonly Sample[] | number | null;

/** A family of gauges. A single number makes one gauge without labels; null leaves the family out. */
export function gauge(name: string, help: string, value: SampleValue): Family {
  return familyOf('gauge', name, help, value);
}

/** A family of counters. A single number makes one counter without labels. The name ends in `_total`. */
export function counter(name: `${string}_total`, help: string, value: SampleValue): Family {
  return familyOf('counter', name, help, value);
}

/** A family of quantiles, such as `quantile="0.5"`. */
export function quantiles(
  name: string,
  help: string,
  values: Readonly<Record<string, number | null>>,
): Family {
  const known = Object.entries(values).filter((entry): entry is [string, number] => entry[1] !== null);
  return familyOf('summary', name, help, by('quantile', Object.fromEntries(known)));
}

function familyOf(type: Family['type'], name: string, help: string, value: SampleValue): Family {
  const samples: Family['samples'] = typeof value === 'number' ? [[{}, value]] : (value ?? []);
  return {name: `bulk_enrich_${name}`, help, type, samples};
}

export function buildInfo(): Family {
  return gauge('build_info', 'The version of the program that wrote this.', [
    [{version: packageVersion()}, 1],
  ]);
}

export function by(label: string, values: Readonly<Record<string, number>>, others: Labels = {}): Sample[] {
  return Object.entries(values).map(([name, value]) => [{...others, [label]: name}, value]);
}

/** The text of all families that have samples. `own`: labels to add to every sample. */
export function familiesText(families: readonly Family[], own: Labels): string {
  return families
    .filter(({samples}) => samples.length > 0)
    .map(family => familyText(family, own))
    .join('');
}

function familyText({name, help, type, samples}: Family, own: Labels): string {
  const lines = samples.map(([labels, value]) => `${name}${labelText({...own, ...labels})} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

export function labelText(labels: Labels): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`)
    .join(',')}}`;
}

/** The first value of a label in a text of metrics; undefined without one. */
export function labelIn(text: string, name: string): string | undefined {
  const [, value] = new RegExp(`[{,]${name}="((?:[^"\\\\\n]|\\\\.)*)"`).exec(text) ?? [];
  return value?.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
