// Nanoseconds of CPU that a rule takes for a row, by the kind of its condition: 200 rules over rows whose answers are
// parsed already, least of three rounds.
//
//   RULES_ROWS=20000 node bench/rules.mjs
import {fromSrc} from './from-src.mjs';

const {createScorer, makeRunFacts, makeTargets} = await fromSrc(
  'score/scorer',
  'score/run-facts',
  'columns/targets',
);
const RULES = 200;
const count = Number(process.env.RULES_ROWS ?? 20_000);
const columns = ['id', 'ip', 'email', 'phone', 'country'];
const targets = ['ip', 'email', 'phone'].flatMap(name => makeTargets(name, [{column: name}], columns));

const ip = i => ({
  is_vpn: i % 7 === 0,
  is_bogon: false,
  is_threat: false,
  city: 'Exampleville',
  country: i % 3 === 0 ? 'DE' : 'US',
  latitude: i % 90,
  asn_number: 64_496 + (i % 16),
  asn_organization: `Example Network ${i % 16}`,
  isp: 'Example Network',
});
const email = i => ({is_valid: true, is_trusted: i % 9 !== 0, trust_score: i % 100, domain: 'example.com'});
const rows = Array.from({length: count}, (_, i) => ({
  row: {type: 'csv', record: i, line: i, fields: [String(i), '192.0.2.1', 'somebody@example.com', '', 'US']},
  results: [{status: 'ok'}, {status: 'ok'}, {status: 'invalid', error: 'phone_malformed'}],
  answers: [ip(i), email(i), undefined],
}));

const kinds = {
  'a flag': n => ['ip.is_vpn', 'ip.is_bogon', 'email.is_trusted', '!email.is_valid'][n % 4],
  'a number or text': n => [`email.trust_score < ${n}`, `ip.country == "C${n}"`][n % 2],
  'two of them': n => `ip.is_vpn && email.trust_score < ${n}`,
  'of a list': n => `ip.country in ["A${n}", "XX"]`,
  'the end of a text': n => `email.domain.endsWith(".e${n}")`,
  'a part of a text': n => `ip.isp.lowerAscii().contains("x${n}")`,
  'a pattern': n => `ip.asn_organization.matches("^Example.*${n}$")`,
  'a sum': n => `email.trust_score + ${n} < 50`,
  'a size': n => `size(ip.city) > ${n}`,
  'a choice': n => `(ip.is_vpn ? email.trust_score : 0) > ${n}`,
  'an answer that is missing': n => (n % 2 === 0 ? 'phone.is_threat' : `phone.risk_score > ${n}`),
  'the same sum in all rules': () => 'email.trust_score + 5 < 20',
};

function scorerOf(conditions) {
  const rules = conditions.map((when, n) => ({when, add: 1, reason: `r${n}`, place: `rule ${n}`, own: true}));
  const set = {rules, levels: {medium: 30, high: 60}, constants: {}, lists: {}};
  return createScorer(set, targets, {kind: 'csv', columns}, makeRunFacts(undefined, 0));
}

for (const [kind, of] of Object.entries(kinds)) {
  const scorer = scorerOf(Array.from({length: RULES}, (_, n) => of(n)));
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage();
    for (const row of rows) scorer.score(row);
    const {user, system} = process.cpuUsage(before);
    least = Math.min(least, user + system);
  }
  console.log(kind.padEnd(28), ((least * 1_000) / count / RULES).toFixed(0).padStart(6), 'ns');
}
