import {describe, expect, it} from 'vitest';
import {normalizeMailbox} from '../../src/operations/mail/mail-providers.ts';
import {OpenData} from '../../src/service/data/open-data.ts';
import {assessMail, emailIntelligence, parseMailAddress} from '../../src/service/intelligence/email.ts';
import {ipIntelligence, sessionIpIntelligence} from '../../src/service/intelligence/ip.ts';
import {phoneIntelligence} from '../../src/service/intelligence/phone.ts';
import {citySets, dataWithCities} from '../support/city-data.ts';

const data = dataWithCities;

/** The same data without the optional city set. */
const withoutCity = Object.assign(new OpenData(), {city: () => undefined});

const UNFLAGGED = {is_bogon: false, is_vpn: false, is_datacenter_proxy: false, is_tor_node: false};

const words = ({raw: [text = '']}: TemplateStringsArray) => text.split(/\s+/);

describe('an IP address', () => {
  it.each(
    words`0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.1.1 192.0.0.8 192.0.0.11 172.31.255.255 192.0.2.1
      192.168.0.1 198.51.100.7 203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255`,
  )('%s is a bogon with three flags that are false, and nothing else is said of it', address => {
    expect(ipIntelligence(data, address)).toEqual({...UNFLAGGED, is_bogon: true});
  });

  it.each(words`8.8.8.8 100.63.255.255 172.32.0.1 192.0.0.9 192.0.0.10 192.175.48.1 223.255.255.254`)(
    '%s is no bogon',
    address => expect(ipIntelligence(data, address).is_bogon).toBe(false),
  );

  it('has no city and coordinates, but a country, without the optional data set', () => {
    expect(ipIntelligence(withoutCity, '8.8.8.8')).toEqual({
      ...{...UNFLAGGED, is_datacenter_proxy: true, country: 'US', continent: 'NA'},
      ...{asn_number: 15169, asn_organization: 'Google LLC', isp: 'Google LLC'},
    });
  });

  it.each(citySets.slice(1))('has no quarter in any name, with %s', (_, set) => {
    const cities = Array.from({length: 5000}, (_, index) => {
      const [one, two] = [1 + (index % 220), (index * 37) % 256];
      return ipIntelligence(set, `${one}.${two}.17.9`).city ?? '';
    });
    expect(cities.filter(city => /[()[\]]/.test(city))).toEqual([]);
    expect(new Set(cities).size).toBeGreaterThan(500);
  });

  it.each(words`8.8.8.8 185.220.101.33 2.2.2.2 10.0.0.1`)('%s never has fields without a source', address => {
    const answer = ipIntelligence(data, address);
    for (const field of ['is_residential_proxy', 'is_threat', 'postal_code'])
      expect(answer).not.toHaveProperty(field);
  });

  it('of no announced network has no flags: nothing is known', () => {
    expect(ipIntelligence(withoutCity, '2.2.2.2')).not.toHaveProperty('is_vpn');
  });

  it.each(
    words`2001:1::1 2001:1::2 2001:1::3 2001:4:112::1 2001:20::1 2001:30::1 2620:4f:8000::1 64:ff9b::808:808
      2001:4860:4860::8888`,
  )('%s is reachable by IANA’s registry, so no bogon', address => {
    expect(sessionIpIntelligence(data, address)).toEqual({is_bogon: false});
  });

  it.each(words`2001:1::4 2001:2::1 64:ff9b:1::1 100::1 3fff::1 5f00::1 fe80::1 ::1 2001:db8::1`)(
    '%s is a bogon',
    address => expect(sessionIpIntelligence(data, address)).toEqual({is_bogon: true}),
  );

  it('in an IPv6 form of an IPv4 address is looked up as IPv4', () => {
    expect(sessionIpIntelligence(data, '::ffff:8.8.8.8')).toMatchObject({asn_number: 15169});
  });
});

describe('a phone number', () => {
  it.each([
    ['+442079460958', 'fixed_line', 'landline', 20],
    ['+491713920012', 'mobile', 'mobile', 10],
    ['+12025550123', 'fixed_line_or_mobile', 'landline_or_mobile', 15],
    ['+448081570123', 'toll_free', 'toll_free', 50],
    ['+449098790123', 'premium_rate', 'premium', 70],
    ['+815012345678', 'voip', 'voip', 60],
    ['+447012345678', 'personal_number', 'voip', 60],
  ])('%s is %s, %s, of risk %i', (phone, number_type, line_type, risk_score) => {
    const found = {is_valid: true, number_type, line_type, risk_score};
    expect(phoneIntelligence(data, phone)).toMatchObject(found);
  });

  it.each([
    ['2025550123', 'country_unknown'],
    ['00442079460958', 'malformed'],
    ['+999123456', 'malformed'],
    ['+1', 'too_short'],
    ['+44207946095812345', 'too_long'],
    ['+447700900123', 'not_allocated'],
    ['hello', 'malformed'],
    [' ', 'malformed'],
    ['x'.repeat(1000), 'malformed'],
  ])('%s is not valid: %s', (phone, validation_error) => {
    const found = {is_valid: false, validation_error, risk_score: 100};
    expect(phoneIntelligence(data, phone)).toMatchObject(found);
  });

  it('is virtual where its plan has such a range, and not told where ranges are shared', () => {
    expect(phoneIntelligence(data, '+815012345678').is_virtual).toBe(true);
    expect(phoneIntelligence(data, '+491713920012').is_virtual).toBe(false);
    expect(phoneIntelligence(data, '+12025550123')).not.toHaveProperty('is_virtual');
  });

  it('has the carrier its range was allocated to, mobile ranges only', () => {
    const {carrier, carrier_type} = phoneIntelligence(data, '+61491570156');
    expect([carrier, carrier_type]).toEqual(['Telstra', 'mobile']);
    for (const phone of ['+442079460958', '+2015123456']) {
      expect(phoneIntelligence(data, phone), phone).toMatchObject({number_type: 'fixed_line'});
      expect(phoneIntelligence(data, phone), phone).not.toHaveProperty('carrier');
    }
    expect(phoneIntelligence(data, '+12025550123')).not.toHaveProperty('carrier');
  });

  it('in any writing has one E.164 form', () => {
    for (const phone of ['+44 20 7946 0958', '+44 (0)20-7946-0958', ' +442079460958 ', '+442079460958']) {
      expect(phoneIntelligence(data, phone).e164_format, phone).toBe('+442079460958');
    }
  });

  it('never has fields without a source', () => {
    for (const field of ['is_threat', 'is_spam'])
      expect(phoneIntelligence(data, '+442079460958')).not.toHaveProperty(field);
  });
});

describe('an e-mail address', () => {
  it.each([
    ...words`nobody @example.org a@ a@b a@@example.org .a@example.org a.@example.org a..b@example.org
      a@-b.org a@b-.org a@b..org a@iana.org. a@b_c.org a@192.0.2.1 a@[192.0.2.1] a@localhost a@b.test a@b.invalid
      a@b.c0m a@co.uk a@facebookwkhpilnemxj7asaniu7vnjjbiltxjqhye3mhbshg7kx5tfyd.onion a@%65xample.org
      a@example.org/x a@example.org:25 "a@example.org`,
    'a b@example.org',
    `${'a'.repeat(65)}@example.org`,
    `a@${'b'.repeat(64)}.org`,
    `a@${'b.'.repeat(130)}org`,
    `a@bb.${'b.'.repeat(124)}org`,
    'a\u0000@example.org',
    'a\ud800@example.org',
  ])('%s can’t be one', email => {
    expect(emailIntelligence(data, email)).toEqual({is_valid: false, is_trusted: false, trust_score: 0});
  });

  it.each([
    ['a@example.co.uk', 'example.co.uk'],
    ["o'neil+x=y@mail.iana.org", 'mail.iana.org'],
    ['"a b"@iana.org', 'iana.org'],
    ['jos\u00e9@iana.org', 'iana.org'],
    ['a@B\u00dcCHER.de', 'xn--bcher-kva.de'],
    ['a@\u4f8b\u5b50\u3002\u4e2d\u56fd', 'xn--fsqu00a.xn--fiqs8s'],
    ['a@xn--bcher-kva.de', 'xn--bcher-kva.de'],
    [' a@iana.org ', 'iana.org'],
    [`a@${'b.'.repeat(125)}org`, `${'b.'.repeat(125)}org`],
  ])('%s can be one, at %s', (email, domain) => {
    expect(emailIntelligence(data, email)).toMatchObject({is_valid: true, domain});
  });

  it.each([
    ['First.Last+news@GoogleMail.com', 'firstlast@gmail.com', true],
    ['plain@gmail.com', 'plain@gmail.com', false],
    ['Plain@Gmail.com', 'plain@gmail.com', false],
    ['a.b+c@outlook.com', 'a.b@outlook.com', true],
    ['nick-shop@yahoo.com', 'nick@yahoo.com', true],
    ['nick-shop@gmail.com', 'nick-shop@gmail.com', false],
    ['a@ya.ru', 'a@yandex.ru', true],
    ['a+b@iana.org', 'a+b@iana.org', true],
    ['+b@gmail.com', '+b@gmail.com', false],
    ['a@duck.com', 'a@duck.com', true],
    ['a@b.mozmail.com', 'a@b.mozmail.com', true],
    ['"a+b"@gmail.com', '"a+b"@gmail.com', false],
  ])('%s is known as %s; aliasing: %s', (email, normalized_email, has_aliasing) => {
    expect(emailIntelligence(data, email)).toMatchObject({normalized_email, has_aliasing});
  });

  it('is known by a form that does not change when it is taken again', () => {
    for (const email of words`First.Last+news@GoogleMail.com nick-a-b@yahoo.com a+b+c@proton.me a@ya.ru`) {
      const parsed = parseMailAddress(email);
      const once = parsed && normalizeMailbox(parsed).address;
      const twice = once === undefined ? undefined : parseMailAddress(once);
      expect(twice && normalizeMailbox(twice).address).toBe(once);
    }
  });

  it.each([
    ['a@gmail.com', 'mainstream', 85],
    ['a@mailinator.com', 'disposable', 5],
    ['a@x.y.mailinator.com', 'disposable', 5],
    ['a@alltempmail.com', 'disposable', 5],
    ['a@20minutesmail.com', 'disposable', 5],
    ['a@iana.org', 'other', 60],
    ['a@duck.com', 'relay', 45],
    ['a@example.com', 'reserved', 0],
    ['a@mail.example.com', 'reserved', 0],
    ['someone@x.za.com', 'other', 60],
  ])('%s is of the type %s, with a trust of %i', (email, domainType, trust) => {
    expect(assessMail(data, email)).toMatchObject({domainType, trust});
  });

  it.each([
    ['a+b@gmail.com', ['tagged'], 80],
    ['a.b@gmail.com', ['dotted'], 80],
    ['a@googlemail.com', ['renamed'], 85],
    ['info@iana.org', ['role'], 45],
    ['a1234567@iana.org', ['generated'], 45],
    ['a123456@iana.org', [], 60],
    ['abcde678@iana.org', [], 60],
    ['"x y"@iana.org', ['quoted'], 40],
    ['a@b\u00fccher.de', ['international'], 50],
    ['info+x@b\u00fccher.de', ['tagged', 'international'], 45],
  ])('%s has the flags %j and a trust of %i', (email, flags, trust) => {
    expect(assessMail(data, email)).toMatchObject({flags, trust});
  });
});
