import {z} from 'zod';
import {type LookupCounts, type RiskCounts, type Summary, summarySchema} from '../../src/report/summary.ts';

interface Json {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Json[];
}

/** The least that a schema takes: zeros, no texts, and null wherever it may be. */
function zeroOf({type, properties = {}, required = [], ...words}: Json): unknown {
  if (type === 'object') {
    const own = Object.entries(properties).filter(([name]) => required.includes(name));
    return Object.fromEntries(own.map(([name, one]) => [name, zeroOf(one)]));
  }
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return 0;
  return type === 'string' ? (words.enum?.[0] ?? '') : null;
}

const schema = z.toJSONSchema(summarySchema) as Json;
const zero = {...(zeroOf(schema) as Summary), schema_version: 2} as const;
const {lookups: byOperation, risk: ofRisk} = schema.properties ?? {};
const noRisk = zeroOf(ofRisk?.anyOf?.[0] ?? {}) as RiskCounts;
const noLookups = zeroOf(byOperation?.properties?.ip ?? {}) as LookupCounts;

/** A night of forty thousand sign-ups with something of everything: a limit, repeats, trouble, an outage, a jump. */
export function fullSummary(changes: Partial<Summary> = {}): Summary {
  return {
    ...zero,
    run_id: '00000000-0000-4000-8000-000000000001',
    job: 'nightly-signups',
    status: 'partial',
    reason: 'lookups_failed',
    exit_code: 3,
    started_at: '2026-01-05T02:00:03.120Z',
    finished_at: '2026-01-05T02:24:39.540Z',
    duration_ms: 1_476_420,
    endpoint: {kind: 'live', base_url: 'https://api.example.com/v1'},
    input: {paths: ['exports/signups-2026-01-05.csv'], bytes: 4_412_733, sha256: 'ab'.repeat(32)},
    output: {
      ...{path: 'exports/signups-2026-01-05.enriched.csv', delimiter: ','},
      ...{bytes: 17_233_000, sha256: 'cd'.repeat(32)},
    },
    columns: [{operation: 'email', column: 'email', prefix: 'email_'}],
    shared: {mailbox: {rows: 412, largest: [101, 30, 12]}},
    settings_sha256: 'ef'.repeat(32),
    rows: {
      ...zero.rows,
      ...{read: 40_012, written: 40_000, rejected: 12, ok: 39_871, with_errors: 129, blank_lines: 2},
    },
    lookups: {
      ip: lookups({values: 40_000, empty: 311, invalid: 87, distinct: 28_102, answered: 39_602}, 3_310),
      phone: lookups(
        {values: 40_000, empty: 8_804, invalid: 1_022, distinct: 11_018, answered: 12_201, skipped: 17_973},
        9_120,
      ),
      email: lookups(
        {
          ...{values: 40_000, empty: 4, invalid: 310, distinct: 39_115, answered: 39_557},
          ...{failed: 117, unknown: 12},
        },
        12_404,
      ),
    },
    calls: {
      ...zero.calls,
      ...{total: 53_401, unsent: 31, retries: 271},
      by_status: {'200': 53_130, '429': 64, '500': 181, '503': 14},
      by_error: {timeout: 12, econnrefused: 31},
      latency_ms: {p50: 84, p95: 311, p99: 902, max: 30_004},
    },
    credits: {
      ...zero.credits,
      account: {label: 'default'},
      spent: 53_130,
      maybe_spent: 207,
      limit: 60_000,
      saved: {dedupe: 13_125, store: 24_834, prefilter: 19_392, by_condition: 4_310},
      by_operation: {
        ip: {spent: 24_792, maybe_spent: 30},
        phone: {spent: 1_898, maybe_spent: 48},
        email: {spent: 26_711, maybe_spent: 129},
      },
    },
    store: {trouble: null, not_looked_up: 0, perhaps_paid_again: 0, not_stored: 0},
    pace: {...zero.pace, rate_limit: 50, achieved: 36.2, pauses: 3, paused_ms: 192_000},
    errors: [
      {code: 'email.timeout', count: 117, rows: [12, 53, 97, 146, 201, 388, 402, 511, 689, 702]},
      {code: 'phone.country_unknown', count: 88, rows: [4, 17, 18, 31, 60, 71, 99, 104, 131, 177]},
      {code: 'rejected.column_count', count: 12, rows: [248, 1_093]},
      {code: 'ip.ipv6_unsupported', count: 1, rows: [138]},
    ],
    left_out: [{operation: 'phone', column: 'Rückruf', share: 0.62, flag: '--phone Rückruf --country land'}],
    resumed: {times: 1},
    risk: {
      ...noRisk,
      ...{scored: 39_702, unknown: 298, low: 30_942, medium: 6_801, high: 1_959, mean: 21.37},
      histogram: [17_906, 8_922, 4_114, 2_950, 2_011, 1_102, 738, 904, 611, 444],
      reasons: {datacenter: 5_120, untrusted_email: 4_402, vpn: 2_118, virtual_phone: 907, tor: 311},
      missing: {ip: 398, phone: 9_826, email: 443},
      high_rows: [12, 31, 97],
    },
    fields: {
      ip: {
        is_vpn: {present: 1, true: 0.0535},
        is_tor_node: {present: 1, true: 0.0079},
        is_threat: {present: 0, true: 0},
        postal_code: {present: 0.303},
      },
      email: {is_trusted: {present: 1, true: 0.889}},
    },
    top: {
      countries: top(
        39_102,
        'US 14120,DE 5012,GB 3310,FR 2950,IN 2204,BR 1890,NL 1441,CA 1402,AU 998,ZZ 411',
      ),
      networks: top(
        39_044,
        'Example Telecom 4120,Fictional Broadband GmbH 3302,Documentation Networks Ltd 2950,Sample Cloud, Inc. 1702,A Very Long Name of an Autonomous System Operator That Goes On 880',
      ),
      domains: top(39_557, 'example.com 15102,example.org 9021,mail.example.net 4410,example.net 2098'),
      phone_countries: top(12_201, 'US 6120,DE 2101,GB 1300'),
    },
    timeline: timeline(24),
    drift: [
      {what: 'risk.high', now: 0.049, usual: 0.021, runs: 10},
      {what: 'risk.mean', now: 21.37, usual: 9.8, runs: 10},
      {what: 'rows', now: 40_000, usual: 22_410, runs: 10},
      {what: 'ip.is_vpn', now: 0.1802, usual: 0.0488, runs: 10},
    ],
    ...changes,
  };
}

/** The least that a summary holds: one that was stopped before its first row. */
export function bareSummary(changes: Partial<Summary> = {}): Summary {
  const {run_id, started_at, finished_at, duration_ms, endpoint, input, left_out, store} = fullSummary();
  return {
    ...zero,
    ...{run_id, started_at, finished_at, duration_ms, endpoint, input, left_out, store},
    ...{status: 'interrupted', reason: 'outage', exit_code: 5, come_back_at: '2026-01-05T03:00:00.000Z'},
    output: {...zero.output, path: '-'},
    credits: {...zero.credits, account: {label: 'default'}},
    ...changes,
  };
}

function lookups(given: Partial<LookupCounts>, fromStore: number): LookupCounts {
  const calls = Math.max(0, (given.distinct ?? 0) - fromStore);
  const asked = (given.answered ?? 0) + (given.failed ?? 0) + (given.unknown ?? 0);
  const deduplicated = asked - (given.distinct ?? 0);
  return {...noLookups, from_store: fromStore, deduplicated, calls, retries: 12, ...given};
}

function top(counted: number, text: string) {
  const names = text.split(/(?<=\d),/).map(part => {
    const at = part.lastIndexOf(' ');
    return {name: part.slice(0, at), count: Number(part.slice(at + 1))};
  });
  return {counted, missed_at_most: 0, names};
}

/** Twenty-five minutes, steady but for an outage after two thirds, in which no call ended. */
function timeline(points: number): NonNullable<Summary['timeline']> {
  const index = Array.from({length: points}, (_, n) => n);
  const down = (n: number) => n > 0.65 * points && n < 0.77 * points;
  const wave = (n: number) => Math.sin(n / 5) + Math.sin(n / 1.7);
  return {
    ms: index.map(() => Math.round(1_476_000 / points)),
    calls: index.map(n => (down(n) ? 0 : Math.round((57_600 + 7_200 * wave(n)) / points))),
    rows: index.map(n => (down(n) ? 0 : Math.round((44_400 + 10_800 * wave(n + 2)) / points))),
    latency_p50_ms: index.map(n => (down(n) ? null : Math.round(84 + 9 * wave(n)))),
    latency_p95_ms: index.map(n => (down(n) ? null : Math.round(300 + 80 * wave(n + 1)))),
    in_flight: index.map(n => (down(n) ? 1 : Math.round(7 + 3 * wave(n)))),
  };
}
