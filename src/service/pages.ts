import {z} from 'zod';
import {mailOperators} from '../operations/mail/mail-providers.ts';
import {errorBodySchema} from '../operations/operation.ts';
import {type Operation, operationNames, operations} from '../operations/table.ts';
import libraries from './data/libraries.json' with {type: 'json'};
import {hostingNetworks, torNetworks, vpnNetworks} from './data/networks/networks.ts';
import type {OpenData} from './data/open-data.ts';
import {cityPackage, type DataSet, installedVersion, readDataManifest} from './data/packed-data.ts';
import {findCityFile} from './data/tables/city-table.ts';
import {accessRulesSchema} from './verdict/access-rules.ts';
import {userSessionSchema} from './verdict/user-session.ts';

const capitalised = (name: string): string => name[0]?.toUpperCase() + name.slice(1);

const jsonSchema = (schema: z.ZodType): Record<string, unknown> => {
  const {$schema: _, ...rest} = z.toJSONSchema(schema, {target: 'draft-2020-12', io: 'input'});
  return rest;
};

const content = (schema: string): Record<string, unknown> => ({
  'application/json': {schema: {$ref: `#/components/schemas/${schema}`}},
});

function operation(name: Operation): Record<string, unknown> {
  const title = capitalised(name);
  return {
    operationId: name,
    summary: operations[name].summary,
    requestBody: {required: true, content: content(`${title}Request`)},
    responses: {
      200: {description: 'Success', content: content(`${title}Response`)},
      401: {description: 'The API key is not valid: `invalid_token`', content: content('Error')},
      default: {description: 'Any other failure', content: content('Error')},
    },
  };
}

/** The four operations as OpenAPI 3.1, with JSON Schema 2020-12, made from the schemas that check requests. */
export function buildOpenApi(): Record<string, unknown> {
  const schemas = operationNames.flatMap(name => [
    [`${capitalised(name)}Request`, jsonSchema(operations[name].request)],
    [`${capitalised(name)}Response`, jsonSchema(operations[name].response)],
  ]);
  return {
    openapi: '3.1.0',
    info: {title: 'Bot verdict and intelligence service', version: '1.0.0'},
    paths: Object.fromEntries(operationNames.map(name => [operations[name].path, {post: operation(name)}])),
    components: {schemas: {...Object.fromEntries(schemas), Error: jsonSchema(errorBodySchema)}},
  };
}

/** JSON Schemas of the user's files: a line of a sessions file, and a rules file. */
export const buildFileSchemas = (): {session: object; rules: object} => ({
  session: z.toJSONSchema(userSessionSchema, {io: 'input'}),
  rules: z.toJSONSchema(accessRulesSchema, {io: 'input'}),
});

export interface Sources {
  data_sets: DataSet[];
  /** Libraries that carry their own data. */
  libraries: {name: string; version: string; licence: string; fields: string[]}[];
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
    libraries: libraries.map(library => ({...library, version: installedVersion(library.name) ?? ''})),
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
