import {z} from 'zod';
import {isInternationalCountry, listCountryNames, parsePhoneCountry} from '../../operations/country.ts';
import {operations, perIntelligence} from '../../operations/table.ts';
import {perVerifyInput, verifyInputNames} from '../../operations/verify.ts';
import {closestName} from '../../sentence.ts';
import {
  columnChoices,
  declareGroup,
  parsePairs,
  strictShape,
  textList,
  withConversion,
} from '../setting-types.ts';

const serviceSetting = declareGroup('Service');
const columnsSetting = declareGroup('Columns');

const ENDPOINT = 'expected embedded, live, or a base URL such as https://api.example.com';

const KEYS = ['token=COL', 'action=ID', ...verifyInputNames.map(name => `${name}=COL`)].join();
const VERDICT = `expected the column of session tokens, or ${KEYS}`;

/** The column of session tokens, the action identifier, and the columns whose values are sent with a token. */
const named = strictShape({
  token: z.string(),
  action: z.string().optional(),
  ...perVerifyInput(() => z.string().optional()),
});

/** `COL`, `token=COL,action=ID,id=COL,email=COL,phone=COL`, or a map in a job file. */
const verdict = withConversion(z.union([z.string(), named], {error: VERDICT}), VERDICT, given =>
  typeof given === 'object' ? given : named.safeParse(Object.fromEntries(parsePairs(given, 'token'))).data,
);

const entryChoice = z.enum(['first', 'last', 'only']).optional();

export const lookupSettings = {
  endpoint: serviceSetting(
    z.union([z.enum(['embedded', 'live']), z.url({error: ENDPOINT})], {error: ENDPOINT}).optional(),
    {
      value: 'NAME|URL',
      description: 'The service: embedded; live (at BULK_ENRICH_BASE_URL); or a base URL.',
      defaultText: 'from the environment',
      uses: ['run', 'library', 'lookup', 'verify', 'worker', 'doctor'],
    },
  ),

  ...perIntelligence(name =>
    columnsSetting(columnChoices.optional(), {
      value: 'COL[=PREFIX]',
      repeatable: true,
      description: `${operations[name].about} PREFIX begins its new columns.`,
    }),
  ),
  verdict: columnsSetting(verdict.optional(), {
    value: 'COL',
    description: operations.verify.about,
  }),
  country: columnsSetting(textList().optional(), {
    value: 'COL',
    repeatable: true,
    description:
      'Column with the country of national phone numbers. Of several, each phone column uses its own: shipping_phone uses shipping_country.',
  }),
  defaultCountry: columnsSetting(
    z
      .string()
      .refine(text => isInternationalCountry(text) || parsePhoneCountry(text) !== undefined, {
        error: ({input}) => `expected a country, by ${suggestCountry(String(input))}`,
      })
      .transform(text => (text.length === 2 ? text.toUpperCase() : text))
      .optional(),
    {
      value: 'CC',
      description:
        'Country of national phone numbers without one, as code or name; + if numbers only lack their plus.',
      uses: ['run', 'library', 'lookup', 'verify'],
    },
  ),
  fromList: columnsSetting(entryChoice, {
    value: 'WHICH',
    description: 'Which value of a cell with several to use: first, last, or only (if all are the same).',
    defaultText: 'such cells are invalid',
  }),
  ipFromList: columnsSetting(entryChoice, {
    value: 'WHICH',
    description: 'The same as from_list, for IP addresses alone.',
    isUnlisted: true,
  }),
  empty: columnsSetting(textList().optional(), {
    value: 'TEXT',
    repeatable: true,
    description: 'Treat cells with just this text as empty, as n/a and unknown are anyway.',
  }),
  fields: columnsSetting(textList(',').optional(), {
    value: 'FIELDS',
    repeatable: true,
    description: 'Write only these answer fields, such as ip.country,email.trust_score.',
  }),
  header: columnsSetting(z.boolean().default(true), {
    negated: true,
    description: 'Read the first row as data; columns are column_1, column_2, …',
    uses: ['run', 'reading'],
  }),
};

/** End of a message about a text that is not a country: the accepted forms, and the nearest name. */
export function suggestCountry(given: string): string {
  const near = closestName(given, listCountryNames());
  return `name or code such as DE${near === undefined ? '' : ` (is "${near}" meant?)`}`;
}
