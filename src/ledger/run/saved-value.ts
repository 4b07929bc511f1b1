import {crc32} from 'node:zlib';
import {StateError} from '../../errors.ts';
import {say, set} from '../../sentence.ts';

/** Writes a value as a line of JSON, then a line with its checksum, which shows a changed digit. */
export function toSaved(value: unknown): string {
  const json = JSON.stringify(value);
  return `${json}\n${crc32(json)}`;
}

/**
 * Reads a text that {@link toSaved} wrote.
 *
 * @throws {StateError} `state_damaged` if the text is damaged.
 */
export function saved<T>(text: unknown): T {
  const [json = '', checksum] = String(text).split('\n');
  if (checksum !== String(crc32(json))) throw damaged(new Error('a saved value has another checksum'));
  try {
    return JSON.parse(json) as T;
  } catch (error) {
    throw damaged(error);
  }
}

export function damaged(cause: unknown): StateError {
  return new StateError(
    'state_damaged',
    say`The run's saved state is damaged. Start over with ${set('restart', true)}; answers already in the answer store are not paid for again.`,
    {cause},
  );
}
