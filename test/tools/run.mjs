// node test/tools/run.mjs PROGRAM ARGUMENT…: runs a program that only the checks of the sources need.
import {spawnSync} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import './install.mjs';

const [name = '', ...args] = process.argv.slice(2);
const program = fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url));
const {status, error} = spawnSync(process.execPath, [program, ...args], {stdio: 'inherit'});
if (error !== undefined) throw error;
process.exitCode = status ?? 1;
