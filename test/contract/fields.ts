import {expect, it} from 'vitest';

/** Fields and their types, written off the interface's tables, not off the project's schemas. */
export type Fields = Record<string, FieldType>;

const all = (type: FieldType, names: string): Fields =>
  Object.fromEntries(names.split(' ').map(name => [name, type]));

export const ipFields: Fields = {
  ...all('boolean', 'is_vpn is_datacenter_proxy is_residential_proxy is_bogon is_tor_node is_threat'),
  ...all('string', 'city postal_code country continent'),
  ...all('number', 'latitude longitude'),
  ...all('integer', 'asn_number'),
  ...all('string', 'asn_organization isp'),
};

export const phoneFields: Fields = {
  ...all('boolean', 'is_valid is_disposable is_virtual is_threat is_spam'),
  ...all('string', 'e164_format country_code country country_name number_type line_type carrier'),
  ...all('string', 'carrier_type validation_error'),
  ...all('number', 'risk_score'),
};

export const emailFields: Fields = {
  ...all('boolean', 'is_valid is_trusted has_aliasing'),
  ...all('number', 'trust_score'),
  ...all('string', 'normalized_email domain'),
};

/** The verify response, by object; '' is the response itself. */
export const verifyFields: Record<string, Fields> = {
  '': {
    ...all('boolean', 'success'),
    ...all('string', 'user_id'),
    ...all('number', 'score'),
    ...all('object', 'verdict device ip location email phone session multi_accounting'),
    ...all('array', 'rules'),
  },
  verdict: all('boolean', 'can_pass redeemed'),
  device: {
    ...all('string', 'fingerprint user_agent browser languages timezone os'),
    ...all('boolean', 'is_mobile'),
  },
  ip: {
    ...all('string', 'address type asn'),
    ...all('boolean', 'is_datacenter is_proxy is_tor is_vpn is_threat is_bogon'),
    ...all('integer', 'asn_number'),
  },
  location: {...all('string', 'city postal_code country continent'), ...all('number', 'latitude longitude')},
  email: {
    ...all('string', 'address normalized domain_name domain_type'),
    ...all('boolean', 'valid'),
    ...all('number', 'trust_score'),
    ...all('array of strings', 'flags'),
  },
  phone: {...all('boolean', 'valid'), ...all('string', 'country_code country_name carrier line_type')},
  session: all('date-time', 'started_at finished_at'),
  'rules[]': {...all('string', 'action name id source'), ...all('boolean', 'shadow')},
  multi_accounting: {
    ...all('boolean', 'detected'),
    ...all('string', 'risk'),
    ...all('number', 'score'),
    ...all('array', 'accounts'),
  },
  'multi_accounting.accounts[]': {
    ...all('string', 'user_id email'),
    ...all('array of strings', 'signals'),
    ...all('number', 'confidence'),
    ...all('integer', 'session_count'),
    ...all('date-time', 'last_activity'),
  },
};

/** RFC 3339, in UTC. */
const dateTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)$/;

/** The types, in the interface's words. */
const checks = {
  boolean: (value: unknown) => typeof value === 'boolean',
  string: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number',
  integer: (value: unknown) => Number.isInteger(value),
  'date-time': (value: unknown) => typeof value === 'string' && dateTime.test(value),
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: (value: unknown) => Array.isArray(value),
  'array of strings': (value: unknown) =>
    Array.isArray(value) && value.every(each => typeof each === 'string'),
};
export type FieldType = keyof typeof checks;

/**
 * One case per field. The interface does not say which fields are always present, so an absent one passes.
 * @param holders finds the objects that may have the fields, once they were asked for
 */
export function fieldCases(where: string, fields: Fields, holders: () => Record<string, unknown>[]): void {
  it.each(Object.entries(fields))(`${where}%s is of type %s, where present`, (name, type) => {
    const values = holders().map(holder => holder[name]);
    expect(values.filter(value => value !== undefined && !checks[type](value))).toEqual([]);
  });
}

/** The fields of `holders` that `fields` does not have. */
export const strangers = (fields: Fields, holders: Record<string, unknown>[]): string[] =>
  holders.flatMap(holder => Object.keys(holder).filter(name => !(name in fields)));
