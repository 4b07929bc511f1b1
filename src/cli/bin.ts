#!/usr/bin/env node
import {main} from './program.ts';
import {outliveReaders} from './streams.ts';

outliveReaders();
process.exitCode = await main(process.argv);
