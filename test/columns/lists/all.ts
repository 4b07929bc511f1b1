import {addresses} from './addresses.ts';
import {columns} from './columns.ts';
import {countries} from './countries.ts';
import {encodings} from './encodings.ts';
import {programs} from './exports.ts';
import {files} from './files.ts';
import {firstContact} from './first-contact.ts';
import {known} from './known.ts';
import {newUsers} from './new-users.ts';
import {numbers} from './numbers.ts';
import {parties} from './parties.ts';
import {several} from './several.ts';
import {situations} from './situation.ts';
import {strangers} from './strangers.ts';
import {usual} from './usual.ts';

/** The lists of the table, all of them made up, with the plan of a run for each. */
export const lists = [
  ...[known, files, encodings, columns, countries, numbers, addresses, programs],
  ...[firstContact, parties, strangers, newUsers, usual, several],
].flatMap(situations);
