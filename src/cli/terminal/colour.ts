import {styleText} from 'node:util';
import type {Env} from '../../job/endpoint.ts';
import {markOf} from './printable.ts';

/** Colours a text if its stream shows colours. */
export type Paint = (colour: 'green' | 'yellow' | 'red', text: string) => string;

/**
 * True to show colours. NO_COLOR (no-color.org), if it is set, turns them off. FORCE_COLOR, if it is set, turns
 * them on, or off by `0` or `false`. If neither is set, terminals show colours, except for TERM=dumb.
 */
export function showsColours(isTerminal: boolean, {NO_COLOR, FORCE_COLOR, TERM}: Env): boolean {
  if ((NO_COLOR ?? '') !== '') return false;
  if ((FORCE_COLOR ?? '') !== '') return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  return isTerminal && TERM !== 'dumb';
}

export function painter({isTTY}: {readonly isTTY?: boolean}, env: Env): Paint {
  if (!showsColours(isTTY === true, env)) return (_, text) => text;
  return (colour, text) => {
    const [begin = '', end = ''] = styleText(colour, '\n', {validateStream: false}).split('\n');
    return `${markOf(begin)}${text}${markOf(end)}`;
  };
}
