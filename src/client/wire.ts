import {z} from 'zod';

/**
 * The service's interface, version 1.0.0: one table per operation, from which come the client's checks, the
 * output's columns, the embedded service's answers and its OpenAPI description.
 *
 * The interface does not say which response fields are always present, so every one of them is optional here.
 */

const text = z.string();
const flag = z.boolean();
const dateTime = z.iso.datetime({offset: true});

const apiKey = z.string().min(1).describe("The client's API key.");

const ipRequest = z.object({
  api_key: apiKey,
  ip: z.ipv4().describe('The IPv4 address to look up.'),
});

const phoneRequest = z.object({
  api_key: apiKey,
  phone: z.string().min(1).describe('The phone number to validate.'),
});

const emailRequest = z.object({
  api_key: apiKey,
  email: z.string().min(1).describe('The e-mail address to validate and score.'),
});

export const verifyRequest = z.object({
  api_key: apiKey,
  action_id: z.string().min(1).describe("The client's action identifier."),
  token: z.string().min(1).describe('The user session token from the protected endpoint.'),
  id: z.string().optional().describe('User identifier for multi-accounting detection.'),
  email: z.string().optional().describe('User e-mail address.'),
  phone_number: z.string().optional().describe('User phone number in E.164 format.'),
});

export const ipData = z
  .looseObject({
    is_vpn: flag,
    is_datacenter_proxy: flag,
    is_residential_proxy: flag,
    is_bogon: flag,
    is_tor_node: flag,
    is_threat: flag,
    city: text,
    postal_code: text,
    country: text,
    continent: text,
    latitude: z.number(),
    longitude: z.number(),
    asn_number: z.int(),
    asn_organization: text,
    isp: text,
  })
  .partial();

export const phoneData = z
  .looseObject({
    is_valid: flag,
    is_disposable: flag,
    is_virtual: flag,
    is_threat: flag,
    is_spam: flag,
    e164_format: text,
    country_code: text,
    country: text,
    country_name: text,
    number_type: text,
    line_type: text,
    carrier: text,
    carrier_type: text,
    validation_error: text,
    risk_score: z.number(),
  })
  .partial();

export const emailData = z
  .looseObject({
    is_valid: flag,
    is_trusted: flag,
    has_aliasing: flag,
    trust_score: z.number(),
    normalized_email: text,
    domain: text,
  })
  .partial();

const verifyShape = {
  user_id: text,
  score: z.number(),
  verdict: z.looseObject({can_pass: flag, redeemed: flag}).partial(),
  device: z
    .looseObject({
      fingerprint: text,
      user_agent: text,
      browser: text,
      languages: text,
      timezone: text,
      os: text,
      is_mobile: flag,
    })
    .partial(),
  ip: z
    .looseObject({
      address: text,
      type: text,
      is_datacenter: flag,
      is_proxy: flag,
      is_tor: flag,
      is_vpn: flag,
      is_threat: flag,
      is_bogon: flag,
      asn: text,
      asn_number: z.int(),
    })
    .partial(),
  location: z
    .looseObject({
      city: text,
      postal_code: text,
      country: text,
      continent: text,
      latitude: z.number(),
      longitude: z.number(),
    })
    .partial(),
  email: z
    .looseObject({
      address: text,
      normalized: text,
      valid: flag,
      trust_score: z.number(),
      domain_name: text,
      domain_type: text,
      flags: z.array(text),
    })
    .partial(),
  phone: z
    .looseObject({valid: flag, country_code: text, country_name: text, carrier: text, line_type: text})
    .partial(),
  session: z.looseObject({started_at: dateTime, finished_at: dateTime}).partial(),
  rules: z.array(z.looseObject({action: text, name: text, id: text, source: text, shadow: flag}).partial()),
  multi_accounting: z
    .looseObject({
      detected: flag,
      risk: text,
      score: z.number(),
      accounts: z.array(
        z
          .looseObject({
            user_id: text,
            email: text,
            signals: z.array(text),
            confidence: z.number(),
            session_count: z.int(),
            last_activity: dateTime,
          })
          .partial(),
      ),
    })
    .partial(),
};

/** A verdict without its `success` flag, which is what the other operations call `data`. */
export const verifyData = z.looseObject(verifyShape).partial();

/** The success response of `/verify`: the verdict's fields stand beside `success`. */
const verifyResponse = verifyData.extend({success: z.literal(true)});

/** The success response of an intelligence operation. */
const ipResponse = z.object({success: z.literal(true), data: ipData});
const phoneResponse = z.object({success: z.literal(true), data: phoneData});
const emailResponse = z.object({success: z.literal(true), data: emailData});

/** The only error payload that the interface gives. */
export const errorBody = z.object({
  success: z.literal(false),
  message: z.string().describe('A short error code; `invalid_token` is the only one the interface names.'),
});

/** The one error code that the interface names: an invalid credential. */
export const INVALID_TOKEN = 'invalid_token';

/** `action_id`s for local development: they cost no credits and always pass or never pass. */
export const TEST_ACTION_ALWAYS_PASS = 't/FFFFFFFFFFFFF/111111111';
export const TEST_ACTION_NEVER_PASS = 't/FFFFFFFFFFFFF/000000000';

export const operationNames = ['ip', 'phone', 'email', 'verify'] as const;

/** One of the service's four operations. */
export type Operation = (typeof operationNames)[number];

/** The operations that look one value up, without a session token. */
export type Intelligence = Exclude<Operation, 'verify'>;

/** Path, request and response of each operation; all are POST with JSON bodies, relative to the base URL. */
export const wire = {
  ip: {path: '/intelligence/ip', request: ipRequest, data: ipData, response: ipResponse},
  phone: {path: '/intelligence/phone', request: phoneRequest, data: phoneData, response: phoneResponse},
  email: {path: '/intelligence/email', request: emailRequest, data: emailData, response: emailResponse},
  verify: {path: '/verify', request: verifyRequest, data: verifyData, response: verifyResponse},
} as const;

export type IpData = z.infer<typeof ipData>;
export type PhoneData = z.infer<typeof phoneData>;
export type EmailData = z.infer<typeof emailData>;
export type VerifyData = z.infer<typeof verifyData>;
