import {statfsSync} from 'node:fs';
import {checkWritable, existingPart} from '../../disk/directory.ts';
import {exitCodes, systemReason} from '../../errors.ts';
import {type Check, failed, passed, warning} from './check.ts';

/** With less free space, even a modest list may fill the disk. */
const LITTLE_BYTES = 200 * 2 ** 20;

/** Checks that `path` can be written, and its free space. Makes nothing. */
export function checkPath(name: string, path: string, needed: boolean): Check {
  try {
    checkWritable(path);
    const {bavail, bsize} = statfsSync(existingPart(path));
    const free = bavail * bsize;
    const room = `${path} can be written; ${Math.floor(free / 2 ** 20).toLocaleString('en-US')} MiB free`;
    return free < LITTLE_BYTES ? warning(name, `${room}, which is little`) : passed(name, room);
  } catch (error) {
    const detail = `${path} can't be written (${systemReason(error)})`;
    return needed ? failed(name, detail, exitCodes.output) : warning(name, `${detail}; runs work without it`);
  }
}
