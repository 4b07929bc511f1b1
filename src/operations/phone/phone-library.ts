import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);

/** The library of phone numbers. With its metadata, loading takes as long as Node's own start: the first number does it. */
export const phoneLibrary = (): typeof import('libphonenumber-js/max') => require('libphonenumber-js/max');
