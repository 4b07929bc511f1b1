import {packageVersion} from '../../operations/package-files.ts';

/** This module writes Prometheus text, version 0.0.4. */

type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

/**
 * A metric with its samples. A single number is one sample without labels. Null leaves the metric out. A name that ends in
 * `_total` is a counter's, samples with the label `quantile` are a summary's, all others are gauges.
 */
export type Metric = readonly [name: string, help: string, value: readonly Sample[] | number | null];

export function buildInfo(): Metric {
  return [
    'build_info',
    'The version of the program that wrote this.',
    samplesBy('version', {[packageVersion()]: 1}),
  ];
}

/** A sample for each value that is known. `others`: more labels of each. */
export function samplesBy(
  label: string,
  values: Readonly<Record<string, number | null>>,
  others: Labels = {},
): Sample[] {
  return Object.entries(values).flatMap(([name, value]): Sample[] =>
    value === null ? [] : [[{...others, [label]: name}, value]],
  );
}

/** The text of all metrics that have samples. `own`: labels to add to every sample. */
export function formatPrometheusText(metrics: readonly Metric[], own: Labels = {}): string {
  const texts = metrics.map(([name, help, value]) => {
    const samples: readonly Sample[] = typeof value === 'number' ? [[{}, value]] : (value ?? []);
    if (samples.length === 0) return '';
    const isSummary = samples.some(([labels]) => 'quantile' in labels);
    const type = name.endsWith('_total') ? 'counter' : isSummary ? 'summary' : 'gauge';
    const lines = samples.map(([labels, value]) => `${sampleName(name, {...own, ...labels})} ${value}\n`);
    return `# HELP bulk_enrich_${name} ${help}\n# TYPE bulk_enrich_${name} ${type}\n${lines.join('')}`;
  });
  return texts.join('');
}

/** A sample's name with its labels, as its line begins. */
export function sampleName(name: string, labels: Labels): string {
  const escaped = (text: string) =>
    text.replace(/[\\"\n]/g, character => (character === '\n' ? '\\n' : `\\${character}`));
  const listed = Object.entries(labels).map(([label, value]) => `${label}="${escaped(value)}"`);
  return `bulk_enrich_${name}{${listed.join(',')}}`;
}

/** The first value of a label in a text of metrics; undefined without one. */
export function findLabelValue(text: string, name: string): string | undefined {
  const [, value] = new RegExp(`[{,]${name}="((?:[^"\\\\\n]|\\\\.)*)"`).exec(text) ?? [];
  return value?.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));
}
