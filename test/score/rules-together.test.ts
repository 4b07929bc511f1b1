import fc from 'fast-check';
import {expect, test} from 'vitest';
import {makeRunFacts} from '../../src/score/run-facts.ts';
import {createScorer} from '../../src/score/scorer.ts';
import {samples} from '../support/samples.ts';
import {format, targets, view} from './score-helpers.ts';

const of = targets({ip: ['ip', 'ip2'], email: ['email'], phone: ['phone']});

/** Conditions over lookups of which one occurs twice, fields that are missing. */
const parts = [
  ...['ip.is_vpn', 'email.is_valid', 'phone.is_threat', 'ip2.is_threat', 'has(ip.city)', 'has(email.domain)'],
  ...['email.trust_score + 1 < 20', 'email.trust_score / ip.latitude > 2', 'ip.country != row.country'],
  ...['ip.city.endsWith("e")', 'status.phone == "invalid"', 'error.phone in ["phone_malformed"]'],
  ...['double(ip.city) > 1', 'ip.asn_organization.matches("^E.*e$")', 'ip.city == ip2.city'],
];
const condition = fc
  .array(fc.tuple(fc.constantFrom(...parts), fc.boolean()), {minLength: 1, maxLength: 3})
  .chain(some =>
    fc
      .constantFrom(' && ', ' || ')
      .map(sign => some.map(([text, not]) => (not ? `!(${text})` : text)).join(sign)),
  );

const text = fc.constantFrom('Example', 'US', '7');
const flags = {is_vpn: fc.boolean(), is_threat: fc.boolean()};
const texts = {city: text, country: text, asn_organization: text};
const answer = fc.record({...flags, latitude: fc.constantFrom(0, 2), ...texts}, {requiredKeys: []});
const ip = fc.option(answer, {nil: undefined});
const email = fc.record({is_valid: fc.boolean(), trust_score: fc.constantFrom(1, 50)}, {requiredKeys: []});
const phone = fc.constantFrom(undefined, {status: 'invalid' as const, error: 'phone_malformed' as const});

function scorerOf(conditions: readonly string[]) {
  const rules = conditions.map((when, n) => ({when, add: n + 1, reason: `r${n}`, place: 'here', own: true}));
  const set = {rules, levels: {medium: 30, high: 60}, constants: {}, lists: {}};
  return createScorer(set, of, format, makeRunFacts(undefined, 0));
}

test('rules together have the same results as each alone', () => {
  const rows = fc.array(fc.tuple(ip, ip, phone, email), {minLength: 1, maxLength: 20});
  fc.assert(
    fc.property(fc.array(condition, {minLength: 1, maxLength: 6}), rows, (conditions, given) => {
      const together = scorerOf(conditions);
      const alone = conditions.map(one => scorerOf([one]));
      for (const cells of given) {
        const row = view(...cells);
        const {risk, outcomes} = together.score(row);
        const each = alone.map(scorer => scorer.score(row));
        const places = (what: keyof typeof outcomes) =>
          each.flatMap((one, place) => (one.outcomes[what].length > 0 ? [place] : []));
        const [held, undecided, wrong] = [places('held'), places('undecided'), places('wrong')];
        expect(outcomes).toEqual({held, undecided, wrong});
        expect(risk.missing).toEqual([...new Set(each.flatMap(one => one.risk.missing))]);
      }
    }),
    {numRuns: samples(200)},
  );
});
