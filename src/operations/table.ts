import type {AnswersByOperation} from './answer-types.ts';
import {email} from './email.ts';
import {ip} from './ip.ts';
import {recordOf} from './operation.ts';
import {phone} from './phone.ts';
import {verify} from './verify.ts';

export type {EmailData, IpData, PhoneData, VerifyData} from './answer-types.ts';

export type Operation = keyof AnswersByOperation;

/** The service's operations, in their fixed order. This is the only list of them. */
export const operations = {ip, phone, email, verify} as const satisfies {[Name in Operation]: {name: Name}};

/** The operations that look one value up, without a session token. */
export type Intelligence = Exclude<Operation, 'verify'>;

/** Answer of an operation: its fields in the interface, without the unknown fields that a service may add. */
export type AnswerData<Name extends Operation> = AnswersByOperation[Name];

export const operationNames = Object.keys(operations) as readonly Operation[];
export const intelligenceNames = operationNames.filter(name => name !== 'verify');

export function isOperation(name: string): name is Operation {
  return Object.hasOwn(operations, name);
}

export function isIntelligence(name: string): name is Intelligence {
  return isOperation(name) && name !== 'verify';
}

/** The canonical form of each field of a request that has one, by the field's name. */
export function fieldCanonicalizers(
  name: Operation,
): Readonly<Record<string, (typeof operations)['ip']['canonical']>> {
  const spec = operations[name];
  const beside = 'beside' in spec ? Object.values(spec.beside) : [];
  return Object.fromEntries([
    [spec.field, spec.canonical],
    ...beside.map(({param, canonical}) => [param, canonical] as const),
  ]);
}

export const perOperation = <T>(make: (name: Operation) => T) => recordOf(operationNames, make);
export const perIntelligence = <T>(make: (name: Intelligence) => T) => recordOf(intelligenceNames, make);

/** Joins names: `ip, phone or email`. Intl.ListFormat does that too, but delays every help text by 12 ms. */
const joinWith = (word: string) => (names: readonly string[]) =>
  [names.slice(0, -1).join(', '), names.at(-1)].filter(Boolean).join(word);
export const joinWithOr = joinWith(' or ');
export const joinWithAnd = joinWith(' and ');

export const defaultRejectedAge = '7d';

/** Default maximum ages of stored answers: `ip=1d,phone=90d,email=30d,verify=30d,rejected=7d`. */
export const defaultAges = [
  ...operationNames.map(name => `${name}=${operations[name].storedFor}`),
  `rejected=${defaultRejectedAge}`,
].join() as `${Operation}=${string}`;

/** Default credits of one call: one number if all operations cost the same, else a text such as `ip=1,phone=2`. */
export const defaultCosts = operationNames.every(name => operations[name].cost === operations.ip.cost)
  ? operations.ip.cost
  : operationNames.map(name => `${name}=${operations[name].cost}`).join();

export function operationTitle(name: string): string {
  return isOperation(name) ? operations[name].title : name;
}

/** True if the text is a valid value of the operation, and shows so even without a header. */
export function isValueOfOperation(operation: Intelligence, text: string): boolean {
  const {canonical, isTelling} = operations[operation];
  return isTelling?.(text) !== false && canonical(text).state === 'value';
}

export const isLookupValue = (text: string): boolean =>
  intelligenceNames.some(name => isValueOfOperation(name, text));
