import {CodedError, type ExitCode, exitCodes} from '../../errors.ts';

export interface Check {
  readonly name: string;
  /** `failed`: a run would fail, too. `warning`: a run works anyway. `skipped`: nothing was checked. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  /** The finding with what to do about it, or the reason why the check was skipped. */
  readonly detail: string;
  /** Exit code with which a run would fail for this reason. Set only if `state` is `failed`. */
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

/** Turns a foreseen error (`CodedError`) into a failed check; rethrows any other. */
export function failure(name: string, error: unknown): Check {
  if (!(error instanceof CodedError)) throw error;
  return failed(name, error.message, error.exitCode);
}

/** Exit code of the first failed check; 0 if no check failed. A run would fail at that check first, too. */
export function exitCodeOfAll(checks: readonly Check[]): ExitCode {
  return checks.find(({state}) => state === 'failed')?.exitCode ?? exitCodes.ok;
}
