import {mkdirSync} from 'node:fs';
import {join} from 'node:path';
import {BulkEnrichError, type ErrorCode, type ExitCode} from '../../src/errors.ts';
import {packageVersion} from '../../src/operations/package-files.ts';
import {KEY, type Service, startService} from '../e2e/service.ts';
import type {ApiServerOptions} from '../support/api-server.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {type HereOptions, type HereOutcome, runHere} from '../support/main.ts';

/** How something ended: the code and message of its error, and its exit code. */
export type End = Pick<HereOutcome, 'errorCode' | 'code' | 'message'>;

/** A directory of its own, and the service that all cases share. */
export type Place = ReturnType<typeof placeIn>;

/** One way to an end. */
export type Way = (place: Place) => Promise<End>;

/** By a stable code and the exit code that comes with it, one way to it. */
export type Cases = Readonly<Partial<Record<`${ErrorCode} ${ExitCode}`, Way>>>;

const LIST = 'ip\n192.0.2.1\n192.0.2.2\n192.0.2.3\n192.0.2.4\n';

/** The run of `list.csv`, without its limits. */
export const RUN = 'run list.csv -o out.csv --ip ip --score none --rate unlimited';

/** A command line, in a directory with these files beside `list.csv`. */
export function by(
  line: string,
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: HereOptions = {},
) {
  return (place: Place): Promise<End> => {
    for (const [name, text] of Object.entries(files)) place.sandbox.write(name, text);
    return place.command(line, options);
  };
}

/** The run of `list.csv`, of which the service says this. */
export function answered(script: ApiServerOptions['script'], more = '', list = LIST) {
  return (place: Place): Promise<End> => {
    place.service.setScript(script);
    place.sandbox.write('list.csv', list);
    return place.command(`${RUN} --no-store ${more}`);
  };
}

/** The same run again, where the last one was interrupted and this was done since. */
export function again(since: (sandbox: Sandbox) => unknown, more = '') {
  return async (place: Place): Promise<End> => {
    await place.halfWay();
    since(place.sandbox);
    return place.command(`${RUN} ${more}`);
  };
}

/** The error that a library caller gets. */
export function thrown(work: (place: Place) => unknown) {
  return async (place: Place): Promise<End> => {
    try {
      await work(place);
    } catch (error) {
      if (error instanceof BulkEnrichError)
        return {errorCode: error.code, code: error.exitCode, message: error.message};
      throw error;
    }
    return {errorCode: undefined, code: 0, message: undefined};
  };
}

/** A file for an account of the service. */
export function accountFile({sandbox, service}: Place, text: string, name = 'a.yaml'): void {
  sandbox.write(`../home/config/bulk-enrich/accounts/${name}`, text.replace('URL', service.url));
}

/** A file of the user's state that can't be used: a directory is in its place. */
export function spoilState({sandbox}: Place, name: string): void {
  mkdirSync(join(sandbox.home, 'state/bulk-enrich', name), {recursive: true});
}

/** The cases' places, which share a service. */
export async function openPlaces() {
  const service = await startService();
  return {
    async at<T>(work: (place: Place) => Promise<T>): Promise<T> {
      using sandbox = createSandbox();
      service.setScript(undefined);
      sandbox.write('list.csv', LIST);
      return await work(placeIn(sandbox, service));
    },
    /** A message without what changes from one machine or run to the next. */
    plain(message: string, {sandbox}: Place): string {
      return [
        [join(sandbox.home, '..'), '/home/jo'],
        [KEY, 'THE KEY'],
        [/(127\.0\.0\.1|localhost):\d+/g, '$1:PORT'],
        [/v\d+\.\d+\.\d+/g, 'vN'],
        [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
        [/process \d+ on \S+,/g, 'process N on HOST,'],
        [packageVersion(), 'VERSION'],
      ].reduce((text, [changing = '', name = '']) => text.replaceAll(changing, String(name)), message);
    },
    close: () => service.close(),
  };
}

function placeIn(sandbox: Sandbox, service: Service) {
  /** Runs a command line, the words of which hold no blanks; `run` tells its end as JSON. */
  const command = (line: string, options: HereOptions = {}): Promise<End> => {
    const words = line.split(' ').filter(word => word !== '');
    const args = words[0] === 'run' ? [...words, '--log', 'json'] : words;
    return runHere(sandbox, args, {...options, env: {...service.env, ...options.env}});
  };
  return {
    ...{sandbox, service, command},
    /** A run that stops at its limit after two of `list.csv`'s rows. */
    async halfWay() {
      const {errorCode, message} = await command(`${RUN} --max-credits 2`);
      if (errorCode !== 'budget') throw new Error(`expected a run that stops at its limit: ${message}`);
    },
  };
}
