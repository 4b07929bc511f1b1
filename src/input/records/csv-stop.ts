import {CsvError} from 'csv-parse/sync';

/** Why parsing stopped: the header is known now, or the record that starts there can't be read. */
export type Stop = 'layout' | 'open' | 'bad_quote' | 'too_long';

export class StopParsing extends Error {
  readonly stop: Stop;
  constructor(stop: Stop) {
    super(stop);
    this.stop = stop;
  }
}

export function stopOf(error: unknown): Stop {
  if (error instanceof StopParsing) return error.stop;
  if (error instanceof CsvError) return error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'open' : 'bad_quote';
  throw error;
}
