#!/usr/bin/env node
import {setFlagsFromString} from 'node:v8';
import {exitCodes} from '../errors.ts';
import {main} from './program.ts';
import {outliveReaders} from './streams.ts';

// By default V8 lets garbage grow to four times what is alive; 60,000 values took 224 MB instead of 171. The flag
// belongs
// to the process: a program that uses the library keeps its own.
if (process.argv[2] === 'run') setFlagsFromString('--heap-growing-percent=75');
outliveReaders();
// Arguments may hold addresses, and every user of the machine can read them. So `ps` shows the command's name only.
process.title = ['bulk-enrich', ...process.argv.slice(2, 3).filter(word => /^[a-z]+$/.test(word))].join(' ');
process.exitCode = await main(process.argv);
// A run that a signal ended is over, though a reader of its output may never take what it was given.
if (process.exitCode >= exitCodes.interrupted) setTimeout(() => process.exit(), 1_000).unref();
