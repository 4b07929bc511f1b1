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

/** A family of gauges, or of one gauge if given one value; null leaves the gauge out. */
export function gauge(name: string, help: string, value: readonly Sample[] | number | null): Family {
  const samples: Family['samples'] = typeof value === 'number' ? [[{}, value]] : (value ?? []);
  return {name: `bulk_enrich_${name}`, help, samples};
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

/** The first value of a label in a text of metrics; undefined without one. */
export function labelIn(text: string, name: string): string | undefined {
  const [, value] = new RegExp(`[{,]${name}="((?:[^"\\\\\n]|\\\\.)*)"`).exec(text) ?? [];
  return value?.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
