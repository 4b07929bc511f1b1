import {accessSync, constants, existsSync, statfsSync, statSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {exitCodes, systemCode} from '../../job/errors.ts';
import {type Check, failed, passed, warning} from './check.ts';

/** Less than this and even a modest list may fill the disk. */
const LITTLE_BYTES = 200 * 2 ** 20;

/** Whether `path` can be written, and how much room there is; nothing is made. */
export function checkPlace(name: string, path: string, needed: boolean): Check {
  const place = existing(resolve(path));
  try {
    if (place !== resolve(path) && !statSync(place).isDirectory()) throw new Error('ENOTDIR');
    accessSync(place, constants.W_OK | (statSync(place).isDirectory() ? constants.X_OK : 0));
    const {bavail, bsize} = statfsSync(place);
    const free = bavail * bsize;
    const room = `${path} can be written; ${Math.floor(free / 2 ** 20).toLocaleString('en-US')} MiB free`;
    return free < LITTLE_BYTES ? warning(name, `${room}, which is little`) : passed(name, room);
  } catch (error) {
    const detail = `${path} can't be written (${systemCode(error)})`;
    return needed
      ? failed(name, detail, exitCodes.output)
      : warning(name, `${detail}; runs go on without it`);
  }
}

/** The path itself, or the nearest folder above it that is there. */
function existing(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : existing(dirname(path));
}
