import {expect, test} from 'vitest';
import {spoken} from '../../src/library/spoken.ts';

test.each([
  [
    'To look them up too, add --email email --ip last_login_ip --country country.',
    'To look them up too, add email: "email", ip: "last_login_ip", country: "country".',
  ],
  ['To look up one of them, name it: --ip Email#2.', 'To look up one of them, name it: ip: "Email#2".'],
  [
    "name the other columns: --email 'e mail' --phone x.y.",
    'name the other columns: email: "e mail", phone: "x.y".',
  ],
  ["add --email 'it'\\''s'.", 'add email: "it\'s".'],
  ['Add --country COL, or --max-credits 5.', 'Add country: COL, or maxCredits 5.'],
])('a program is told settings in place of flags: %s', (message, told) => {
  expect(spoken(message)).toBe(told);
});
