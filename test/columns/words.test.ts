import {expect, test} from 'vitest';
import {tokenize} from '../../src/columns/recognize/vocabulary.ts';
import headers from '../../src/columns/recognize/words.json' with {type: 'json'};
import {parsePhoneCountry} from '../../src/operations/country.ts';
import others from '../../src/operations/words.json' with {type: 'json'};

const groups = new Set([
  ...'ip phone email country behind behindCountry persons visitors homes dialling neutral visits'.split(' '),
  ...'whole another otherDigits cards versions masked totals notes fax particles areaCodes'.split(' '),
]);
const lists = Object.entries(headers).flatMap(([language, words]) =>
  Object.entries(words as Record<string, string>).map(
    ([group, text]) => [language, group, text.split(',').map(phrase => phrase.trim())] as const,
  ),
);

test('each list of words is of a known group, and each phrase in it is one', () => {
  expect(lists.map(([, group]) => group).filter(group => !groups.has(group))).toEqual([]);
  const empty = lists.flatMap(([language, group, phrases]) =>
    phrases.flatMap(phrase => (tokenize(phrase).length === 0 ? [`${language} ${group} ${phrase}`] : [])),
  );
  expect(empty).toEqual([]);
});

test('no word of a kind means another party, or digits that are none', () => {
  const of = (...names: string[]) =>
    new Set(lists.filter(([, group]) => names.includes(group)).flatMap(([, , phrases]) => phrases));
  const kinds = [...of('phone', 'email', 'ip')].map(phrase => phrase.replace('?', ''));
  const harmful = of('another', 'masked', 'versions');
  expect(kinds.filter(phrase => harmful.has(phrase))).toEqual([]);
});

test('placeholders are in small letters, and aliases are of countries', () => {
  const placeholders = others.placeholders.flatMap(texts => texts.split('|'));
  expect(placeholders.filter(text => text !== text.toLowerCase() || text.length >= 20)).toEqual([]);
  const aliases = Object.keys(others.countryAliases);
  expect(aliases.filter(name => parsePhoneCountry(name) === undefined)).toEqual([]);
});
