// A plain copy of a CSV file, by csv-parse and csv-stringify: node copy.mjs FROM TO
import {createReadStream, createWriteStream} from 'node:fs';
import {pipeline} from 'node:stream/promises';
import {parse} from 'csv-parse';
import {stringify} from 'csv-stringify';

const [, , from, to] = process.argv;
await pipeline(createReadStream(from), parse(), stringify(), createWriteStream(to));
