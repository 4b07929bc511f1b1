import {appendFileSync, cpSync, existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, it} from 'vitest';
import {encode} from '../../scripts/data/encode.ts';
import {licenceTexts} from '../../scripts/data/licence-texts.ts';
import {
  hostingNetworks,
  networkFlags,
  torNetworks,
  vpnNetworks,
} from '../../src/service/data/networks/networks.ts';
import {loadOpenData, OpenData} from '../../src/service/data/open-data.ts';
import {
  computeDataVersion,
  dataDirectory,
  dataVersion,
  files,
  installedVersion,
  lastNotAbove,
  PackedFile,
  readDataManifest,
} from '../../src/service/data/packed-data.ts';
import {buildOpenApi} from '../../src/service/pages.ts';
import {citySets, dataWithCities} from '../support/city-data.ts';
import {dataInUse} from '../support/main.ts';
import {running, temporaryFolder} from './running.ts';

const data = dataWithCities;

/** Words of a licence's text, and what it is called. */
const LICENCES = [
  [/Creative Commons Attribution 4\.0/, 'CC-BY-4.0'],
  [/CC0 1\.0/, 'CC0-1.0'],
  [/with or without fee/, 'ISC'],
  [/free of charge, to any person/, 'MIT'],
] as const;

describe('a packed file', () => {
  it('gives back the columns that were put in, of any kind and length', () => {
    const columns = {
      a: Uint8Array.of(1, 2, 255),
      empty: new Uint32Array(0),
      b: Uint32Array.of(0, 2 ** 32 - 1, 7),
      c: Float64Array.of(0.5, 447700900123, -1),
      ü: Uint8Array.of(9),
    };
    const file = encode(columns);
    for (const shift of [0, 1, 8]) {
      const packed = new PackedFile(Buffer.concat([Buffer.alloc(shift), file]).subarray(shift));
      for (const name of ['a', 'ü'] as const) expect(packed.column(name, 'u8')).toEqual(columns[name]);
      for (const name of ['empty', 'b'] as const) expect(packed.column(name, 'u32')).toEqual(columns[name]);
      expect(packed.column('c', 'f64')).toEqual(columns.c);
    }
    expect(() => new PackedFile(file).column('a', 'u32')).toThrow('no column a of kind u32');
  });

  it.each([
    [[], 5, -1],
    [[5], 4, -1],
    [[5], 5, 0],
    [[5], 2 ** 32 - 1, 0],
    [[0, 5, 9], 8, 1],
    [[0, 5, 9], 9, 2],
  ])('in %j, the last not above %i is at %i', (sorted, value, index) => {
    expect(lastNotAbove(Uint32Array.from(sorted), value)).toBe(index);
  });
});

describe('the packed data', () => {
  it('is small', () => {
    const bytes = Object.values(files).map(file => readFileSync(join(dataDirectory(), file)).length);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(3_500_000);
  });

  it('is credited as the licences in its packages ask, which are shipped with it', () => {
    const shipped = readFileSync(join(dataDirectory(), files.licences), 'utf8');
    for (const {name, licence, attribution, link} of readDataManifest(dataDirectory()).dataSets)
      for (const text of licenceTexts(name)) {
        expect(shipped).toContain(text);
        const stated = LICENCES.find(([words]) => words.test(text))?.[1] ?? 'one that is known';
        expect([name, licence]).toEqual([name, expect.stringContaining(stated)]);
        const credited = /attribution to (\S+) for the data/i.exec(text)?.[1]?.toLowerCase() ?? '';
        expect(`${attribution} ${link}`.toLowerCase()).toContain(credited);
      }
  });

  it('is of the installed packages', () => {
    for (const {name, version} of readDataManifest(dataDirectory()).dataSets)
      expect(installedVersion(name)).toBe(version);
  });

  it('has the same networks as its source, at both ends of each range', () => {
    const rows = readFileSync('node_modules/@ip-location-db/asn/asn-ipv4-num.csv', 'utf8')
      .split('\n')
      .filter(Boolean);
    expect(rows.length).toBeGreaterThan(400_000);
    for (let index = 0; index < rows.length; index += 997) {
      const [start, end, asn] = (rows[index] ?? '').split(',').map(Number) as [number, number, number];
      expect(data.asn().find(start)?.number).toBe(asn);
      expect(data.asn().find(end)?.number).toBe(asn);
    }
    expect(data.asn().find(0)).toBeUndefined();
    expect(data.asn().find(2 ** 32 - 1)).toBeUndefined();
  });

  it('has holders’ names whole, with commas, quotes and letters of any script', () => {
    expect(data.asn().holder(13335)).toBe('Cloudflare, Inc.');
    expect(data.asn().holder(9123)).toBe('JSC "TIMEWEB"');
    expect(data.asn().holder(4_200_000_000)).toBe('');
  });

  it('has countries of every address, or none', () => {
    expect(data.country().find(0x08080808)).toBe('US');
    expect(data.country().find(0)).toBeUndefined();
    expect(data.country().find(2 ** 32 - 1)).toBeUndefined();
  });

  it('is read when it is first asked for, not before', () => {
    const fresh = new OpenData();
    expect(fresh.asn()).toBe(fresh.asn());
    expect(fresh.asn()).not.toBe(data.asn());
  });
});

describe.each(citySets)('the city of an address, with %s', (_, set) => {
  it.each([
    ['a ward', '133.11.1.1', 'Tokyo'],
    ['a ward by another of its names', '130.54.1.1', 'Tokyo'],
    ['a district', '166.111.1.1', 'Beijing'],
    ['a district', '143.248.1.1', 'Daejeon'],
    ['a place in a city that is a country', '137.189.1.1', 'Hong Kong'],
    ['an abbreviation', '192.175.48.1', 'Indianapolis'],
    ['a city of its own', '18.7.22.69', 'Cambridge'],
    ['a quarter in parentheses', '212.58.244.20', 'London'],
  ])('where the data set has %s, %s, is %s', (_, address, city) => {
    expect(set.city()?.find(address).city).toBe(city);
  });
});

describe('the version of the data', () => {
  it('changes with any of our own lists, so that no stored answer outlives them', () => {
    const before = dataVersion();
    expect(computeDataVersion('src')).toBe(before);
    const copy = temporaryFolder();
    cpSync('src', copy, {recursive: true, filter: path => !path.endsWith('.ts')});
    expect(computeDataVersion(copy)).toBe(before);
    const ours = ['networks/networks.csv', 'tables/city-districts.csv'].map(list => `service/data/${list}`);
    for (const list of [...ours, 'operations/mail/mail-providers.csv']) {
      const earlier = computeDataVersion(copy);
      appendFileSync(join(copy, list), '\n');
      expect(computeDataVersion(copy), list).not.toBe(earlier);
    }
  });
});

describe('the lists of networks', () => {
  const lists = {hosting: hostingNetworks, vpn: vpnNetworks, tor: torNetworks};

  it.each(Object.entries(lists))(
    '%s: each entry has operator, numbers, reason and source; no number occurs twice, and each announces addresses',
    (_, list) => {
      for (const {operator, asns, reason, source} of list)
        expect(Math.min(asns.length * 4, operator.length, reason.length, source.length)).toBeGreaterThan(3);
      const numbers = list.flatMap(({asns}) => asns);
      expect(new Set(numbers).size).toBe(numbers.length);
      for (const number of numbers) expect(data.asn().holder(number), `AS${number}`).not.toBe('');
    },
  );

  it.each([
    [14061, 'DigitalOcean, LLC', 'datacenter'],
    [64496, 'Example Hosting Ltd', 'datacenter'],
    [64496, 'ExampleHosting LLC', 'datacenter'],
    [64496, 'ExampleVPS OU', 'datacenter'],
    [64496, 'Ghost Networks', ''],
    [64496, 'Hostess Foods', ''],
    [64496, 'A Data Centre Company', 'datacenter'],
    [64496, '', ''],
    [216025, 'Mullvad VPN AB', 'datacenter vpn'],
    [64496, 'VPN de Mexico', ''],
    [60729, '', 'datacenter tor'],
  ])('AS%i of "%s" is flagged: %s', (number, holder, flags) => {
    const found = Object.entries(networkFlags({number, holder})).flatMap(([flag, is]) => (is ? [flag] : []));
    expect(found.join(' ')).toBe(flags);
  });
});

describe('the OpenAPI description', () => {
  const description = buildOpenApi() as {
    openapi: string;
    info: {version: string};
    paths: Record<string, Record<string, unknown>>;
    components: {schemas: Record<string, {required?: string[]; properties: Record<string, object>}>};
  };

  it('is of OpenAPI 3.1 and of the interface’s version', () => {
    expect(description.openapi).toMatch(/^3\.1\./);
    expect(description.info.version).toBe('1.0.0');
  });

  it('has the four operations, all POST', () => {
    const lookups = ['ip', 'phone', 'email'].map(name => `/intelligence/${name}`);
    expect(Object.keys(description.paths)).toEqual([...lookups, '/verify']);
    for (const path of Object.values(description.paths)) expect(Object.keys(path)).toEqual(['post']);
  });

  it('refers to nothing that is not there', () => {
    const references = [...JSON.stringify(description).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(references.length).toBeGreaterThan(8);
    for (const [, name] of references) expect(description.components.schemas).toHaveProperty(name as string);
  });

  it('requires what the interface requires, and of an error both fields', () => {
    const {schemas} = description.components;
    expect(schemas['IpRequest']?.required).toEqual(['api_key', 'ip']);
    expect(schemas['IpRequest']?.properties['ip']).toMatchObject({type: 'string', format: 'ipv4'});
    expect(schemas['VerifyRequest']?.required).toEqual(['api_key', 'action_id', 'token']);
    expect(schemas['Error']?.required).toEqual(['success', 'message']);
    expect(schemas['VerifyResponse']?.required).toEqual(['success']);
  });

  it('is served, and shipped as it is served', async () => {
    const {url} = await running();
    const served = await (await fetch(`${url}/openapi.json`)).json();
    expect(served).toEqual(JSON.parse(JSON.stringify(description)));
    const shipped = join(dataDirectory(), '../openapi.json');
    expect(existsSync(shipped)).toBe(true);
    expect(JSON.parse(readFileSync(shipped, 'utf8'))).toEqual(served);
  });
});

it('is shared by the services of a process, which read no file a second time', () => {
  expect(loadOpenData()).toBe(dataInUse);
});
