import {mailOperators} from '../operations/mail/mail-providers.ts';
import libraries from './data/libraries.json' with {type: 'json'};
import {hostingNetworks, torNetworks, vpnNetworks} from './data/networks/networks.ts';
import type {OpenData} from './data/open-data.ts';
import {cityPackage, type DataSet, installedVersion, readDataManifest} from './data/packed-data.ts';
import {findCityFile} from './data/tables/city-table.ts';

/** The body of `GET /_sources`: the sources of the answers. */
export interface Sources {
  data_sets: DataSet[];
  /** Libraries that carry their own data. */
  libraries: {name: string; version: string; licence: string; fields: string[]}[];
  /** Lists that this project keeps. */
  lists: {name: string; operators: number; entries: number; fields: string[]}[];
  /** Fields that no answer has, and the reasons. */
  left_out: {fields: string[]; reason: string}[];
}

const cityFields = ['city', 'latitude', 'longitude', 'country (of an IP address)'];

const noSource = {
  fields: ['is_residential_proxy', 'is_threat', 'is_spam', 'is_proxy', 'postal_code'],
  reason: 'no open data answers it',
};

export function describeSources(data: OpenData): Sources {
  const city = describeCity(data);
  return {
    data_sets: [...readDataManifest(data.directory).dataSets, ...(city ? [city] : [])],
    libraries: libraries.map(each => ({...each, version: installedVersion(each.name) ?? ''})),
    lists: [
      describeList('hosting networks', asnsOf(hostingNetworks), ['is_datacenter_proxy']),
      describeList('VPN networks', asnsOf(vpnNetworks), ['is_vpn']),
      describeList('Tor networks', asnsOf(torNetworks), ['is_tor_node']),
      describeList(
        'mail domains',
        mailOperators().map(({domains}) => domains),
        ['normalized_email', 'has_aliasing', 'trust_score', 'is_trusted', 'domain_type'],
      ),
    ],
    left_out: city ? [noSource] : [noSource, withoutCity],
  };
}

/** Fields left out because the optional city data is not installed; undefined if it is. */
export function describeLeftOutFields(): Sources['left_out'][number] | undefined {
  return findCityFile() === undefined ? withoutCity : undefined;
}

const withoutCity = {fields: cityFields.slice(0, 3), reason: `${cityPackage} is not installed`};

function describeCity(data: OpenData): DataSet | undefined {
  const table = data.city();
  if (table === undefined) return undefined;
  return {
    name: cityPackage,
    version: installedVersion(cityPackage) ?? '',
    licence: 'CC-BY-4.0',
    attribution: 'IP Geolocation by DB-IP',
    link: 'https://db-ip.com',
    date: table.date,
    entries: table.nodes,
    fields: cityFields,
  };
}

const asnsOf = (list: typeof hostingNetworks): (readonly number[])[] => list.map(({asns}) => asns);

const describeList = (
  name: string,
  byOperator: (readonly unknown[])[],
  fields: string[],
): Sources['lists'][number] => ({
  name,
  operators: byOperator.length,
  entries: byOperator.flat().length,
  fields,
});
