/** Options of every TLS connection. They keep the check of certificates on, even if {@link VARIABLE} is `0`. */
export const CHECKED_TLS_OPTIONS = {rejectUnauthorized: true} as const;

/** With `0` in this variable, Node trusts every certificate. Others on the network could then read the key. */
const VARIABLE = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** Warns if the environment asks Node not to check certificates. */
export function warnIfUncheckedTls(
  env: Readonly<Record<string, string | undefined>>,
  warn: (sentence: string) => void,
): void {
  if (env[VARIABLE] !== '0') return;
  warn(
    `${VARIABLE} is ignored: certificates are checked. To trust an authority of your own, put its file into NODE_EXTRA_CA_CERTS.`,
  );
}

/**
 * Removes {@link VARIABLE} from this process's environment. Otherwise Node would warn of insecure
 * connections, although certificates are checked.
 */
export function forgetUncheckedTls(): void {
  delete process.env[VARIABLE];
}
