import {statSync} from 'node:fs';
import {join} from 'node:path';
import {z} from 'zod';
import {userDirectory} from '../../disk/directory.ts';
import {BulkEnrichError, isDiskError, OutputError, systemReason, UsageError} from '../../errors.ts';
import {agesSetting, rejectionAgeMs, valueForOperation} from '../../job/setting-types.ts';
import {suggestCountry} from '../../job/settings/lookup-settings.ts';
import {STORE_FILE} from '../../ledger/answers/store-file.ts';
import {StoreAdmin} from '../../ledger/answers/upkeep.ts';
import {intelligenceLookup} from '../../ledger/lookup-outcome.ts';
import {parsePhoneCountry} from '../../operations/country.ts';
import {intelligenceNames, joinWithOr, operationNames, operations} from '../../operations/table.ts';
import {formatCount, pluralize, formatBytes as sized} from '../../report/format.ts';
import {readFlag} from '../job-from-flags.ts';
import {formatTable} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';

interface StoreFlags {
  readonly store?: string;
}

/** The object that `store stats --json` writes. */
interface StoreReport {
  readonly directory: string;
  /** Size of the store's file; 0 without a file. */
  readonly bytes: number;
  /** For each operation: the number of answers, and the times (ISO 8601) of the oldest and the newest one. */
  readonly answers: readonly {operation: string; answers: number; oldest: string; newest: string}[];
}

/** `bulk-enrich store stats`: shows how many answers are stored, and how old they are. */
export async function storeStatsCommand(flags: StoreFlags & {readonly json?: boolean}): Promise<number> {
  const show = (stats: StoreReport) => (flags.json ? printJson(stats) : print('stdout', renderStats(stats)));
  const time = (at: number) => new Date(at).toISOString();
  const work = (store: StoreAdmin, directory: string) =>
    show({
      directory,
      bytes: statSync(join(directory, STORE_FILE)).size,
      answers: store
        .stats()
        .map(({oldest, newest, ...counted}) => ({...counted, oldest: time(oldest), newest: time(newest)})),
    });
  return withStore(
    flags,
    work,
    flags.json ? directory => show({directory, bytes: 0, answers: []}) : printNone,
  );
}

function renderStats({directory, bytes, answers}: StoreReport): string {
  const rows = answers.map(({operation, answers, oldest, newest}) => [
    ...[operation, formatCount(answers), oldest.slice(0, 10), newest.slice(0, 10)],
  ]);
  const shown =
    rows.length === 0 ? 'No answers.' : formatTable([['', 'answers', 'oldest', 'newest'], ...rows]);
  return `${directory}: ${sized(bytes)}\n${shown}\n`;
}

/** `bulk-enrich store prune`: removes answers that are older than --max-age. */
export async function storePruneCommand(flags: StoreFlags & {readonly maxAge: string}): Promise<number> {
  const maxAge = readFlag('maxAge', agesSetting, flags) ?? {};
  return withStore(flags, async store => {
    let removed = 0;
    for (const operation of operationNames) {
      const answers = valueForOperation(maxAge, operation, Number.POSITIVE_INFINITY);
      removed += await store.prune(operation, {answers, rejections: rejectionAgeMs(maxAge)}, Date.now());
    }
    await store.giveBack();
    print('stdout', `${pluralize(removed, 'answer')} removed.\n`);
  });
}

const KEPT_ELSEWHERE = `Unfinished runs keep answers in OUT.run and bring them back when they resume. Finish them first, or delete OUT.run.
The history of runs (the folder runs) is not searched. It has counts, codes, e-mail domains that occur in at least five rows, and the names of jobs and lists.
`;

interface PurgeFlags extends StoreFlags {
  readonly defaultCountry?: string;
  readonly since?: string;
  readonly until?: string;
  readonly operation?: string;
}

/** `bulk-enrich store purge`: removes all answers about a value, or all that were bought in a time. */
export async function storePurgeCommand(value: string | undefined, flags: PurgeFlags): Promise<number> {
  const {since, until, operation} = flags;
  const isByTime = [since, until, operation].some(given => given !== undefined);
  if ((value === undefined) !== isByTime || (isByTime && since === undefined))
    throw new UsageError(
      'settings',
      'Name one value, or a time with --since, and --until and --operation as you like.',
    );
  const remove = value === undefined ? purgeByTime(flags) : purgeOfValue(value, flags);
  const code = await withStore(flags, async store => {
    const removed = await remove(store);
    await store.giveBack();
    const none =
      value === undefined
        ? 'The store has nothing of that time.\n'
        : 'The store has nothing about that value.\n';
    print(
      'stdout',
      removed === 0 ? none : `${pluralize(removed, 'answer')} removed, and overwritten in the file.\n`,
    );
  });
  print('stdout', KEPT_ELSEWHERE);
  return code;
}

type Removal = (store: StoreAdmin) => number | Promise<number>;

/** A day (UTC) or a time with its zone, in milliseconds since the epoch. */
const moment = z
  .union(
    [z.iso.date(), z.iso.datetime({offset: true}), z.iso.datetime({offset: true, precision: -1})],
    'expected a day or a time such as 2026-01-31T02:00:00Z',
  )
  .transform(text => Date.parse(text));

function purgeByTime(flags: PurgeFlags): Removal {
  const operation = readFlag(
    'operation',
    z.enum(operationNames, `expected one of ${joinWithOr(operationNames)}`),
    flags,
  );
  const [from, to] = [readFlag('since', moment, flags), readFlag('until', moment, flags)];
  return store => store.purgeBought(from, to, operation);
}

function purgeOfValue(value: string, {defaultCountry: country}: PurgeFlags): Removal {
  if (country !== undefined && parsePhoneCountry(country) === undefined)
    throw new UsageError(
      'unknown_country',
      `--default-country: expected a country, by ${suggestCountry(country)}, not "${country}".`,
    );
  // The keys of all operations that the value fits, so that the user need not name one.
  const keys = intelligenceNames.flatMap(operation => {
    const canonical = operations[operation].canonical(value, country);
    return canonical.state === 'value' ? [intelligenceLookup(operation, canonical.value).key] : [];
  });
  if (keys.length === 0)
    throw new UsageError(
      'not_a_value',
      `This is not ${joinWithOr(intelligenceNames.map(name => operations[name].singular))}. A phone number in national form needs --default-country.`,
    );
  return store => store.purge(keys);
}

function printNone(directory: string): void {
  print('stdout', `${directory}: no answers are kept there.\n`);
}

async function withStore(
  flags: StoreFlags,
  work: (store: StoreAdmin, directory: string) => void | Promise<void>,
  none = printNone,
): Promise<number> {
  let directory = flags.store;
  let store: StoreAdmin | undefined;
  try {
    directory ??= userDirectory('cache', process.env);
    store = StoreAdmin.open(directory);
    if (store === undefined) none(directory);
    else await work(store, directory);
    return 0;
  } catch (error) {
    // A fault of the program is told as one: its message may have a value.
    if (error instanceof UsageError || !(isDiskError(error) || error instanceof BulkEnrichError)) throw error;
    const which = directory === undefined ? '' : ` in ${directory}`;
    throw new OutputError(
      'store_unusable',
      `The answer store${which} can't be used (${systemReason(error)}).`,
      {cause: error},
    );
  } finally {
    store?.close();
  }
}
