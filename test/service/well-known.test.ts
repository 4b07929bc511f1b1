import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';
import {describe, expect, it} from 'vitest';
import {mailOperators, mailProviders} from '../../src/operations/mail/mail-providers.ts';
import {networkFlags} from '../../src/service/data/networks/networks.ts';
import {OpenData} from '../../src/service/data/open-data.ts';
import {assessMail} from '../../src/service/intelligence/email.ts';

const data = new OpenData();

interface Line {
  expected: 'provider' | 'relay' | 'disposable' | 'tor' | 'hosting' | 'vpn';
  names: string;
}

const lines: Line[] = parse(readFileSync('bench/well-known.csv'), {columns: true});
const expectedOf = (expected: Line['expected']): string[] =>
  lines.filter(line => line.expected === expected).flatMap(({names}) => names.split(' '));

const kindOf = (domain: string) => assessMail(data, `jo@${domain}`)?.domainType;

describe('well-known names', () => {
  it.each([
    ['provider', ['mainstream', 'provider']],
    ['relay', ['relay']],
    ['disposable', ['disposable']],
  ] as const)('of kind %s are called so', (expected, kinds: readonly unknown[]) => {
    expect(expectedOf(expected).length).toBeGreaterThan(10);
    const wrong = expectedOf(expected).filter(domain => !kinds.includes(kindOf(domain)));
    expect(wrong).toEqual([]);
  });

  it.each([
    ['tor', 'tor'],
    ['hosting', 'datacenter'],
    ['vpn', 'vpn'],
  ] as const)('networks of kind %s are flagged', (expected, flag) => {
    const wrong = expectedOf(expected).filter(name => {
      const number = Number(name.slice(2));
      return !networkFlags({number, holder: data.asn().holder(number)})[flag];
    });
    expect(wrong).toEqual([]);
  });
});

describe('the table of mail providers', () => {
  it('has a kind, an operator, a source and a date in each line', () => {
    for (const {kind, operator, domains, source, date} of mailOperators()) {
      expect(['mainstream', 'provider', 'relay', 'disposable'], operator).toContain(kind);
      for (const text of [operator, source]) expect(text.length, operator).toBeGreaterThan(1);
      expect(date).toMatch(/^20\d\d-\d\d-\d\d$/);
      for (const domain of domains) expect(domain).toMatch(/^[a-z\d-]+(\.[a-z\d-]+)+$/);
    }
  });

  it('has each domain once', () => {
    expect(mailProviders().size).toBe(mailOperators().flatMap(({domains}) => domains).length);
  });

  it('gives all names of one mailbox one kind', () => {
    for (const [domain, {mailboxDomain}] of mailProviders())
      expect(kindOf(domain)).toBe(kindOf(mailboxDomain));
  });
});

describe('a domain that the packages’ lists disagree on', () => {
  it.each([
    ['one list against the best-known providers', 'nus.edu.sg', 'other'],
    ['both lists against the best-known providers', 'yopmail.com', 'disposable'],
    ['one list, and no well-known provider', 'alltempmail.com', 'disposable'],
    ['both lists against our own table', 'mail.by', 'provider'],
  ])('%s: %s is %s', (_, domain, kind) => {
    expect(kindOf(domain)).toBe(kind);
  });
});
