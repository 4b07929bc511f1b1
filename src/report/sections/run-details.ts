import {bytes, many, moment} from '../format.ts';
import type {Section} from '../model.ts';
import type {Summary} from '../summary.ts';

/** Details of the run, which a user can quote in a question about it. */
export function runSection(summary: Summary): Section {
  const {endpoint, input, output, resumed} = summary;
  const details = [
    ['Run', summary.run_id],
    ['Started', moment(summary.started_at)],
    ['Finished', moment(summary.finished_at)],
    ['Service', endpoint.base_url === null ? endpoint.kind : `${endpoint.kind}, ${endpoint.base_url}`],
    ['Input', input.paths.join(', ') + (input.bytes === null ? '' : ` (${bytes(input.bytes)})`)],
    ...(input.sha256 === null ? [] : [['SHA-256 of the input', input.sha256]]),
    ['Output', output.bytes === null ? output.path : `${output.path} (${bytes(output.bytes)})`],
    ...(output.sha256 === null ? [] : [['SHA-256 of the output', output.sha256]]),
    ...(resumed.times === 0 ? [] : [['Resumed', many(resumed.times, 'time')]]),
  ];
  return {
    title: 'This run',
    blocks: [{kind: 'table', caption: 'Details', head: ['What', 'value'], texts: [1], rows: details}],
  };
}
