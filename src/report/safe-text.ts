import type {Summary} from './summary.ts';

/** Characters that steer a terminal: C0, C1 and DEL, except tab and line feed, and marks of writing direction. */
const CONTROL = /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text without control characters: reports are read in terminals and CI logs too. */
export function withoutControls(text: string): string {
  return text.replace(CONTROL, '');
}

/** Escapes all in a JSON text that steers a terminal or a CI log. `JSON.stringify` only escapes C0. */
export function safeJson(json: string): string {
  return json
    .replace(CONTROL, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/##(?=\[|vso\[)/g, '#\\u0023');
}

/** The text of the summary's file: indented, but with short lists on one line. */
export function summaryText(summary: Summary): string {
  const indented = safeJson(JSON.stringify(summary, null, 2));
  return `${indented.replace(/\[\n[^[\]{}]*\]/g, list => list.replace(/\n\s*/g, ' ').replace('[ ', '[').replace(/ \]$/, ']'))}\n`;
}
