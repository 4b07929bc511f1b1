import {expect, test} from 'vitest';
import {refuseUnsureColumns} from '../../src/columns/guess-messages.ts';
import {ndjsonRow} from '../lookup/rows.ts';

const wrapped = ndjsonRow('{"total":2,"rows":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}]}');
const demand = (path: string, ...rows: (typeof wrapped)[]) =>
  refuseUnsureColumns([], {columns: ['total', 'rows'], rows, header: undefined}, undefined, path);

test('the rows within one JSON object are found, and the command that takes them out is offered', () => {
  const remedy = expect.objectContaining({pipe: {command: "jq -c '.rows[]'", input: 'list.json'}});
  const refused = {code: 'no_columns', message: expect.stringContaining('"rows"'), remedy};
  expect(() => demand('list.json', wrapped)).toThrow(expect.objectContaining(refused));
});

test.each([
  ['-', [wrapped]],
  ['list.json', [wrapped, wrapped]],
])('no command is offered that can’t help: %s', (path, rows) => {
  expect(() => demand(path, ...rows)).toThrow(expect.objectContaining({code: 'no_columns', remedy: {}}));
});
