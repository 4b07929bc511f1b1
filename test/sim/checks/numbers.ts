import {createHash} from 'node:crypto';
import type {Operation} from '../../../src/operations/table.ts';
import type {LookupCounts, Summary} from '../../../src/report/summary.ts';
import {costOf, startsFresh} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {accountOf, endpointOf, inputName, isScored, LEVELS, outputPath, RULES} from '../model/places.ts';
import {type Call, DENIED, hasOddType, hasUnknownField, REJECTED} from '../world/service.ts';
import {
  type LookedUp,
  lookedUp,
  type OutputRow,
  operationsOf,
  readRows,
  recordsOf,
  targets,
  targetsOf,
  valueIn,
} from './output.ts';
import {
  type Check,
  callsInLedger,
  credits,
  grouped,
  isBegunAnew,
  isBooked,
  isDoubtful,
  isMore,
  priceOf,
  runsOfLedger,
  type Scene,
  scopeOfCall,
  scopeOfSpec,
  textOf,
  UNTRIED,
} from './scene.ts';

/** The numbers of a summary, each from what the service knows and what the rows say: never from the program's own counts. */

/** A lookup of a row, with its value. */
interface Cell extends LookedUp {
  readonly name: Operation;
  readonly value: string;
  /** The number of its row among the input's records. */
  readonly row: number;
}

/** A run that has just written its output, alone, and what its rows say. */
interface Written {
  readonly run: Ended;
  readonly summary: Summary;
  readonly cells: readonly Cell[];
  readonly broken: number;
}

const EMPTY = Buffer.alloc(0);

function writtenIn({run}: Scene): Written | undefined {
  const {summary, spec, after, end, isAlone, input, ledger} = run;
  if (summary === undefined || ledger === undefined || !isAlone || end !== 'wrote') return undefined;
  const lines = input.split('\n').slice(1, -1);
  const {rows, broken} = recordsOf(input);
  const cells = readRows(textOf(after.get(outputPath(spec)) ?? EMPTY), spec).flatMap((line, index) =>
    targetsOf(spec).map(name => ({
      name: targets[name].operation,
      value: valueIn(rows[index] ?? '', name),
      row: 1 + lines.indexOf(rows[index] ?? ''),
      ...lookedUp(line, name),
    })),
  );
  return {run, summary, cells, broken: broken.length};
}

/** Says which of these numbers is told otherwise; undefined if none is. */
function differing(told: object, derived: object, of = ''): string | undefined {
  for (const [name, expected] of Object.entries(derived)) {
    const said = (told as Record<string, unknown>)[name];
    if (JSON.stringify(said) !== JSON.stringify(expected))
      return `${of}${name} is ${JSON.stringify(said)}, and ${JSON.stringify(expected)} in truth`;
  }
  return undefined;
}

/** Says which of these numbers is outside its bounds. */
function outside(
  told: Readonly<Record<string, number>>,
  bounds: Readonly<Record<string, readonly [least: number, most: number]>>,
  of = '',
): string | undefined {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const said = told[name] ?? 0;
    if (isMore(least, said) || isMore(said, most))
      return `${of}${name} is ${said}, and ${least} to ${most} in truth`;
  }
  return undefined;
}

const CANNOT = new Set(['budget', 'deadline', 'outage', 'offline']);

function isTrouble({status, error}: LookedUp): boolean {
  return status === 'failed' || status === 'unknown' || (status === 'skipped' && CANNOT.has(error));
}

/** True for a cell whose lookup came to something of this run: a call, or an answer that is within its age. */
function isDone({status, isStale}: LookedUp): boolean {
  return (status === 'ok' || status === 'failed' || status === 'unknown') && !isStale;
}

const ofRows: Check = {
  promise: 'The summary counts rows and cells as the output has them.',
  fields: [
    'rows',
    'lookups.*.values',
    'lookups.*.empty',
    'lookups.*.invalid',
    'lookups.*.repaired',
    'lookups.*.answered',
    'lookups.*.failed',
    'lookups.*.unknown',
    'lookups.*.skipped',
    'lookups.*.stale',
  ],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, broken, run} = written;
    const total = new Set(cells.map(({row}) => row)).size;
    const troubled = new Set(cells.filter(isTrouble).map(({row}) => row)).size;
    const rows = {
      read: total + broken,
      written: total,
      rejected: broken,
      ok: total - troubled,
      with_errors: troubled,
      blank_lines: 0,
      padded: 0,
    };
    const wrong = differing(summary.rows, rows, 'rows.');
    if (wrong !== undefined) return wrong;
    const named = Object.keys(summary.lookups).filter(name => cells.some(cell => cell.name === name));
    if (named.length !== operationsOf(run.spec).length && total > 0)
      return `it tells of ${named.join(', ')} alone`;
    for (const name of operationsOf(run.spec)) {
      const own = cells.filter(cell => cell.name === name);
      const count = (status: string) => own.filter(cell => cell.status === status).length;
      const derived = {
        values: own.length,
        empty: count('empty'),
        invalid: count('invalid'),
        repaired: 0,
        answered: count('ok'),
        failed: count('failed'),
        unknown: count('unknown'),
        skipped: count('skipped'),
        stale: own.filter(({isStale}) => isStale).length,
      };
      const other = differing(summary.lookups[name] ?? {}, derived, `lookups.${name}.`);
      if (other !== undefined) return other;
    }
    return undefined;
  },
};

const ofErrors: Check = {
  promise: 'The summary has each code of an error with its cells and the first of their rows.',
  fields: ['errors', 'repairs'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, broken} = written;
    const found = new Map<string, number[]>();
    for (const cell of cells)
      if (isTrouble(cell) || cell.status === 'invalid') {
        const code = `${cell.name}.${cell.error}`;
        found.set(code, [...(found.get(code) ?? []), cell.row]);
      }
    const told = summary.errors.filter(({code}) => !code.startsWith('rejected.'));
    const rejected = summary.errors.filter(({code}) => code.startsWith('rejected.'));
    if (rejected.reduce((sum, {count}) => sum + count, 0) !== broken) return `${broken} rows were rejected`;
    if (told.length !== found.size) return `${told.length} codes are told, of ${found.size}`;
    for (const {code, count, rows} of told)
      if (count !== found.get(code)?.length || rows.join() !== found.get(code)?.slice(0, 10).join())
        return `${code} is said to be in ${count} (${rows}), and is in ${found.get(code)}`;
    if (summary.repairs.length > 0) return 'nothing was repaired';
    const counts = summary.errors.map(({count}) => count);
    return counts.join() === counts.toSorted((a, b) => b - a).join() ? undefined : 'they are not in order';
  },
};

/** The run's calls at its endpoint and account, in all its sessions; undefined where the books begin anew among them. */
function bookedCalls(scene: Scene): readonly Call[] | undefined {
  const {run, lostState} = scene;
  const runs = runsOfLedger(scene);
  const isKnown = run.summary !== undefined && run.ledger !== undefined && !lostState && !run.spec.fleet;
  if (!isKnown || runs.some(({spec}) => startsFresh(spec))) return undefined;
  return callsInLedger(scene).filter(call => scopeOfCall(call) === scopeOfSpec(run.spec));
}

const isSent = ({told}: Call) => told !== 'not sent';

/** True if it is known of each call that was heard of whether it is in the books: no kill leaves that open. */
function isExact(scene: Scene): boolean {
  return !runsOfLedger(scene).some(({process}) => process.killed);
}

/** Bounds of how many calls there are: those that are in the books for sure, and those that were heard of. */
function countOf(calls: readonly Call[], scene: Scene): readonly [number, number] {
  const booked = calls.filter(call => isBooked(call, scene)).length;
  return [booked, isExact(scene) ? booked : calls.filter(({told}) => told !== undefined).length];
}

const ofCalls: Check = {
  promise: 'The summary counts calls by what the service said, each once, over all sessions.',
  fields: ['calls.by_status', 'calls.by_error', 'calls.unsent', 'calls.unconfirmed', 'lookups.*.calls'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    const {by_status: byStatus, by_error: byError, unsent, unconfirmed, total} = summary.calls;
    const statuses = new Set([
      ...calls.flatMap(({status}) => status ?? []).map(String),
      ...Object.keys(byStatus),
    ]);
    const codes = new Set(calls.filter(({status}) => status === undefined).map(({code}) => code));
    for (const code of [...codes, ...Object.keys(byError)]) if (code !== 'interrupted') codes.add(code);
    const bounds = {
      ...Object.fromEntries(
        [...statuses].map(status => [
          status,
          countOf(
            calls.filter(call => String(call.status) === status),
            scene,
          ),
        ]),
      ),
    };
    const ofCodes = Object.fromEntries(
      [...codes].map(code => [
        code,
        countOf(
          calls.filter(call => call.status === undefined && call.code === code),
          scene,
        ),
      ]),
    );
    const known = countOf(
      calls.filter(({told}) => told === 'not sent'),
      scene,
    );
    const wrong =
      outside(byStatus, bounds, 'calls.by_status.') ??
      outside(byError, ofCodes, 'calls.by_error.') ??
      outside({unsent}, {unsent: known}, 'calls.') ??
      outside(byError, {interrupted: [unconfirmed, unconfirmed]}, 'calls.by_error.');
    if (wrong !== undefined) return wrong;
    const all = [...Object.values(byStatus), ...Object.values(byError)].reduce(
      (sum, count) => sum + count,
      0,
    );
    if (all !== total + unsent + unconfirmed)
      return `${all} by status and error, of ${total} calls, ${unsent} unsent and ${unconfirmed} unconfirmed`;
    for (const [name, {calls: told}] of Object.entries(summary.lookups)) {
      const own = calls.filter(call => call.operation === name && isSent(call));
      const other = outside({calls: told}, {calls: countOf(own, scene)}, `lookups.${name}.`);
      if (other !== undefined) return other;
    }
    return undefined;
  },
};

const ofRetries: Check = {
  promise: "Each call beyond a value's first is a retry.",
  fields: ['calls.retries', 'lookups.*.retries'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    let sum = 0;
    for (const [name, {retries}] of Object.entries(summary.lookups)) {
      const bounds: [number, number] = [0, 0];
      for (const own of grouped(
        calls.filter(call => call.operation === name && isSent(call)),
        ({value}) => value,
      ))
        for (const [index, call] of own.entries()) {
          const before = own.slice(0, index);
          // A session's first sending is a retry if the ledger has a doubt of the value.
          const isSure = before.some(one => one.process === call.process && isBooked(one, scene));
          if (isSure && isBooked(call, scene)) bounds[0] += 1;
          if (before.length > 0 && call.told !== undefined) bounds[1] += 1;
        }
      // What a kill or a full disk kept out of the ledger may have been sent, by the ledger.
      if (runsOfLedger(scene).some(({process}) => process.killed || process.refused))
        bounds[1] += summary.calls.unconfirmed;
      const wrong = outside({retries}, {retries: bounds}, `lookups.${name}.`);
      if (wrong !== undefined) return wrong;
      sum += retries;
    }
    return differing(summary.calls, {retries: sum}, 'calls.');
  },
};

const ofLatency: Check = {
  promise: 'Latencies are those of the calls: the longest as it was, percentiles within 5%.',
  fields: ['calls.latency_ms'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    if (!isExact(scene)) return UNTRIED;
    const took = calls.filter(call => isSent(call) && isBooked(call, scene)).map(({latencyMs}) => latencyMs);
    const {max, p50, p95, p99} = summary.calls.latency_ms;
    if (took.length === 0)
      return differing({max, p50, p95, p99}, {max: null, p50: null, p95: null, p99: null});
    const longest = Math.ceil(Math.max(...took));
    if (max !== longest) return `the longest is said to have taken ${max}, and took ${longest}`;
    for (const [share, told] of [
      [0.5, p50],
      [0.95, p95],
      [0.99, p99],
    ] as const) {
      const at = Math.ceil(share * took.length) - 1;
      const nth = took.toSorted((a, b) => a - b)[at] ?? 0;
      if (Math.abs((told ?? 0) - nth) > nth * 0.06 + 1)
        return `${100 * share}% are said to have taken ${told}: ${took.join(', ')}`;
    }
    return undefined;
  },
};

const ofTypes: Check = {
  promise: 'Fields with another type than the interface has are counted, and unknown ones.',
  fields: ['calls.wrong_types', 'calls.unknown_fields'],
  broken(scene) {
    const calls = bookedCalls(scene);
    const {summary} = scene.run;
    if (calls === undefined || summary === undefined) return UNTRIED;
    const answered = calls.filter(({told}) => told === 'answered');
    const sum = (counts: Readonly<Record<string, number>>) =>
      Object.values(counts).reduce((all, count) => all + count, 0);
    const {wrong_types: odd, unknown_fields: unknown} = summary.calls;
    return outside(
      {wrong_types: sum(odd), unknown_fields: sum(unknown)},
      {
        wrong_types: countOf(answered.filter(hasOddType), scene),
        unknown_fields: countOf(answered.filter(hasUnknownField), scene),
      },
      'calls.',
    );
  },
};

const ofSession: Check = {
  promise: "What a session is told to have spent, its own calls cost: no earlier session's.",
  fields: ['session.by_operation'],
  broken(scene) {
    const {run} = scene;
    const {summary, spec, ledger, calls, process} = run;
    if (summary === undefined || ledger === undefined || spec.fleet || process.killed) return UNTRIED;
    for (const [name, told] of Object.entries(summary.session.by_operation)) {
      const own = calls.filter(call => call.operation === name);
      const charged = credits(own);
      const doubtful = own.filter(isDoubtful).reduce((sum, call) => sum + priceOf(call), 0);
      const heard = own.filter(call => isSent(call) && call.told !== undefined).length;
      const wrong = outside(
        {...told, together: told.spent + told.maybe_spent},
        {
          calls: [heard, heard],
          spent: [0, charged],
          maybe_spent: [0, doubtful],
          together: [charged, Number.POSITIVE_INFINITY],
        },
        `session.by_operation.${name}.`,
      );
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  },
};

const ofValues: Check = {
  promise:
    'Distinct values, those known from the store and those asked once for several cells are as the rows have them.',
  fields: ['lookups.*.distinct', 'lookups.*.from_store', 'lookups.*.rejected', 'lookups.*.deduplicated'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, run} = written;
    const calls = callsInLedger(scene).filter(call => scopeOfCall(call) === scopeOfSpec(run.spec));
    const isFirst = runsOfLedger(scene).length === 1;
    for (const name of operationsOf(run.spec)) {
      const told = summary.lookups[name];
      if (told === undefined) continue;
      const own = cells.filter(cell => cell.name === name && isDone(cell));
      const values = new Set(own.map(({value}) => value));
      const asked = new Set(calls.filter(call => call.operation === name).map(({value}) => value));
      // Values that could not be sent were looked up in the store anyway.
      const leftOut = cells.filter(
        ({name: of, status, error}) => of === name && status === 'skipped' && CANNOT.has(error),
      );
      const all = new Set([...values, ...asked, ...leftOut.map(({value}) => value)]).size;
      const unasked = [...values].filter(value => !asked.has(value));
      const bought = new Set(
        calls
          .filter(call => call.operation === name && (call.told === 'answered' || call.told === 'rejected'))
          .map(({value}) => value),
      );
      const free = [...values].filter(value => !bought.has(value)).length;
      const rejections = cells.filter(
        ({name: of, status, error}) => of === name && status === 'failed' && REJECTIONS.has(error),
      );
      const surely = rejections.filter(({value}) => isFirst && !asked.has(value)).length;
      const known = isFirst && name !== 'verify' ? unasked.length : 0;
      const mayBeKnown = name === 'verify' && isFirst ? 0 : isFirst ? free : values.size;
      const repeats = Math.max(0, own.length - told.distinct);
      const wrong = outside(
        {...told},
        {
          distinct: [values.size, all],
          from_store: [known, mayBeKnown],
          rejected: [surely, rejections.length],
          deduplicated: [repeats, repeats],
        },
        `lookups.${name}.`,
      );
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  },
};

const REJECTIONS = new Set([REJECTED, DENIED]);

const ofSavings: Check = {
  promise: 'What is saved are the cells without a call of their own, at the price of a call.',
  fields: ['credits.saved'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, run} = written;
    const worth = (counted: (name: Operation) => number) =>
      operationsOf(run.spec).reduce(
        (all, name) => all + counted(name) * Math.round(costOf(run.spec, name) * 1_000),
        0,
      ) / 1_000;
    const told = (of: keyof LookupCounts) => worth(name => summary.lookups[name]?.[of] ?? 0);
    const skipped = (error: string) => (cell: Cell) => cell.status === 'skipped' && cell.error === error;
    const isLeftOut = (cell: Cell) =>
      cell.status === 'invalid' || skipped('condition')(cell) || skipped('filter')(cell);
    const worthOf = (is: (cell: Cell) => boolean) =>
      worth(name => cells.filter(cell => cell.name === name && is(cell)).length);
    return differing(
      summary.credits.saved,
      {
        dedupe: told('deduplicated'),
        store: told('from_store'),
        prefilter: worthOf(isLeftOut),
        by_condition: worthOf(skipped('condition')),
      },
      'credits.saved.',
    );
  },
};

/** The output's answers for each address, by field. */
function addressesIn({run: {after, spec}}: Written): OutputRow[] {
  const lines = readRows(textOf(after.get(outputPath(spec)) ?? EMPTY), spec);
  const own = targetsOf(spec).filter(name => targets[name].operation === 'ip');
  return lines.flatMap(line =>
    own.map(
      (name): OutputRow =>
        field =>
          line(targets[name].prefix + field),
    ),
  );
}

const ofFields: Check = {
  promise: 'Shares of fields are those of the answers in the rows.',
  fields: ['fields'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined || !targetsOf(written.run.spec).includes('ip')) return UNTRIED;
    const {summary, cells} = written;
    const answered = addressesIn(written).filter(line => line('status') === 'ok');
    const shared = (part: number) =>
      answered.length === 0 ? 0 : Math.round((part / answered.length) * 1e6) / 1e6;
    const truly = answered.filter(line => line('is_vpn') === 'true').length;
    const isOdd = cells.length === 0;
    return isOdd
      ? UNTRIED
      : differing(
          summary.fields['ip']?.['is_vpn'] ?? {},
          {present: shared(answered.length), true: shared(truly)},
          'fields.ip.is_vpn.',
        );
  },
};

const ofAbout: Check = {
  promise: 'A summary says which run it is of, when it was, how it ended, and over which files.',
  fields: [
    'schema_version',
    'run_id',
    'job',
    'status',
    'reason',
    'exit_code',
    'started_at',
    'finished_at',
    'duration_ms',
    'endpoint',
    'input',

    'credits.limit',
    'credits.account.label',
  ],
  broken(scene) {
    const {run} = scene;
    const {summary, spec, code, stop, ledger} = run;
    if (summary === undefined || ledger === undefined || run.end === 'complete') return UNTRIED;
    if (run.end !== 'wrote' && stop === undefined) return UNTRIED;
    const status = stop !== undefined ? undefined : code === 0 ? 'completed' : 'partial';
    const startedAt = Date.parse(summary.started_at);
    const duration = Date.parse(summary.finished_at) - startedAt;
    const wrong = differing(
      {
        ...summary,
        kind: summary.endpoint.kind,
        base: summary.endpoint.base_url,
        label: summary.credits.account.label,
      },
      {
        schema_version: 2,
        job: null,
        exit_code: code,
        duration_ms: duration,
        kind: 'live',
        base: endpointOf(spec),
        label: accountOf(spec),
        failed_if: [],
        drift: [],
        ...(!isScored(spec) && {risk: null}),
        ...(status && {status}),
        ...(stop && {reason: stop}),
      },
    );
    if (wrong !== undefined) return wrong;
    if (duration < 0) return `it ended ${-duration} ms before it began`;
    if (summary.credits.limit !== (spec.maxCredits ?? null)) return `the limit is ${summary.credits.limit}`;
    if (summary.input.paths.join() !== inputName(spec)) return `the input is ${summary.input.paths}`;
    const others = scene.runs.filter(one => one.nth < run.nth && one.summary?.run_id === summary.run_id);
    const isOther = others.some(one => one.ledger !== undefined && one.ledger !== ledger);
    if (isOther) return `it has the name of run ${others[0]?.nth}`;
    if (stop === undefined && run.isAlone && !spec.stdin) {
      const sha256 = createHash('sha256').update(run.input).digest('hex');
      const file = differing(summary.input, {bytes: Buffer.byteLength(run.input), sha256}, 'input.');
      if (file !== undefined) return file;
    }
    return undefined;
  },
};

const ofOutput: Check = {
  promise: 'A summary names the files that it tells of by their length and digest.',
  fields: ['output', 'rejects'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {run, summary} = written;
    const digest = (data: Buffer) => ({
      bytes: data.length,
      sha256: createHash('sha256').update(data).digest('hex'),
    });
    const output = run.after.get(outputPath(run.spec)) ?? EMPTY;
    const rejects = run.job?.paths.rejects;
    const file = rejects === undefined ? undefined : run.after.get(rejects);
    const wrong = differing(summary.output, {path: run.job?.output.name, ...digest(output)}, 'output.');
    if (wrong !== undefined || written.broken === 0)
      return wrong ?? (summary.rejects === null ? undefined : 'it tells of rejects, and there are none');
    return differing(summary.rejects ?? {}, {path: rejects ?? null, ...digest(file ?? EMPTY)}, 'rejects.');
  },
};

const ofPace: Check = {
  promise: 'Pace and timeline are those of the calls and rows.',
  fields: ['pace', 'timeline'],
  broken(scene) {
    const {run} = scene;
    const {summary, spec} = run;
    const calls = bookedCalls(scene);
    if (summary === undefined || calls === undefined) return UNTRIED;
    const {pace, timeline} = summary;
    const {ms, ...lists} = timeline;
    if (Object.values(lists).some(list => list.length !== ms.length)) return 'its lists differ in length';
    const sum = (list: readonly number[]) => list.reduce((all, each) => all + each, 0);
    if (sum(timeline.calls) > summary.calls.total) return `${sum(timeline.calls)} calls in the timeline`;
    if (sum(timeline.rows) > summary.rows.read) return `${sum(timeline.rows)} rows in the timeline`;
    const isRated = spec.rate !== 'unlimited' || scene.accountRate !== undefined;
    if ((pace.rate_limit === null) === (spec.rate !== 'unlimited') && (spec.rate !== 'unlimited' || !isRated))
      return `its rate is ${pace.rate_limit}, of ${spec.rate}`;
    const troubled = run.calls.some(({told}) => told !== 'answered' && told !== 'rejected');
    if (pace.pauses > 0 && !troubled) return `it paused ${pace.pauses} times, and nothing was wrong`;
    const asked = Math.max(0, ...run.calls.map(({order}) => order));
    const isFollowed = ({told, toldOrder}: Call) => told === 'throttled' && toldOrder < asked;
    if (pace.pauses === 0 && run.stop === undefined && run.calls.some(isFollowed)) return 'it did not pause';
    const first = Math.min(...calls.map(({number}) => number));
    const isAll = runsOfLedger(scene).length === 1 && Number.isFinite(first);
    const achieved = summary.duration_ms > 0 ? (1_000 * summary.calls.total) / summary.duration_ms : 0;
    return isAll && Math.abs(pace.achieved - achieved) > 1e-5
      ? `it made ${pace.achieved} calls a second, ${achieved} in truth`
      : undefined;
  },
};

const ofEarlier: Check = {
  promise: 'What earlier attempts cost is told where there were any, as a part of all that is spent.',
  fields: ['credits.earlier'],
  broken(scene) {
    const {summary, ledger} = scene.run;
    if (summary === undefined || ledger === undefined || scene.lostState) return UNTRIED;
    const {spent, maybe_spent: maybe, earlier} = summary.credits;
    const {counted} = earlier;
    if (isMore(counted.spent, spent) || isMore(counted.maybe_spent, maybe))
      return `${counted.spent} and perhaps ${counted.maybe_spent} are counted, of ${spent} and ${maybe}`;
    if (earlier.unknown) return 'nothing of it is unknown';
    const sum = [counted, earlier.not_counted].reduce((all, one) => all + one.spent + one.maybe_spent, 0);
    return runsOfLedger(scene).length === 1 && sum > 0
      ? `${sum} credits of a run that is the first`
      : undefined;
  },
};

const ofStore: Check = {
  promise: 'What it costs that the store was out of order is told at the price of a call, and else nothing.',
  fields: ['store.trouble', 'store.not_looked_up', 'store.perhaps_paid_again'],
  broken({run, runs}) {
    const {summary, spec, ledger} = run;
    if (summary === undefined || ledger === undefined) return UNTRIED;
    const {store} = summary;
    if (spec.cache === 'none' || store === null)
      return (spec.cache === 'none') === (store === null) ? undefined : 'it tells of a store';
    const prices = operationsOf(spec).map(name => costOf(spec, name));
    const [least, most] = [Math.min(...prices), Math.max(...prices)].map(each => each * store.not_looked_up);
    const wrong = outside({paid_again: store.perhaps_paid_again}, {paid_again: [least ?? 0, most ?? 0]});
    if (wrong !== undefined) return wrong;
    const sound = runs.filter(one => one.ledger === ledger).every(one => one.storeIsSound);
    const trouble = [store.trouble, store.not_looked_up || null, store.not_stored || null];
    // A lock that is over soon may still be what a run meets as it stops.
    return sound && run.stop === undefined && trouble.some(one => one !== null)
      ? `it tells of ${trouble.join(', ')}`
      : undefined;
  },
};

const ofSessions: Check = {
  promise: 'A summary says how often its run was resumed, and from which row.',
  fields: ['resumed'],
  broken(scene) {
    const {run} = scene;
    const {summary, ledger} = run;
    if (summary === undefined || ledger === undefined) return UNTRIED;
    const earlier = runsOfLedger(scene).filter(one => one.nth < run.nth);
    const {times, from_row: row} = summary.resumed;
    if (times > earlier.length) return `${times} times, in ${earlier.length} sessions before`;
    const isPlain = earlier.every(one => isPlainSession(one, run));
    if (isPlain && row !== null && times !== earlier.length) return `${times} times, of ${earlier.length}`;
    if (row !== null && (row < 2 || row > recordCount(run) + 1)) return `from row ${row}`;
    return row !== null && times === 0 ? `from row ${row}, for the first time` : undefined;
  },
};

function recordCount({input}: Ended): number {
  return input.split('\n').length - 2;
}

/** True for a session of the same attempt that got under way. */
function isPlainSession(one: Ended, run: Ended): boolean {
  return (
    one.summary?.run_id === run.summary?.run_id &&
    one.summary !== undefined &&
    !isBegunAnew(one) &&
    one.isAlone
  );
}

const ofRisk: Check = {
  promise: 'Scores are what the answers come to by the rules, and the summary counts rows by them.',
  fields: ['risk'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined || !isScored(written.run.spec)) return UNTRIED;
    const {run, summary} = written;
    const own = targetsOf(run.spec).filter(name => targets[name].operation === 'ip');
    const lines = readRows(textOf(run.after.get(outputPath(run.spec)) ?? EMPTY), run.spec);
    const levels = {low: 0, medium: 0, high: 0, unknown: 0};
    const reasons: Record<string, number> = {};
    const scores: number[] = [];
    for (const line of lines) {
      const is = (field: string, value: string) =>
        own.some(name => line(targets[name].prefix + field) === value);
      const held = [...(is('is_vpn', 'true') ? ['vpn'] : []), ...(is('country', 'France') ? ['france'] : [])];
      const points = RULES.reduce((sum, {add, reason}) => sum + (held.includes(reason) ? add : 0), 0);
      const isHeard = own.every(name => line(`${targets[name].prefix}status`) === 'ok');
      const known = points >= LEVELS.high ? 'high' : points >= LEVELS.medium ? 'medium' : 'low';
      const level = line('risk_level') ?? '';
      if (isHeard && (line('risk_score') !== String(points) || level !== known))
        return `${line('id')} has ${line('risk_score')} (${level}), and ${points} (${known}) in truth`;
      if (!(level in levels)) return `${line('id')} has the level "${level}"`;
      levels[level as keyof typeof levels] += 1;
      for (const reason of held) reasons[reason] = (reasons[reason] ?? 0) + 1;
      if (level !== 'unknown') scores.push(Number(line('risk_score')));
    }
    const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
    const wrong = differing(
      summary.risk ?? {},
      {...levels, scored: scores.length, mean: scores.length === 0 ? null : Math.round(mean * 100) / 100},
      'risk.',
    );
    return (
      wrong ??
      outside(
        summary.risk?.reasons ?? {},
        Object.fromEntries(
          Object.entries(reasons).map(([reason, count]) => [reason, [count, count] as const]),
        ),
        'risk.reasons.',
      )
    );
  },
};

const ofTop: Check = {
  promise: 'The most common names are those of the answers in the rows.',
  fields: ['top'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined || !targetsOf(written.run.spec).includes('ip')) return UNTRIED;
    const {summary} = written;
    const counts = new Map<string, number>();
    for (const line of addressesIn(written)) {
      const country = line('status') === 'ok' ? line('country') : undefined;
      if (country !== undefined) counts.set(country, (counts.get(country) ?? 0) + 1);
    }
    const told = new Map(summary.top.countries?.names.map(({name, count}) => [name, count]));
    const wrong = [...counts].find(([name, count]) => told.get(name) !== count);
    if (told.size !== counts.size) return `${told.size} countries, of ${counts.size}`;
    return wrong && `${wrong[0]} is said to be in ${told.get(wrong[0])} answers, and is in ${wrong[1]}`;
  },
};

export const numberChecks: readonly Check[] = [
  ofRows,
  ofErrors,
  ofCalls,
  ofRetries,
  ofLatency,
  ofTypes,
  ofSession,
  ofValues,
  ofSavings,
  ofFields,
  ofAbout,
  ofOutput,
  ofPace,
  ofEarlier,
  ofStore,
  ofSessions,
  ofRisk,
  ofTop,
];
