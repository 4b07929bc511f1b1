// Puts the declarations that a program needs of a module into one file. tsc writes a file for each module of src, and most
// of those declare what nobody may import. Packages that join declarations use TypeScript's own API, which version 7 does
// not have. So this reads what tsc writes: each statement begins at the start of a line. Consumers are compiled in tests.
import {readFileSync} from 'node:fs';
import {posix} from 'node:path';

const codes = JSON.parse(readFileSync('src/codes.json', 'utf8'));
const union = names => names.map(name => `'${name}'`).join(' | ');

/** The start of a statement, or of the comment before it. */
const START =
  /^(?=\/\*\*|(?<!\*\/\n)(?:export|import|declare|interface|type|abstract|class|const|function)\b)/m;
const COMMENT = /^\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n/;
const NAMED = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|type|class|const|function) ([\w$]+)/;
const LIST = /^(?:import|export) (?:type )?\{([^}]*)\}(?: from ['"]([^'"]+)['"])?;/;

/**
 * @param directory what tsc wrote
 * @param entry the module, as `index` of src/index.ts
 * @returns the text of its declarations, which imports nothing but of Node.js
 */
export function declarationsOf(directory, entry) {
  const modules = new Map();
  const taken = new Map();
  const imports = new Set();

  function moduleAt(path) {
    const known = modules.get(path);
    if (known !== undefined) return known;
    const found = {declared: new Map(), from: new Map(), path};
    modules.set(path, found);
    for (const part of readFileSync(posix.join(directory, `${path}.d.ts`), 'utf8').split(START)) {
      const statement = part.replace(COMMENT, '');
      const [, name] = NAMED.exec(statement) ?? [];
      // A function may have several declarations.
      if (name !== undefined) found.declared.set(name, (found.declared.get(name) ?? '') + part);
      const [, names, source] = LIST.exec(statement) ?? [];
      for (const listed of names?.split(',') ?? []) {
        const [given, own = given] = listed
          .replace(/\btype\b/, '')
          .trim()
          .split(/ as /);
        if (source !== undefined && given !== '') found.from.set(own, {given, source});
      }
    }
    return found;
  }

  /** Takes the declaration that a module knows by this name, with all that it names. */
  function take(module, name, isExported) {
    const {given, source} = module.from.get(name) ?? {};
    if (source?.startsWith('node:')) {
      imports.add(`import type {${given === name ? name : `${given} as ${name}`}} from '${source}';\n`);
      return;
    }
    if (source !== undefined && !source.startsWith('.'))
      throw new Error(`${module.path}: ${name} comes from ${source}`);
    if (source !== undefined) {
      if (given !== name) throw new Error(`${module.path}: ${given} has two names`);
      const path = posix.join(posix.dirname(module.path), source.replace(/\.[jt]s$/, ''));
      take(moduleAt(path), name, isExported);
      return;
    }
    const text = module.declared.get(name);
    if (text === undefined) return;
    const before = taken.get(name);
    if (before !== undefined && before.module !== module)
      throw new Error(`${name} is declared in ${before.module.path} and ${module.path}`);
    taken.set(name, {module, text, isExported: isExported || before?.isExported === true});
    if (before !== undefined) return;
    const code = text.replace(/\/\*[\s\S]*?\*\/|'[^'\n]*'|"[^"\n]*"/g, '');
    if (/\bimport\(/.test(text)) throw new Error(`${module.path}: ${name} has a type without a name`);
    for (const [, used] of code.matchAll(/(?<![.\w$])([A-Za-z_$][\w$]*)(?!\??:)\b/g))
      take(module, used, false);
  }

  const root = moduleAt(entry);
  for (const name of root.from.keys()) take(root, name, true);
  // A constant of which only the names of its fields are used: its texts are for pages.
  const all = [...taken.values()].map(({text}) => text).join('\n');
  const namesIn = (given, name) => {
    const {text, isExported} = taken.get(name);
    if (isExported || new RegExp(`(?<!keyof )typeof ${name}\\b`).test(all)) return given;
    taken.set(name, {text: '', isExported});
    return union([...text.matchAll(/^ {4}readonly (\w+):/gm)].map(([, field]) => field));
  };
  for (const [name, {text, isExported}] of taken)
    taken.set(name, {
      text: text
        .replace(/keyof typeof codes\.(\w+)/g, (_, kind) => union(Object.keys(codes[kind])))
        .replace(/keyof typeof (\w+)/g, namesIn),
      isExported,
    });
  const texts = [...taken.values()].map(({text, isExported}) =>
    text.replace(/^(?:export )?(?=(?:declare|interface|type|abstract)\b)/gm, isExported ? 'export ' : ''),
  );
  // TypeScript 7 takes the types of Node only where they are named.
  const node = '/// <reference types="node" />\n';
  return `${node}${[...imports].sort().join('')}\n${texts.filter(Boolean).join('\n')}\nexport {};\n`;
}
