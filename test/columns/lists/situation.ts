import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {Readable} from 'node:stream';
import {gzipSync} from 'node:zlib';
import iconv from 'iconv-lite';
import {makeJobFromFlags} from '../../../src/cli/job-from-flags.ts';
import {CodedError} from '../../../src/errors.ts';
import {openRecordSource} from '../../../src/input/source.ts';
import {makeLayout} from '../../../src/run/layout/layout.ts';

/**
 * A real list, and a run's plan for it: a line of a table, `NAME ▸ LIST ▸ BECOMES ▸ SAYS`.
 *
 * LIST: rows parted by ` ⏎ `, a tab as `⇥`, a line feed in a cell as `␤`, a Ctrl-Z at the end as `␚`; `6× p{n}@example.com` are six rows, {n} from 0. Before them in `[…]`: flags, `@FILE`
 * for its name, `in ENCODING`.
 * BECOMES: `email=Mail phone=Tel country=Land → VALUES | CODES`, where the first values stand for all (`a b c … 12`) and `+code` is
 * a repair; of a list that is refused the error's code and the flags that it offers.
 * SAYS: the message, in parts (` … `).
 */
export interface Situation {
  readonly name: string;
  readonly list: Buffer;
  /** The list before it is encoded. */
  readonly text: string;
  readonly file: string;
  readonly flags: readonly string[];
  readonly becomes: string;
  readonly says: readonly string[];
}

export function situations(table: string): Situation[] {
  const lines = table.split('\n').map(line => line.trim());
  return lines.filter(line => line !== '').map(situation);
}

function situation(line: string): Situation {
  const [name = '', given = '', becomes = '', says = ''] = line.split(/ ▸(?: |$)/).map(part => part.trim());
  const [, options = '', rows = ''] = /^(?:\[([^\]]*)\] ?)?(.*)$/s.exec(given) ?? [];
  const [, flags = '', file = 'list.csv', encoding = 'utf-8'] =
    /^(.*?)(?:@(\S+))?(?: ?in (\S+))?$/.exec(options) ?? [];
  const text = `${rows.split(' ⏎ ').flatMap(repeated).join('\n')}\n`
    .replaceAll('⇥', '\t')
    .replaceAll('␤', '\n')
    .replace(/␚+\n$/, marks => '\u001a'.repeat(marks.length - 1));
  return {
    name,
    text,
    list: iconv.encode(text, encoding),
    file,
    flags: flags
      .split(/ ?(?=--)/)
      .filter(flag => flag !== '')
      .map(flag => flag.trim()),
    becomes,
    says: says.split(' … '),
  };
}

function repeated(row: string): string[] {
  const [, times = '1', text = ''] = /^(?:(\d+)× )?(.*)$/s.exec(row) ?? [];
  return Array.from({length: Number(times)}, (_, n) => text.replaceAll('{n}', String(n)));
}

/** A run's plan for a list. */
export interface Look {
  /** The plan as text. */
  readonly becomes: string;
  readonly said: string;
  /** The error, if the list is refused. */
  readonly stop?: CodedError;
  readonly columns: readonly string[];
  /** The columns that are looked up, or give the country. */
  readonly looked: readonly string[];
  /** The fields of the rows. */
  readonly table: readonly (readonly string[])[];
  /** Fields that the list does not have as text. */
  readonly altered: readonly string[];
}

const NOTHING = {columns: [], looked: [], table: [], altered: []};

/** A run's plan for the list, without a call. */
export async function look(directory: string, situation: Situation): Promise<Look> {
  const given: Record<string, unknown> = {};
  for (const [name, value] of situation.flags.map(settingOf))
    given[name] = name in given ? [given[name], value].flat() : value;
  return lookAt([written(directory, situation)], given, situation.text);
}

/** Writes the list to its file. */
export function written(directory: string, {list, file}: Pick<Situation, 'list' | 'file'>): string {
  const path = join(directory, file);
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, file.endsWith('.gz') ? gzipSync(list) : list);
  return path;
}

/** A run's plan for these inputs and flags. `text`: the list's text. `stdin`: what is piped into the run. */
export async function lookAt(
  inputs: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  text: string,
  stdin: Buffer = Buffer.alloc(0),
): Promise<Look> {
  const said: string[] = [];
  try {
    const planned = await planOf(inputs, flags, said, stdin);
    const isIn = (field: string) => [field, field.replaceAll('"', '""')].some(one => text.includes(one));
    const altered = planned.table.flat().filter(field => !isIn(field));
    return {...planned, altered, said: said.join('\n')};
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const {code, message, remedy} = error;
    const becomes = [code, ...(remedy.flags ?? [])].join(' ').trimEnd();
    return {...NOTHING, becomes, stop: error, said: [...said, message].join('\n')};
  }
}

async function planOf(
  inputs: readonly string[],
  flags: Readonly<Record<string, unknown>>,
  said: string[],
  stdin: Buffer,
): Promise<Omit<Look, 'said' | 'altered'>> {
  const settings = {...flags, endpoint: 'embedded', score: 'none'};
  const {job} = makeJobFromFlags(inputs, settings, {makesCalls: false});
  const from = {paths: job.inputs, decides: true, stdin: Readable.from([stdin])};
  const source = await openRecordSource({...job.settings, ...from});
  try {
    said.push(...source.notes.map(String));
    const {mapping} = makeLayout(job, source, 0);
    said.push(...mapping.doubts.map(String));
    const values = new Set<string>();
    const codes = new Map<string, number>();
    const table: (readonly string[])[] = [];
    for await (const records of source.batches())
      for (const record of records) {
        if (record.type === 'reject') {
          count(codes, record.reason);
          continue;
        }
        if (record.type === 'csv') table.push(record.fields);
        for (const cell of mapping.planRow(record)) {
          if (cell.status === 'invalid' || cell.status === 'skipped') count(codes, cell.error);
          if (cell.status !== 'ask') continue;
          values.add(Object.values(cell.lookup.params).join());
          for (const repair of cell.repairs ?? []) count(codes, `+${repair}`);
        }
      }
    const columns = mapping.targets.map(({operation, column}) => `${operation}=${column}`);
    const country = [...new Set(mapping.countries.values())].map(name => `country=${name}`);
    const shown = [...codes].map(([code, n]) => ` ${n}×${code}`).join('');
    const looked = [...mapping.targets.map(({column}) => column), ...mapping.countries.values()];
    const asked = [...columns, ...country].join(' ').replaceAll('\n', '␤');
    const becomes = `${asked} ${`→ ${shortened([...values])}`.trim()}${shown && ` |${shown}`}`;
    return {becomes, columns: source.format.columns, looked, table};
  } finally {
    await source.close();
  }
}

/** `--phone nr` and `--no-header`, as commander hands them over. */
function settingOf(flag: string): [string, unknown] {
  const [name = '', value] = flag.replace(/^--/, '').split(/ (.*)/);
  const isOff = name.startsWith('no-');
  const key = (isOff ? name.slice(3) : name).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return [key, isOff ? false : (value ?? true)];
}

const SHOWN = 3;

function shortened(values: readonly string[]): string {
  if (values.length <= SHOWN + 1) return values.join(' ');
  return `${values.slice(0, SHOWN).join(' ')} … ${values.length}`;
}

function count(codes: Map<string, number>, code: string): void {
  codes.set(code, (codes.get(code) ?? 0) + 1);
}
