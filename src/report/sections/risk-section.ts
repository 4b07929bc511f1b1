import {shellWord} from '../../sentence.ts';
import {count, many, percent} from '../format.ts';
import type {HistogramBlock, Section, StacksBlock, TableBlock} from '../model.ts';
import type {RiskCounts, Summary} from '../summary.ts';
import {rankingIfAny, tableIfAny} from './blocks.ts';

/** The meanings of the default rules' reasons. */
export const reasonCodes: Readonly<Record<string, string>> = {
  ip_threat: 'the service calls the address a threat',
  tor: 'the address of a Tor node',
  ip_bogon: 'an address that does not exist on the Internet',
  residential_proxy: 'the address of a residential proxy',
  datacenter: 'the address of a data center',
  vpn: 'the address of a VPN',
  phone_threat: 'the service calls the number a threat',
  phone_disposable: 'a disposable number',
  phone_not_valid: 'a number that can not be reached',
  phone_spam: 'a number that is reported for spam',
  phone_virtual: 'a virtual number',
  phone_invalid: 'not a possible phone number',
  email_not_valid: 'an address that can not receive mail',
  email_not_trusted: 'the domain of the address is not trusted',
  email_alias: 'an alias of another address',
  mailbox_shared: 'one mailbox under three addresses or more',
  email_invalid: 'not a possible e-mail address',
  verdict_blocked: 'the service blocks the session',
  bot_score: 'the session is nearer to a bot than to a human',
  token_replayed: 'the session token was verified before',
  many_accounts: 'one person behind several accounts',
  token_invalid: 'not a possible session token',
};

/** Title of the section with the rows of high risk. */
export const RISK = 'Risk';

export function riskSection({risk, output, shared = {}}: Summary): Section | undefined {
  if (risk === null || risk.scored + risk.unknown === 0) return undefined;
  const {scored, unknown, mean, warnings = []} = risk;
  const average = mean === null ? '' : `, ${count(Math.round(mean * 10) / 10)} on average`;
  const without = unknown === 0 ? '' : ` ${many(unknown, 'row')} could not be scored.`;
  return {
    title: RISK,
    note: `${many(scored, 'row')} scored from 0 to 100${average}.${without}`,
    blocks: [
      levels(risk),
      scores(risk),
      ...highRows(risk, output.path),
      ...rankingIfAny('Reasons, most often first', 'Reason', inWords(risk), scored),
      ...rankingIfAny('Signals that were missing', 'Signal', risk.missing, scored + unknown),
      ...tableIfAny('Values that several have', ['Value', 'rows', 'had by, at most'], sharedRows(shared)),
      ...declaredRules(risk),
      ...tableIfAny(
        'Rules to look at',
        ['Warning'],
        warnings.map(warning => [warning]),
      ),
    ],
  };
}

/** The shared values of the list by kind, as counts: rows, and how many have each of the most shared ones. */
export function sharedRows(shared: Summary['shared']): string[][] {
  const some = Object.entries(shared).filter(([, {rows}]) => rows > 0);
  return some.map(([fact, {rows, largest}]) => [fact, count(rows), largest.map(count).join(', ')]);
}

/** A table with the row numbers of high risk, and the command that lists all of these rows with their scores. */
function highRows({high, high_rows: rows = []}: RiskCounts, output: string): TableBlock[] {
  if (rows.length === 0) return [];
  const isPart = high > rows.length;
  const caption = isPart ? `The first ${count(rows.length)} rows of high risk` : 'Rows of high risk';
  const numbers = ['Row numbers', `${rows.join(', ')}${isPart ? ', …' : ''}`];
  const list = ['All, with scores', `bulk-enrich explain ${shellWord(output)} --level high`];
  return [
    {
      kind: 'table',
      caption,
      head: ['What', 'value'],
      texts: [1],
      rows: output === '-' ? [numbers] : [numbers, list],
    },
  ];
}

/** Counts of rows by reason. A reason is followed by its meaning, from the job's rules or the default rules. */
function inWords({reasons, rules}: RiskCounts): Record<string, number> {
  const words = (reason: string) => {
    const own = rules.filter(rule => rule.reason === reason).map(({when}) => when);
    if (own.length > 0) return own.join(' or ');
    return Object.hasOwn(reasonCodes, reason) ? reasonCodes[reason] : undefined;
  };
  return Object.fromEntries(
    Object.entries(reasons).map(([reason, times]) => {
      const meaning = words(reason);
      return [meaning === undefined ? reason : `${reason}: ${meaning}`, times];
    }),
  );
}

/** Rules with a description or an owner, and shadow rules. */
function declaredRules({rules}: RiskCounts): TableBlock[] {
  const rows = rules
    .filter(
      ({shadow, description, owner}) => shadow === true || description !== undefined || owner !== undefined,
    )
    .map(({reason, add, shadow, held, description = '', owner = ''}) => [
      shadow === true ? `${reason} (shadow: not added)` : reason,
      String(add),
      count(held),
      description,
      owner,
    ]);
  return tableIfAny('Rules', ['Rule', 'points', 'rows', 'for', 'owner'], rows, {texts: [3, 4]});
}

function levels({low, medium, high, unknown}: RiskCounts): StacksBlock {
  return {
    kind: 'stacks',
    caption: 'Rows by level',
    what: 'Rows',
    keys: [
      {name: 'low', tone: 'good'},
      {name: 'medium', tone: 'warn'},
      {name: 'high', tone: 'bad'},
      {name: 'unknown', tone: 'quiet'},
    ],
    rows: [{name: 'All rows', counts: [low, medium, high, unknown]}],
  };
}

function scores({histogram}: RiskCounts): HistogramBlock {
  const last = histogram.length - 1;
  const bins = histogram.map((rows, index) => ({
    name: `${index * 10}–${index === last ? 100 : index * 10 + 9}`,
    count: rows,
  }));
  return {kind: 'histogram', caption: 'Rows by score', what: 'Score', bins};
}

/** By field: the share of answers with the field, and the share of those answers in which the field is true. */
export function fieldsSection({fields = {}, lookups}: Summary): Section | undefined {
  const rows = Object.entries(fields).flatMap(([operation, shares]) =>
    (lookups[operation]?.answered ?? 0) === 0
      ? []
      : Object.entries(shares).map(([name, {present, true: yes}]) => [
          `${operation}.${name}`,
          percent(present, 1),
          yes === undefined || present === 0 ? '' : percent(yes, 1),
        ]),
  );
  if (rows.length === 0) return undefined;
  return {
    title: 'Answer fields',
    note: 'How many of the answers had each field, and how many of those said yes.',
    blocks: [
      {
        kind: 'table',
        caption: 'Shares of the answers',
        head: ['Field', 'present', 'yes'],
        rows,
        folded: true,
      },
    ],
  };
}
