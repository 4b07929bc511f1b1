#!/usr/bin/env node
import '../client/threads/heap.ts';
import {main} from './program.ts';
import {outliveReaders} from './streams.ts';

outliveReaders();
// Arguments may be somebody's address, and every user of the machine can read them: `ps` shows the command alone.
process.title = ['bulk-enrich', ...process.argv.slice(2, 3).filter(word => /^[a-z]+$/.test(word))].join(' ');
process.exitCode = await main(process.argv);
