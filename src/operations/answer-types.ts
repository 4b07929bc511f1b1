// biome-ignore-all format: written by `npm run schema` from the other files of this directory.

/** Answer about an IP address. */
export interface IpData {
  /** True if the address belongs to a VPN. */ readonly is_vpn?: boolean | undefined;
  /** True if it is a proxy in a datacenter. */ readonly is_datacenter_proxy?: boolean | undefined;
  /** True if it is a proxy on a private person's line. */ readonly is_residential_proxy?: boolean | undefined;
  /** True if its range is not public (private, reserved, documentation). */ readonly is_bogon?: boolean | undefined;
  /** True if it is a node of the Tor network. */ readonly is_tor_node?: boolean | undefined;
  /** True if the service calls it a threat. */ readonly is_threat?: boolean | undefined;
  /** City of the address. */ readonly city?: string | undefined;
  /** Postal code of the address. */ readonly postal_code?: string | undefined;
  /** Country of the address. */ readonly country?: string | undefined;
  /** Continent of the address. */ readonly continent?: string | undefined;
  /** Latitude of the address. */ readonly latitude?: number | undefined;
  /** Longitude of the address. */ readonly longitude?: number | undefined;
  /** Number of the network (autonomous system, AS) that announces it. */ readonly asn_number?: number | undefined;
  /** Organization that runs that network. */ readonly asn_organization?: string | undefined;
  /** Internet provider. */ readonly isp?: string | undefined;
}

/** Answer about a phone number. */
export interface PhoneData {
  /** True if the number can be assigned to a line. */ readonly is_valid?: boolean | undefined;
  /** True if it belongs to a public inbox that anybody can read. */ readonly is_disposable?: boolean | undefined;
  /** True if it has no line of its own, as with VoIP. */ readonly is_virtual?: boolean | undefined;
  /** True if the service calls it a threat. */ readonly is_threat?: boolean | undefined;
  /** True if it is known for spam. */ readonly is_spam?: boolean | undefined;
  /** The number in E.164 form. */ readonly e164_format?: string | undefined;
  /** Country calling code. */ readonly country_code?: string | undefined;
  /** Country of the number. */ readonly country?: string | undefined;
  /** Name of the country. */ readonly country_name?: string | undefined;
  /** Kind of number, such as mobile. */ readonly number_type?: string | undefined;
  /** Kind of line, such as landline. */ readonly line_type?: string | undefined;
  /** Carrier. */ readonly carrier?: string | undefined;
  /** Kind of carrier, such as mobile. */ readonly carrier_type?: string | undefined;
  /** Why the number is not valid. */ readonly validation_error?: string | undefined;
  /** Risk score of the service; range not shown. */ readonly risk_score?: number | undefined;
}

/** Answer about an e-mail address. */
export interface EmailData {
  /** True if mail can be sent to the address. */ readonly is_valid?: boolean | undefined;
  /** True if the service trusts it. */ readonly is_trusted?: boolean | undefined;
  /** True if it is another spelling of a mailbox, such as one with a tag. */ readonly has_aliasing?: boolean | undefined;
  /** Trust score of the service; range not shown. */ readonly trust_score?: number | undefined;
  /** The mailbox's main address, without tags and the like. */ readonly normalized_email?: string | undefined;
  /** The part after the @. */ readonly domain?: string | undefined;
}

/** Answer about a session token. */
export interface VerifyData {
  /** The user identifier that was sent. */ readonly user_id?: string | undefined;
  /** Score from 0 (bot) to 100 (human). */ readonly score?: number | undefined;
  readonly verdict?: {
    /** True if the request should be allowed. */ readonly can_pass?: boolean | undefined;
    /** True if the token was verified before this call. */ readonly redeemed?: boolean | undefined;
  } | undefined;
  readonly device?: {
    /** Fingerprint that identifies the device. */ readonly fingerprint?: string | undefined;
    /** The browser's user agent. */ readonly user_agent?: string | undefined;
    /** The browser. */ readonly browser?: string | undefined;
    /** The browser's languages. */ readonly languages?: string | undefined;
    /** The device's time zone. */ readonly timezone?: string | undefined;
    /** The device's operating system. */ readonly os?: string | undefined;
    /** True if the device is mobile. */ readonly is_mobile?: boolean | undefined;
  } | undefined;
  readonly ip?: {
    /** The visitor's address. */ readonly address?: string | undefined;
    /** Kind of address, such as ipv4. */ readonly type?: string | undefined;
    /** True if it is in a datacenter. */ readonly is_datacenter?: boolean | undefined;
    /** True if it is a proxy. */ readonly is_proxy?: boolean | undefined;
    /** True if it is a node of the Tor network. */ readonly is_tor?: boolean | undefined;
    /** True if the address belongs to a VPN. */ readonly is_vpn?: boolean | undefined;
    /** True if the service calls it a threat. */ readonly is_threat?: boolean | undefined;
    /** True if its range is not public (private, reserved, documentation). */ readonly is_bogon?: boolean | undefined;
    /** The network (autonomous system, AS) that announces it. */ readonly asn?: string | undefined;
    /** Number of that network. */ readonly asn_number?: number | undefined;
  } | undefined;
  readonly location?: {
    /** City of the address. */ readonly city?: string | undefined;
    /** Postal code of the address. */ readonly postal_code?: string | undefined;
    /** Country of the address. */ readonly country?: string | undefined;
    /** Continent of the address. */ readonly continent?: string | undefined;
    /** Latitude of the address. */ readonly latitude?: number | undefined;
    /** Longitude of the address. */ readonly longitude?: number | undefined;
  } | undefined;
  readonly email?: {
    /** The e-mail address that was sent. */ readonly address?: string | undefined;
    /** The mailbox's main address, without tags and the like. */ readonly normalized?: string | undefined;
    /** True if mail can be sent to the address. */ readonly valid?: boolean | undefined;
    /** Trust score of the service; range not shown. */ readonly trust_score?: number | undefined;
    /** The part after the @. */ readonly domain_name?: string | undefined;
    /** Kind of domain. */ readonly domain_type?: string | undefined;
    /** Oddities, as codes. */ readonly flags?: readonly string[] | undefined;
  } | undefined;
  readonly phone?: {
    /** True if the phone number that was sent can be assigned to a line. */ readonly valid?: boolean | undefined;
    /** Country calling code. */ readonly country_code?: string | undefined;
    /** Name of the country. */ readonly country_name?: string | undefined;
    /** Carrier. */ readonly carrier?: string | undefined;
    /** Kind of line, such as landline. */ readonly line_type?: string | undefined;
  } | undefined;
  readonly session?: {
    /** Time at which the session began. */ readonly started_at?: string | undefined;
    /** Time at which the session ended. */ readonly finished_at?: string | undefined;
  } | undefined;
  /** Bot and access rules that matched. */
  readonly rules?: readonly ({
    /** Action of the rule, such as block. */ readonly action?: string | undefined;
    /** The rule in words. */ readonly name?: string | undefined;
    /** The identifier of the rule. */ readonly id?: string | undefined;
    /** Kind of rule, such as bot or access. */ readonly source?: string | undefined;
    /** True if the match has no effect on the verdict. */ readonly shadow?: boolean | undefined;
  })[] | undefined;
  readonly multi_accounting?: {
    /** True if one person seems to have several accounts. */ readonly detected?: boolean | undefined;
    /** Level of that risk. */ readonly risk?: string | undefined;
    /** That risk as a number. */ readonly score?: number | undefined;
    /** The accounts that seem to belong together. */
    readonly accounts?: readonly ({
      /** The other user identifier. */ readonly user_id?: string | undefined;
      /** Its e-mail address. */ readonly email?: string | undefined;
      /** Traits that the accounts share. */ readonly signals?: readonly string[] | undefined;
      /** Confidence that one person has the accounts. */ readonly confidence?: number | undefined;
      /** Number of sessions it was seen in. */ readonly session_count?: number | undefined;
      /** Time at which it was last seen. */ readonly last_activity?: string | undefined;
    })[] | undefined;
  } | undefined;
}

/** The answer of each operation. */
export interface AnswersByOperation {
  readonly ip: IpData;
  readonly phone: PhoneData;
  readonly email: EmailData;
  readonly verify: VerifyData;
}
