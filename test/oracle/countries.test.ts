import {describe, expect, test} from 'vitest';
import {parsePhoneCountry} from '../../src/operations/country.ts';
import {look, situations} from '../columns/lists/situation.ts';
import {newDirectory} from '../support/new-directory.ts';

const within = newDirectory();

/** What a run makes of a list: the part of its plan behind the columns. */
async function played(list: string) {
  const [situation] = situations(`x ▸ ${list}`);
  if (situation === undefined) throw new Error('no list');
  const {becomes, said} = await look(within(String(Math.random())), situation);
  return {becomes, said};
}

const some = (text: string) => text.split(/[|\n]/).map(part => part.trim());

/** Words of a person, an address, the number and containers, in twenty languages. */
const own =
  some(`country | billing_country | Country/Region | Shipping Country | mailingCountry | home_country | Residence Country | Country of residence
  user_country | customer.country | lead_country_code | Guest Country | applicant_country | subscriber_country | student country | owner_country | member_country
  Tel Country | Mobile Country | properties.country | attributes.country_code | traits.country | default_address.country | data.country | Other Country | contact.address.country | What is your country?
  Land | Rechnungsland | Lieferland | Land (privat) | Wohnsitzland | Land des Wohnsitzes | Ländercode | Kundenland | Pays | Pays de livraison | Pays de résidence | Pays du client | Code pays
  País | país | País de residencia | País de facturación | País de entrega | País do cliente | Paese di residenza | Nazione di spedizione | Paese del cliente | Factuurland | Land van verblijf | Faktureringsland
  Kraj | Kraj zamieszkania | Kraj dostawy | Země | Země bydliště | Страна | Страна проживания | Страна доставки | Країна | Ülke | Fatura ülkesi | Ország | Țara de domiciliu | Χώρα κατοικίας
  国家 | 国家/地区 | 居住国 | 收货国家 | お客様の国 | 국가 | 거주 국가 | الدولة | בל‎ מדינה | کشور | Negara | Quốc gia | ประเทศ`).map(
    header => header.replace('בל‎ ', ''),
  );
/** Words of a visit, a thing or anybody else. */
const others =
  some(`mp_country_code | login_country | signup_country | visitor_country | session_country | Event country | company_country | Travel Country | device_country | last_active_country
  market_country | $country | properties.$country_code | ga:country | ip_country | GeoIP Country | Country of birth | card_country | cc_country | issuing bank country | Country of signup | registration_country
  Destination Country | Departure Country | Store Country | Warehouse country | Merchant Country | Passport Country | Citizenship country | Tax Country | Server Country | Origin Country | browser_country | Last Login Country | order_country
  current_country | Country of last visit | partner_country | Sales Country | Employer Country | Campaign Country | Country of incorporation | Preferred country | target_country | Kampagnenland | Geburtsland | Herkunftsland | Land der Anmeldung
  Reiseland | Firmenland | Pays de naissance | Pays de connexion | Pays de l'entreprise | País de origen | País de registro | País de nascimento | Paese di nascita | Paese di accesso | Geboorteland | Kraj urodzenia | Kraj logowania
  Страна рождения | Страна входа | Страна компании | Doğum ülkesi | Giriş ülkesi | 出身国 | 出生国家 | 登录国家 | 접속 국가`);

describe('the country beside a number, by its header', () => {
  test.each(own)('%s is that of the number', async header => {
    const {becomes} = await played(`Tel,"${header}" ⏎ 3× 030 2312500{n},DE`);
    expect(becomes).toBe(`phone=Tel country=${header} → +493023125000 +493023125001 +493023125002`);
  });

  test.each(others)(
    '%s may be another: nothing is bought with it, and the flag for it is told',
    async header => {
      const {becomes, said} = await played(`Tel,"${header}" ⏎ 3× 212555014{n},DE`);
      expect(becomes).toBe('column_unsure --default-country COUNTRY');
      expect(said).toContain(`By its name, "${header}" may have other countries`);
      const mixed = await played(`Tel,"${header}" ⏎ 3× +1212555014{n},DE ⏎ 2125550149,DE`);
      expect(mixed.becomes).toContain('+12125550142 | 1×country_unknown');
      expect(mixed.said).toContain(`By its name, "${header}" may have other countries`);
    },
  );
});

/** Headers of calling codes, in fifteen languages. */
const dialling =
  some(`dial_code | dialCode | phone_code | ISD | ISD Code | calling_code | phone_prefix | Dialing Code | Country calling code | Mobile code | intl_prefix | DDI | Código DDI
  Landesvorwahl | Ländervorwahl | Indicatif | Indicatif pays | Prefijo internacional | Prefijo | Indicativo | Prefisso internazionale | Landnummer | Kierunkowy | Předvolba | Predvoľba | Pozivni broj | Előhívószám
  Телефонный код | Arama kodu | Landenummer | 国番号 | 国际区号 | 국가번호 | مفتاح الدولة | קידומת מדינה`);
const rows: readonly (readonly [code: string, number: string, value: string])[] = [
  ['49', '15123456701', '+4915123456701'],
  ['44', '07700 900111', '+447700900111'],
  ['1', '(212) 555-0143', '+12125550143'],
  ['33', '612345674', '+33612345674'],
  ['91', '9876543210', '+919876543210'],
  ['49', '4915123456702', '+4915123456702'],
  ['44', '+1 212 555 0144', '+12125550144'],
];
const values = rows.map(([, , value]) => value).sort();

describe('a calling code beside a number', () => {
  const listOf = (header: string, write: (code: string) => string, flags = '') =>
    `${flags} id,${header},mobile ⏎ ${rows.map(([code, number], n) => `${n},${write(code)},${number}`).join(' ⏎ ')}`;
  const writings = {
    plain: (code: string) => code,
    plus: (code: string) => `+${code}`,
    '.0': (code: string) => `${code}.0`,
    '00': (code: string) => `00${code}`,
  };

  test.each([...dialling, 'Country Code', 'Ülke kodu', 'Code pays', 'Код страны', 'Vorwahl'])(
    '%s',
    async header => {
      for (const write of Object.values(writings))
        for (const flags of ['', '[--default-country DE]', '[--default-country +]']) {
          const {becomes, said} = await played(listOf(header, write, flags));
          expect(becomes, said).toContain(`phone=mobile country=${header} →`);
          expect(becomes, said).toContain(`… ${values.length}`);
          expect(becomes, said).not.toMatch(/\d×[a-z]/);
        }
    },
  );

  test('a row without its code has the country of the row, and only then the default one', async () => {
    const list = 'dial_code,mobile,country ⏎ 49,15123456701,DE ⏎ ,0664 1234567,AT ⏎ ,2125550143,';
    expect((await played(`[--default-country US] ${list}`)).becomes).toContain(
      '→ +4915123456701 +436641234567 +12125550143',
    );
  });

  test("ISO's numbers, area codes and numbers without a meaning are no calling codes", async () => {
    for (const [header, code, number] of [
      ['Country Code', '40', '0664 123456'],
      ['Country Code', '36', '0412 345 67'],
      ['country_code', '276', '0151 2345670'],
      ['Vorwahl', '40', '6696974'],
      ['Prefix', '212', '555-014'],
    ]) {
      const {becomes, said} = await played(`${header},phone ⏎ 6× ${code},${number}{n}`);
      expect(becomes.replace(/[^→]*$/, ''), said).toBe('');
    }
  });

  test('each column of numbers has the code next to it', async () => {
    const left = 'home_dial_code,home_phone,mobile_code,mobile ⏎ 49,030 23125001,33,0612345674';
    const right = 'home_phone,home_dial_code,mobile,mobile_code ⏎ 030 23125001,49,0612345674,33';
    for (const list of [left, right])
      expect((await played(list)).becomes).toContain('→ +493023125001 +33612345674');
  });
});

/** Names of ISO 3166, the UN, the World Bank and survey tools, and what people make of them. */
const names = {
  GB: 'United Kingdom of Great Britain and Northern Ireland (the)|United Kingdom of Great Britain and Northern Ireland|United Kingdom (UK)|U.K.|Great Britain|Britain|en-GB|Northern Ireland',
  US: 'United States (US)|United States of America (the)|US (United States)|USA - California|Georgia, USA|en_US|USA (+1)|+1 USA',
  NL: 'Netherlands (the)|The Netherlands|Netherlands, The|Kingdom of the Netherlands|Koninkrijk der Nederlanden',
  DE: 'Germany (DE)|DE (Germany)|Germany (+49)|+49 Germany|+49 (Germany)|BRD|Bundesrepublik Deutschland|Federal Republic of Germany|Germany - Berlin|Berlin, Germany|de-DE|de_DE.UTF-8|République fédérale du Allemagne',
  IR: 'Iran (Islamic Republic of)|Iran, Islamic Republic of|Islamic Republic of Iran|Iran (the Islamic Republic of)|Iran, Islamic Rep.',
  KR: 'Korea (the Republic of)|Korea, South|South Korea|Korea, Republic of|Republic of Korea|Korea, Rep.|ROK',
  KP: "Korea (the Democratic People's Republic of)|Korea, North|DPRK|Korea (Democratic People's Republic of)",
  CN: "PRC|People's Republic of China|China, People's Republic of|Volksrepublik China|zh-Hans-CN",
  TW: 'Taiwan (Province of China)|Taiwan, Province of China|Republic of China|ROC|zh-Hant-TW',
  CD: 'Congo (the Democratic Republic of the)|Congo, Democratic Republic of the|DR Congo',
  CG: 'Republic of the Congo',
  BO: 'Bolivia (Plurinational State of)|Plurinational State of Bolivia|Estado Plurinacional de Bolivia',
  BR: 'República Federativa do Brasil|Federative Republic of Brazil|pt_BR.UTF-8',
  FK: 'Falkland Islands (the) [Malvinas]|Falkland Islands (Malvinas)',
  GW: 'Guinea-Bissau|Guinea (Bissau)',
  AS: 'American Samoa|Samoa (American)',
  BE: 'Royaume de Belgique|Königreich Belgien|Kingdom of Belgium',
  KN: 'St. Kitts and Nevis|Saint Kitts & Nevis',
  LA: 'Lao PDR',
  HK: 'Hong Kong SAR, China|China, Hong Kong Special Administrative Region|Hong Kong SAR',
  none: 'Congo|Korea|Virgin Islands|Republic|The|States|Utopia|New York|Germany (+43)|Germany, France|DE-BE|Bavaria',
};

test.each(Object.entries(names))('names of %s', (code, all) => {
  const read = all
    .split('|')
    .map(name => [name, ...Object.values(parsePhoneCountry(name) ?? {}), ''][1] || 'none');
  expect(read).toEqual(all.split('|').map(() => code));
});
