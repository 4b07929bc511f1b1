import {createHash} from 'node:crypto';
import {copyFileSync, existsSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {sourceFile} from '../../src/operations/package-files.ts';
import {
  files,
  installedVersion,
  type Manifest,
  readDataManifest,
} from '../../src/service/data/packed-data.ts';
import {buildOpenApi} from '../../src/service/pages.ts';
import {licenceTexts} from './licence-texts.ts';
import {LIST, packedSets} from './pack-sets.ts';

// A step of the build, in the directory that it makes. It packs the open data sets into small files, so that users need
// not install the data sets' packages.

const out = sourceFile('service/data');

function versionOf(name: string): string {
  const version = installedVersion(name);
  if (version === undefined) throw new Error(`packing the service's data needs ${name}: run \`npm install\``);
  return version;
}

/** The day of an IP data set, from the last part of its version: 2.3.2026061719 is of 2026-06-17. */
const dayInVersion = (version: string): string | undefined =>
  /(\d{4})(\d{2})(\d{2})\d{2}$/.exec(version)?.slice(1).join('-');

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of [fileURLToPath(import.meta.url), LIST]) hash.update(readFileSync(file));
  for (const {name} of packedSets) hash.update(`${name}@${versionOf(name)}\n`);
  return hash.digest('hex');
}

function isUpToDate(directory: string, current: string): boolean {
  if (!Object.values(files).every(file => existsSync(join(directory, file)))) return false;
  return readDataManifest(directory).fingerprint === current;
}

/** Writes a file under another name and renames it, so that an interrupted build leaves no half file. */
function writeWhole(path: string, content: Buffer | string): void {
  writeFileSync(`${path}.${process.pid}`, content);
  renameSync(`${path}.${process.pid}`, path);
}

function pack(current: string): void {
  const manifest: Manifest = {
    fingerprint: current,
    dataSets: packedSets.map(({pack: packOne, file, ...about}) => {
      const version = versionOf(about.name);
      const packed = packOne();
      writeWhole(join(out, file), gzipSync(packed.file, {level: 9}));
      const day = packed.date ?? dayInVersion(version);
      return {...about, version, entries: packed.entries, ...(day !== undefined && {date: day})};
    }),
  };
  const names = [...new Set(packedSets.map(({name}) => name))];
  const licences = names.flatMap(name => textsOf(name).map(text => `${name}\n\n${text}\n`));
  writeWhole(join(out, files.licences), licences.join(`\n${'-'.repeat(80)}\n\n`));
  writeWhole(join(out, files.manifest), JSON.stringify(manifest, null, 2));
}

/** A package's licence texts. A package without any has Google's libphonenumber data, so gets Google's licence. */
function textsOf(name: string): string[] {
  const own = licenceTexts(name);
  return own.length > 0 ? own : licenceTexts('libphonenumber-js', /apache/i);
}

/**
 * The previous build's directory. Its files are copied if their fingerprint is current, else packed again.
 */
const [, , before = ''] = process.argv;
const current = fingerprint();
if (!isUpToDate(before, current)) pack(current);
else for (const file of Object.values(files)) copyFileSync(join(before, file), join(out, file));
writeWhole(join(out, '../openapi.json'), `${JSON.stringify(buildOpenApi(), null, 2)}\n`);
