import {CodedError, type ExitCode, exitCodes} from '../../errors.ts';

/** One check. A failure keeps a run from starting; a warning does not. `skipped`: the check was not made. */
export interface Check {
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  /** The finding with what to do about it, or the reason why the check was skipped. */
  readonly detail: string;
  /** Exit code of a run that fails for this reason; failures only. */
  readonly exitCode?: ExitCode;
}

export const passed = (name: string, detail: string): Check => ({name, state: 'ok', detail});
export const skipped = (name: string, detail: string): Check => ({name, state: 'skipped', detail});
export const warning = (name: string, detail: string): Check => ({name, state: 'warning', detail});
export const failed = (name: string, detail: string, exitCode: ExitCode): Check => ({
  name,
  state: 'failed',
  detail,
  exitCode,
});

/** True if one of these checks failed, so that later steps can't work. */
export function hasFailed(checks: readonly Check[]): boolean {
  return checks.some(({state}) => state === 'failed');
}

/** Turns a foreseen error (`CodedError`) into a failed check; rethrows any other. */
export function failure(name: string, error: unknown): Check {
  if (!(error instanceof CodedError)) throw error;
  return failed(name, error.message, error.exitCode);
}

/** Exit code of the first failure, which a run would meet first; 0 without a failure. */
export function exitCodeOfAll(checks: readonly Check[]): ExitCode {
  return checks.find(({state}) => state === 'failed')?.exitCode ?? exitCodes.ok;
}
