import {type TopKind, topKinds} from '../../operations/operation.ts';
import {countryName} from '../display-names.ts';
import type {RankingBlock, Section} from '../model.ts';
import type {Summary, TopNames} from '../summary.ts';

const captions: Readonly<Record<TopKind, readonly [caption: string, what: string]>> = {
  countries: ['Countries of IP addresses', 'Country'],
  networks: ['Networks', 'Network'],
  domains: ['E-mail domains with five rows or more', 'Domain'],
  phone_countries: ['Countries of phone numbers', 'Country'],
};

/** Counts of the values' countries, networks and domains, which identify no person. */
export function originsSection({top}: Summary): Section | undefined {
  const blocks = topKinds.flatMap(kind => ranking(top[kind], ...captions[kind]));
  return blocks.length === 0
    ? undefined
    : {title: 'Where they come from', note: 'The ten most common of each, by rows.', blocks};
}

function ranking(facts: TopNames | undefined, caption: string, what: string): RankingBlock[] {
  if (facts === undefined || facts.names.length === 0) return [];
  const named = what === 'Country' ? countryName : (name: string) => name;
  return [
    {
      kind: 'ranking',
      caption: facts.missed_at_most === 0 ? caption : `${caption} (counts are at least these)`,
      what,
      of: facts.counted,
      rows: facts.names.map(({name, count}) => ({name: named(name), count})),
    },
  ];
}
