import {expect, test} from 'vitest';
import {z} from 'zod';
import {type Operation, operationNames, operations} from '../../src/operations/table.ts';
import {type AnswerField, fieldsOfOperation} from '../../src/output/result-columns.ts';
import {expectPage, textOf} from './blocks.ts';

const PAGE = 'docs/fields.md';
const MARK = '<!-- operations: what follows is made from src/operations -->\n';

function schemaAt(operation: Operation, field: AnswerField): z.ZodType {
  return field.path.reduce<z.ZodType>((schema, key) => {
    const inner = (schema as z.ZodObject).shape[key] as z.ZodOptional<z.ZodType>;
    return inner.unwrap();
  }, operations[operation].data);
}

/** The type, where its sentence does not show it: a flag's says "True if …". */
function typeOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodNumber) return schema.format === 'safeint' ? ' (integer)' : ' (number)';
  if (schema instanceof z.ZodArray)
    return schema.element instanceof z.ZodObject ? ' (list of objects)' : ' (list)';
  return schema instanceof z.ZodISODateTime ? ' (time)' : '';
}

/** A field as a line of the list, and those of the objects in its list below it. */
function linesOf(name: string, schema: z.ZodType): string[] {
  const inner =
    schema instanceof z.ZodArray && schema.element instanceof z.ZodObject ? schema.element.shape : {};
  return [
    `- \`${name}\`${typeOf(schema)}: ${schema.description}`,
    ...Object.entries(inner).flatMap(([key, optional]) =>
      linesOf(`${name}[].${key}`, (optional as z.ZodOptional<z.ZodType>).unwrap()),
    ),
  ];
}

function sectionOf(name: Operation): string {
  const {title, path: at, summary, prefix} = operations[name];
  const fields = fieldsOfOperation(name).flatMap(field =>
    linesOf(prefix + field.name, schemaAt(name, field)),
  );
  return `
## ${title}: \`${name}\`

\`POST ${at}\`: ${summary}

${fields.join('\n')}
`;
}

test('docs/fields.md has every field of every operation (UPDATE=1 writes it)', () => {
  const [head = ''] = textOf(PAGE).split(MARK);
  expectPage(PAGE, head + MARK + operationNames.map(sectionOf).join(''));
});

test.each(operationNames)('%s: every field and code has one sentence', name => {
  const sentences = fieldsOfOperation(name)
    .flatMap(field => linesOf(field.name, schemaAt(name, field)))
    .map(line => line.slice(line.indexOf(': ') + 2));
  for (const sentence of [...sentences, ...Object.values(operations[name].codes).map(({meaning}) => meaning)])
    expect(sentence).toMatch(/^[A-Z][^\n|]*\.$/);
});
