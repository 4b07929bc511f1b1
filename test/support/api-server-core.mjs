import {isIPv4} from 'node:net';

// Plain JavaScript, because a bench's server runs it on a Node that can't run TypeScript; types are in the .d.mts beside it.

const ALWAYS_PASS = 't/FFFFFFFFFFFFF/111111111';
const NEVER_PASS = 't/FFFFFFFFFFFFF/000000000';

/** A 32-bit hash: FNV-1a with murmur3's finaliser, so that every bit of it can be used on its own. */
export function hash(text, seed = 0) {
  let h = 0x811c9dc5 ^ seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The error code for a request that can't be answered; undefined where it can be. */
export function refusal(operation, body) {
  return operation === 'ip' && !isIPv4(body.ip) ? 'invalid_ip' : undefined;
}

/** The success body for a request: a function of the value alone (and of `redeemed`, for a session token). */
export function answer(operation, body, redeemed = false) {
  return {success: true, ...answers[operation](body, redeemed)};
}

const answers = {
  ip: ({ip}) => ({data: ipAnswer(ip)}),
  phone: ({phone}) => ({data: phoneAnswer(phone)}),
  email: ({email}) => ({data: emailAnswer(email)}),
  verify: verdictAnswer,
};

const places = [
  ['Springfield', '62701', 'US', 'NA', 39.8, -89.64],
  ['Lyon', '69001', 'FR', 'EU', 45.76, 4.84],
  ['Osaka', '530-0001', 'JP', 'AS', 34.69, 135.5],
  ['Recife', '50010-000', 'BR', 'SA', -8.05, -34.88],
];

function ipAnswer(ip) {
  const h = hash(ip, 1);
  const [city, postal_code, country, continent, latitude, longitude] = places[h % places.length];
  return {
    is_vpn: (h & 0x700) === 0,
    is_datacenter_proxy: (h & 0x3800) === 0,
    is_residential_proxy: (h & 0x1c000) === 0,
    is_bogon: false,
    is_tor_node: (h & 0x3e0000) === 0,
    is_threat: (h & 0x7c00000) === 0,
    city,
    postal_code,
    country,
    continent,
    latitude,
    longitude,
    asn_number: 64496 + (h % 16),
    asn_organization: `Example Network ${h % 16}, Inc.`,
    isp: `Example Network ${h % 16}`,
  };
}

function phoneAnswer(phone) {
  const h = hash(phone, 2);
  const written = /^\+[1-9]\d{6,14}$/.test(phone);
  const is_valid = written && (h & 0x700) !== 0;
  return {
    is_valid,
    is_disposable: (h & 0x3800) === 0,
    is_virtual: (h & 0x1c000) === 0,
    is_threat: (h & 0x3e0000) === 0,
    is_spam: (h & 0x7c00000) === 0,
    e164_format: phone,
    country_code: '1',
    country: 'US',
    country_name: 'United States',
    number_type: 'MOBILE',
    line_type: (h & 1) === 0 ? 'mobile' : 'fixed_line',
    carrier: `Example Wireless ${h % 8}`,
    carrier_type: 'mobile',
    validation_error: is_valid ? '' : written ? 'number_not_in_service' : 'not_a_number',
    risk_score: h % 101,
  };
}

function emailAnswer(email) {
  const h = hash(email, 3);
  return {
    is_valid: (h & 0x700) !== 0,
    is_trusted: (h & 0x1800) !== 0,
    has_aliasing: email.includes('+'),
    trust_score: h % 101,
    normalized_email: email.toLowerCase().replace(/\+[^@]*@/, '@'),
    domain: email.slice(email.lastIndexOf('@') + 1).toLowerCase(),
  };
}

function verdictAnswer(body, redeemed) {
  const h = hash(body.token, 4);
  const ip = `198.51.100.${h & 0xff}`;
  const {city, postal_code, country, continent, latitude, longitude} = ipAnswer(ip);
  const canPass = body.action_id === ALWAYS_PASS || (body.action_id !== NEVER_PASS && (h & 0x300) !== 0);
  return {
    ...(body.id !== undefined && {user_id: body.id}),
    score: canPass ? 50 + (h % 51) : h % 50,
    verdict: {can_pass: canPass, redeemed},
    device: {
      fingerprint: h.toString(16).padStart(8, '0'),
      user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
      browser: 'Firefox',
      languages: 'en-US,en',
      timezone: 'America/Chicago',
      os: 'Linux',
      is_mobile: (h & 1) === 1,
    },
    ip: {
      address: ip,
      type: 'residential',
      is_datacenter: false,
      is_proxy: (h & 0x3800) === 0,
      is_tor: false,
      is_vpn: (h & 0x1c000) === 0,
      is_threat: false,
      is_bogon: false,
      asn: `AS${64496 + (h % 16)}`,
      asn_number: 64496 + (h % 16),
    },
    location: {city, postal_code, country, continent, latitude, longitude},
    ...(body.email !== undefined && {email: verdictEmail(body.email)}),
    ...(body.phone_number !== undefined && {phone: verdictPhone(body.phone_number)}),
    session: {started_at: '2026-01-02T03:04:05.000Z', finished_at: '2026-01-02T03:05:06.000Z'},
    rules: canPass ? [] : [{action: 'block', name: 'Automation', id: 'r1', source: 'bot', shadow: false}],
    ...(body.id !== undefined && {
      multi_accounting: {detected: false, risk: 'low', score: h % 20, accounts: []},
    }),
  };
}

function verdictEmail(email) {
  const {is_valid, trust_score, normalized_email, domain} = emailAnswer(email);
  return {
    address: email,
    normalized: normalized_email,
    valid: is_valid,
    trust_score,
    domain_name: domain,
    domain_type: 'business',
    flags: is_valid ? [] : ['undeliverable'],
  };
}

function verdictPhone(phone) {
  const {is_valid, country_code, country_name, carrier, line_type} = phoneAnswer(phone);
  return {valid: is_valid, country_code, country_name, carrier, line_type};
}

/** What a call costs where its answer costs anything: 1 credit, none with a test action id. */
export function price(operation, body) {
  return operation === 'verify' && (body.action_id === ALWAYS_PASS || body.action_id === NEVER_PASS) ? 0 : 1;
}

/**
 * Whether an answer of this status is charged, unless a test says otherwise: all but 401, 402, 429 and a 503
 * that has Retry-After. The interface doesn't say; these are what the client takes to be free by default.
 */
export function isCharged(status, hasRetryAfter) {
  return !(status === 401 || status === 402 || status === 429 || (status === 503 && hasRetryAfter));
}

/** Counts events in a sliding window of `windowMs`: how many now, and the most there ever were at once. */
export class SlidingCount {
  peak = 0;
  #times = [];
  #first = 0;
  #windowMs;

  constructor(windowMs = 1000) {
    this.#windowMs = windowMs;
  }

  /** Records an event at `now` (ms, never decreasing). */
  add(now) {
    this.#times.push(now);
    this.peak = Math.max(this.peak, this.count(now));
  }

  /** Events later than `now - windowMs`. */
  count(now) {
    while (this.#first < this.#times.length && this.#times[this.#first] <= now - this.#windowMs)
      this.#first++;
    if (this.#first > 65_536) {
      this.#times = this.#times.slice(this.#first);
      this.#first = 0;
    }
    return this.#times.length - this.#first;
  }
}
