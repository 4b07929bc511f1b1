import type {RunRecord} from '../../../src/report/run-record.ts';
import {spendOf} from '../../../src/report/spend.ts';
import type {Summary} from '../../../src/report/summary.ts';
import {accountOf, endpointOf, metricsPath, reportPath} from '../model/places.ts';
import type {Call} from '../world/service.ts';
import {
  type Check,
  credits,
  isMore,
  lacksHistory,
  mostOf,
  priceOf,
  type Scene,
  scopeOfCall,
  scopeOfSpec,
  UNTRIED,
} from './scene.ts';

/** Reports beside the summary: the history and its sums, metrics, pages. */

const sum = (counts: readonly number[]) =>
  Math.round(counts.reduce((all, each) => all + each, 0) * 1e3) / 1e3;

const kept: Check = {
  promise:
    'The history has a line of each session, with what its summary says of it, or the run says that it lacks one.',
  fields: ['session.id'],
  broken({run, history}) {
    const {summary, spec, ledger, isAlone} = run;
    if (summary === undefined || ledger === undefined || !isAlone) return UNTRIED;
    const line = history.get(summary.session.id);
    if (line === undefined) return run.end === 'complete' || lacksHistory(run) ? UNTRIED : 'there is none';
    const session = Object.values(summary.session.by_operation);
    const lookups = Object.values(summary.lookups);
    const distinct = sum(lookups.map(each => each.distinct));
    const {saved} = summary.credits;
    const told: Partial<RunRecord> = {
      run_id: summary.run_id,
      started_at: summary.started_at,
      ended_at: summary.finished_at,
      job: null,
      account: {endpoint: endpointOf(spec), label: accountOf(spec)},
      status: summary.status,
      reason: summary.reason,
      exit_code: run.code ?? null,
      rows: summary.rows.written,
      calls: sum(session.map(({calls}) => calls)),
      saved: sum([saved.dedupe, saved.store, saved.prefilter]),
      hit_rate:
        distinct === 0
          ? null
          : Math.round((sum(lookups.map(each => each.from_store)) / distinct) * 1e6) / 1e6,
    };
    for (const [name, expected] of Object.entries(told)) {
      const said = line[name as keyof RunRecord];
      if (JSON.stringify(said) !== JSON.stringify(expected))
        return `${name} is ${JSON.stringify(said)}, and ${JSON.stringify(expected)} in truth`;
    }
    const {spent, maybe_spent: maybe} = line.credits;
    return spent === sum(session.map(each => each.spent)) &&
      maybe === sum(session.map(each => each.maybe_spent))
      ? undefined
      : `it says ${spent} and perhaps ${maybe}`;
  },
};

/** True if the program can't tell what this call cost. */
function mayBeDoubtful({told, code, spec, recorded}: Call): boolean {
  if (!recorded) return true;
  if (told === 'rejected') return spec.rejectedCharge === 'maybe';
  return told === undefined || told === 'ambiguous' || (told === 'fatal' && code.startsWith('http_'));
}

/** The calls and lines of each endpoint and account that runs had. */
function byScope({runs, service, history}: Scene) {
  const scopes = new Map(runs.map(({spec}) => [scopeOfSpec(spec), spec]));
  return [...scopes].map(([scope, spec]) => ({
    spec,
    calls: service.calls.filter(call => scopeOfCall(call) === scope),
    lines: [...history.values()].filter(
      ({account}) => account.endpoint === endpointOf(spec) && account.label === accountOf(spec),
    ),
  }));
}

const once: Check = {
  promise:
    'What may have been spent is in the history once: no more than the calls cost of which nobody knows.',
  broken(scene) {
    const {run, runs, lostState} = scene;
    if (run.ledger === undefined || !run.isAlone || lostState || run.spec.fleet) return UNTRIED;
    const killed = runs.filter(({process}) => process.killed);
    for (const {spec, calls, lines} of byScope(scene)) {
      const maybe = sum(lines.map(line => line.credits.maybe_spent));
      const doubtful = sum(calls.filter(mayBeDoubtful).map(priceOf));
      // Reserved, and killed before it was sent.
      const reserved = sum(killed.map(one => one.spec.concurrency * mostOf(one.spec)));
      if (isMore(maybe, doubtful + reserved))
        return `${endpointOf(spec)}, ${accountOf(spec)}: perhaps ${maybe}, of ${doubtful} and ${reserved}`;
      const heard = calls.filter(({told}) => told !== undefined && told !== 'not sent').length;
      const counted = sum(lines.map(line => line.calls));
      if (counted > heard) return `${counted} calls, of ${heard} that were heard of`;
    }
    return undefined;
  },
};

const added: Check = {
  promise: 'What spend adds up by operation is what the service took for it.',
  broken(scene) {
    const {run, runs, history, service, lostState} = scene;
    if (run.ledger === undefined || run.summary === undefined || !run.isAlone || lostState) return UNTRIED;
    if (runs.some(one => (one.process.killed && one.ledger !== run.ledger) || lacksHistory(one)))
      return UNTRIED;
    const {groups, total} = spendOf([...history.values()], '2026-01-01', 'operation');
    for (const {name, spent, maybe_spent: maybe} of groups) {
      const charged = credits(service.calls.filter(({operation}) => operation === name));
      if (isMore(spent, charged) || isMore(charged, spent + maybe))
        return `${name}: ${spent} and perhaps ${maybe}, the service took ${charged}`;
    }
    const days = spendOf([...history.values()], '2026-01-01', 'day');
    const same = sum(days.groups.map(({spent}) => spent)) === total.spent;
    return same && total.runs === new Set([...history.values()].map(line => line.run_id)).size
      ? undefined
      : `${total.spent} in ${total.runs} runs, and by day ${days.groups.map(({spent}) => spent)}`;
  },
};

/** The samples of a metrics file, by name and labels. */
function samplesIn(text: string): Map<string, number> {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map(line => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

type Sample = readonly [name: string, labels: string, value: number];

/** The samples that a summary's numbers come to. */
function expectedSamples({rows, lookups, calls, credits, pace, exit_code: code}: Summary): readonly Sample[] {
  const {spent, maybe_spent: maybe, saved} = credits;
  const of = (kind: string, credits: number): Sample => ['run_credits', `kind="${kind}"`, credits];
  return [
    ['last_run_exit_code', '', code],
    ['run_paused_seconds', '', pace.paused_ms / 1_000],
    ...['run_active', 'run_calls_in_flight', 'run_values_waiting'].map((name): Sample => [name, '', 0]),
    ['run_rows', 'outcome="ok"', rows.ok],
    ['run_rows', 'outcome="with_errors"', rows.with_errors],
    ['run_rows', 'outcome="rejected"', rows.rejected],
    ['run_retries', '', calls.retries],
    ...[of('spent', spent), of('maybe_spent', maybe), of('saved_by_dedupe', saved.dedupe)],
    ...[of('saved_by_store', saved.store), of('saved_by_prefilter', saved.prefilter)],
    ...Object.entries(lookups).flatMap(([name, own]): Sample[] => [
      ['run_lookups', `operation="${name}",outcome="answered"`, own.answered],
      ['run_distinct_values', `operation="${name}"`, own.distinct],
      ['run_values_from_store', `operation="${name}"`, own.from_store],
      ['run_calls', `operation="${name}"`, own.calls],
    ]),
  ];
}

const measured: Check = {
  promise: 'Metrics are the numbers of the summary.',
  broken({run}) {
    const {summary, spec, after, before} = run;
    const text = after.get(metricsPath(spec));
    const isNew = text !== undefined && before.get(metricsPath(spec))?.equals(text) !== true;
    const isOwn = run.isAlone && run.end !== 'complete' && !run.process.refused;
    if (!spec.tells || summary === undefined || !isNew || !isOwn) return UNTRIED;
    const samples = [...samplesIn(text.toString())];
    for (const [name, labels, value] of expectedSamples(summary)) {
      const wanted = labels.split(',').filter(Boolean);
      const found = samples.find(
        ([key]) => key.startsWith(`bulk_enrich_${name}{`) && wanted.every(label => key.includes(label)),
      );
      if (found?.[1] !== value) return `${name} ${labels} is ${found?.[1]}, and ${value} in the summary`;
    }
    return undefined;
  },
};

const reported: Check = {
  promise: 'The report has the numbers of the summary.',
  broken({run}) {
    const {summary, spec, after, before} = run;
    const text = after.get(reportPath(spec));
    const isNew = text !== undefined && before.get(reportPath(spec))?.equals(text) !== true;
    const isOwn = run.isAlone && run.end !== 'complete' && !run.process.refused;
    if (!spec.tells || summary === undefined || !isNew || !isOwn) return UNTRIED;
    const cells = text
      .toString()
      .split('\n')
      .map(line => line.split('|').map(cell => cell.trim()));
    for (const [name, own] of Object.entries(summary.lookups)) {
      const {spent = 0, maybe_spent: maybe = 0} = summary.credits.by_operation[name] ?? {};
      const numbers = [own.distinct, own.from_store, own.calls, own.retries, spent, maybe].map(String);
      if (!cells.some(line => line.slice(2, 8).join() === numbers.join()))
        return `no line of it has ${numbers.join(', ')}`;
    }
    return undefined;
  },
};

export const toldChecks: readonly Check[] = [kept, once, added, measured, reported];
