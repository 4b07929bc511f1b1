import {expect, test} from 'vitest';
import {textOf} from './blocks.ts';

const [ERRORS, FIELDS, SERVICE] = ['docs/errors.md', 'docs/fields.md', 'docs/service.md'];

/** Clauses of the interface in its own words, and what a user reads about each: an assumption is told as one. */
const clauses: readonly (readonly [clause: string, page: string, says: RegExp])[] = [
  ['id: Highly recommended', 'docs/guide.md', /`id=COLUMN`, as the interface highly recommends/],
  ['id: Highly recommended', 'src/cli/commands.json', /"--id <ID>": "[^"]*highly recommended/],
  ['Without id, no multi-accounting results', 'docs/guide.md', /without it there is no `multi_accounting`/],
  [
    'Verifying a token more than once never produces an error',
    'docs/guide.md',
    /first verdict of a token says `redeemed: false`, each later one `redeemed: true`/,
  ],
  ['POST /verify redeems: condition none', SERVICE, /test action ids [^.]* redeem the token/],
  [
    'invalid_token: an invalid credential',
    'docs/guide.md',
    /may mean a bad API key or, we assume, a bad session token/,
  ],
  ['invalid_token: an invalid credential', ERRORS, /`invalid_token`: We assume a bad session token/],
  ['token lifetime: not shown', 'docs/guide.md', /shows neither that nor how long a token lasts/],
  ['format of a token: not shown', ERRORS, /`token_malformed`: .*we assume/],
  ['401 is documented on /intelligence/ip alone', SERVICE, /names only .* with 401 for IP addresses/],
  ['allowed values of strings: not shown', FIELDS, /does not show values of texts/],
  ['numeric ranges: not shown', FIELDS, /does not show .*ranges of trust and risk scores/],
  ['units of latitude and longitude: not shown', FIELDS, /does not show .*units of coordinates/],
  [
    'format of the phone request field: not shown',
    FIELDS,
    /does not show .*the form of numbers in phone lookups \(we send E\.164\)/,
  ],
  ['which fields are always present: not shown', FIELDS, /does not show .*or which fields always come/],
  ['meanings beyond the names: not shown', 'docs/scoring.md', /the reasons our reading of the fields/],
  ['credit cost per operation: not shown', 'docs/cost-privacy-security.md', /The interface shows no prices/],
  [
    'rate limits, statuses of other failures: not shown',
    'docs/cost-privacy-security.md',
    /shows no rate limits, charges for failures, or statuses but 401/,
  ],
  [
    'is_bogon, validation_error: fields of the answer',
    FIELDS,
    /only \[`createClient`\].* shows the `ip_is_bogon` of a private address, or the `phone_validation_error`/,
  ],
];

test.each(clauses)('%s: %s says so', (_, page, says) => {
  expect(textOf(page)).toMatch(says);
});
