#!/usr/bin/env node
import {keepCompiledCode} from './code-cache.ts';
import {keepHeapSmall} from './heap.ts';

if (process.argv[2] === 'run') keepHeapSmall();
keepCompiledCode(process.env);
const {begin} = await import('./begin.ts');
await begin();
