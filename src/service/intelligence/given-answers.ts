import {hash} from 'node:crypto';
import {z} from 'zod';
import {type AnswerData, type Intelligence, operations, perIntelligence} from '../../operations/table.ts';
import {checkWithSchema, readServiceYaml, ServiceSetupError} from '../setup-error.ts';

/** Answer fields that the user sets, by operation and value. All other fields of an answer come from open data. */
export type GivenAnswers = {
  readonly [Name in Intelligence]?: Readonly<Record<string, AnswerData<Name>>>;
};

const schema = z.strictObject(
  perIntelligence(name => z.record(z.string(), operations[name].data).optional()),
);

/** @throws {ServiceSetupError} if the file can't be read. Its content is checked when the service starts. */
export function readGivenAnswers(path: string): GivenAnswers {
  return readServiceYaml('answers', path) as GivenAnswers;
}

/**
 * Returns a function that finds the fields that the user set for a value, whatever the value's spelling.
 *
 * @throws {ServiceSetupError} for an unknown operation, an invalid value, or a field of a wrong type.
 */
export function createGivenAnswers(
  given: GivenAnswers,
): (name: Intelligence, value: string) => object | undefined {
  checkWithSchema(schema, given, 'answers', 'the whole');
  const byValue = perIntelligence(
    name => new Map(Object.entries(given[name] ?? {}).map(([text, data]) => [canonicalOf(name, text), data])),
  );
  return (name, value) => {
    const canonical = operations[name].canonical(value);
    return byValue[name].get(canonical.state === 'value' ? canonical.value : value);
  };
}

function canonicalOf(name: Intelligence, text: string): string {
  const canonical = operations[name].canonical(text);
  if (canonical.state === 'value') return canonical.value;
  throw new ServiceSetupError(
    `answers: "${text}" is not a valid ${operations[name].singular}${name === 'phone' ? ', such as +442079460018' : ''}`,
  );
}

/**
 * The path of the service's URL. Each set of given answers has its own path: clients store answers by URL,
 * and must not take one set's answers for another's.
 */
export function answersPath(given: GivenAnswers | undefined): string {
  return given === undefined ? '' : `/answers-${hash('sha256', JSON.stringify(given)).slice(0, 12)}`;
}
