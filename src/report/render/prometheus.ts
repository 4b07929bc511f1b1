/** Prometheus text, version 0.0.4. */

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

export interface Family {
  readonly name: string;
  readonly help: string;
  /** A gauge where nothing else is said. */
  readonly type?: 'counter' | 'gauge';
  readonly samples: readonly Sample[];
}

export function gauge(name: string, help: string, value: number): Family {
  return {name: `bulk_enrich_${name}`, help, samples: [[{}, value]]};
}

export function by(label: string, values: Readonly<Record<string, number>>, others: Labels = {}): Sample[] {
  return Object.entries(values).map(([name, value]) => [{...others, [label]: name}, value]);
}

export function familyText({name, help, type = 'gauge', samples}: Family, own: Labels): string {
  const lines = samples.map(([labels, value]) => `${name}${labelText({...own, ...labels})} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

export function labelText(labels: Labels): string {
  return `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`)
    .join(',')}}`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
