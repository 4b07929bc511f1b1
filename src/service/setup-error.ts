import type {z} from 'zod';
import {fileText} from '../disk/path.ts';
import {UsageError} from '../errors.ts';
import {parseYaml} from '../job/yaml.ts';

/**
 * The service can't start. The message names the wrong file, line or setting. A second start without a change fails
 * the same way.
 */
export class ServiceSetupError extends UsageError {
  constructor(message: string) {
    super('service_setup', message);
  }
}

/** The content of a YAML or JSON file. @throws ServiceSetupError if the file can't be read */
export function readServiceYaml(kind: 'answers' | 'rules', path: string): unknown {
  try {
    return parseYaml(fileText(path, true));
  } catch (error) {
    throw new ServiceSetupError(`The ${kind} file ${path} can't be read: ${(error as Error).message}`);
  }
}

/**
 * The value as the schema gives it, with defaults.
 *
 * @throws ServiceSetupError with the first fault: its `place`, and its field (`whole` if the value itself is wrong)
 */
export function checkWithSchema<T>(schema: z.ZodType<T>, value: unknown, place: string, whole: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new ServiceSetupError(`${place}: ${issue?.path.join('.') || whole}: ${issue?.message}`);
}
