import {randomBytes} from 'node:crypto';
import type {AddressInfo} from 'node:net';
import {type AnswerData, type Intelligence, operations, perIntelligence} from '../operations/table.ts';
import {Credits, type ServiceLedger} from './credits.ts';
import {loadOpenData, type OpenData} from './data/open-data.ts';
import {createPractice, Throttle} from './http/practice.ts';
import {type Body, checkBody, createKeyCheck, type ServiceCall} from './http/request.ts';
import {createRouter, type RouterParts} from './http/router.ts';
import {closeServer, listenOn, makeServer} from './http/server.ts';
import {emailIntelligence} from './intelligence/email.ts';
import {ipIntelligence} from './intelligence/ip.ts';
import {phoneIntelligence} from './intelligence/phone.ts';
import {answersUrlPath, checkServiceOptions, createGivenAnswers, type ServiceOptions} from './options.ts';
import {describeSources} from './pages.ts';
import {Verdicts} from './verdict/verdicts.ts';

export type {ServiceLedger} from './credits.ts';
export type {ServiceOptions} from './options.ts';
export {readGivenAnswers, ServiceSetupError} from './options.ts';
export {describeLeftOutFields} from './pages.ts';

/** A running service. */
export interface Service {
  /** The service's base URL, without a slash at the end. */
  url: string;
  apiKey: string;
  /** The calls and their cost, as `GET /_ledger` answers. */
  ledger(): ServiceLedger;
  /** Stops the service: open connections are cut. */
  close(): Promise<void>;
}

/** Resolves once the service accepts calls. @throws ServiceSetupError if an option or a file is invalid */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  checkServiceOptions(options);
  const {port = 0, host = '127.0.0.1', apiKey = randomBytes(24).toString('base64url')} = options;
  const path = answersUrlPath(options.answers);
  const parts = makeParts(options, apiKey);
  const answer = createRouter(parts, {base: path, host, withPages: options.pages});
  const server = makeServer(answer, options);
  await listenOn(server, port, host);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}${path}`,
    apiKey,
    ledger: () => parts.credits.ledger(),
    close: () => closeServer(server),
  };
}

function makeParts(options: ServiceOptions, apiKey: string): RouterParts {
  const data = loadOpenData();
  const given = options.answers === undefined ? () => undefined : createGivenAnswers(options.answers);
  const credits = new Credits(options);
  const verdicts = new Verdicts(data, options);
  return {
    assertKey: createKeyCheck(apiKey),
    credits,
    practice: createPractice(options),
    throttle: options.rateLimit === undefined ? undefined : new Throttle(options.rateLimit),
    calls: {
      ...perIntelligence(name => lookup(name, data, given)),
      verify: body => verdicts.call(body),
    },
    addSessions: body => verdicts.addSessions(body),
    sources: () => describeSources(data),
    log: options.log ?? (() => {}),
  };
}

const answers: {readonly [Name in Intelligence]: (data: OpenData, value: string) => AnswerData<Name>} = {
  ip: ipIntelligence,
  phone: phoneIntelligence,
  email: emailIntelligence,
};

/** Returns a function that checks a body and returns its call. */
function lookup(
  name: Intelligence,
  data: OpenData,
  given: ReturnType<typeof createGivenAnswers>,
): (body: Body) => ServiceCall {
  const {request, keyText} = operations[name];
  return body => {
    const value = keyText(checkBody<Record<string, string>>(request, body));
    const answer = () => ({...answers[name](data, value), ...given(name, value)});
    return {free: false, answer: () => ({success: true, data: answer()})};
  };
}
