import {z} from 'zod';
import {errorBodySchema} from '../../operations/operation.ts';
import {type Operation, operationNames, operations} from '../../operations/table.ts';
import {accessRulesSchema} from '../verdict/access-rules.ts';
import {userSessionSchema} from '../verdict/user-session.ts';

const capitalised = (name: string): string => name[0]?.toUpperCase() + name.slice(1);

const jsonSchema = (schema: z.ZodType): Record<string, unknown> => {
  const {$schema: _, ...rest} = z.toJSONSchema(schema, {target: 'draft-2020-12', io: 'input'});
  return rest;
};

const content = (schema: string): Record<string, unknown> => ({
  'application/json': {schema: {$ref: `#/components/schemas/${schema}`}},
});

function operation(name: Operation): Record<string, unknown> {
  const title = capitalised(name);
  return {
    operationId: name,
    summary: operations[name].summary,
    requestBody: {required: true, content: content(`${title}Request`)},
    responses: {
      200: {description: 'Success', content: content(`${title}Response`)},
      401: {description: 'The API key is not valid: `invalid_token`', content: content('Error')},
      default: {description: 'Any other failure', content: content('Error')},
    },
  };
}

/** The four operations as OpenAPI 3.1, with JSON Schema 2020-12, made from the schemas that check requests. */
export function buildOpenApi(): Record<string, unknown> {
  const schemas = operationNames.flatMap(name => [
    [`${capitalised(name)}Request`, jsonSchema(operations[name].request)],
    [`${capitalised(name)}Response`, jsonSchema(operations[name].response)],
  ]);
  return {
    openapi: '3.1.0',
    info: {title: 'Bot verdict and intelligence service', version: '1.0.0'},
    paths: Object.fromEntries(operationNames.map(name => [operations[name].path, {post: operation(name)}])),
    components: {schemas: {...Object.fromEntries(schemas), Error: jsonSchema(errorBodySchema)}},
  };
}

/** JSON Schemas of the user's files: a line of a sessions file, and a rules file. */
export const buildFileSchemas = (): {session: object; rules: object} => ({
  session: z.toJSONSchema(userSessionSchema, {io: 'input'}),
  rules: z.toJSONSchema(accessRulesSchema, {io: 'input'}),
});
