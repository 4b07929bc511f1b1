import type {Check} from '../scene.ts';
import {answersChecks} from './answers.ts';
import {callsChecks} from './calls.ts';
import {cellsChecks} from './cells.ts';
import {sessionChecks} from './session.ts';

/** The numbers of a summary, each from what the service knows and what the rows say: never from the program's own counts. */
export const numberChecks: readonly Check[] = [
  ...cellsChecks,
  ...callsChecks,
  ...answersChecks,
  ...sessionChecks,
];
