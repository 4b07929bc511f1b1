import {isScored, LEVELS, outputPath, RULES} from '../../model/places.ts';
import {type OutputRow, readRows, targets, targetsOf} from '../output.ts';
import {type Check, textOf, UNTRIED} from '../scene.ts';
import {differing, EMPTY, outside, type Written, writtenIn} from './written.ts';

/** Shares, names and scores, from the answers in the rows. */

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

export const answersChecks: readonly Check[] = [ofFields, ofRisk, ofTop];
