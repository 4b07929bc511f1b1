/** For each TLS connection that is made here: an explicit option is stronger than the variable below. */
export const CHECKED = {rejectUnauthorized: true} as const;

/** With `0`, Node would trust every certificate and so give the key to anyone between here and the service. */
const VARIABLE = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** Warns if the environment asks for unchecked certificates. */
export function warnOfUnchecked(
  env: Readonly<Record<string, string | undefined>>,
  warn: (sentence: string) => void,
): void {
  if (env[VARIABLE] !== '0') return;
  warn(
    `${VARIABLE} is ignored: certificates are checked. To trust an authority of your own, put its file into NODE_EXTRA_CA_CERTS.`,
  );
}

/** Takes the variable out of this process's environment: Node would say that its connections are not secure. */
export function forgetUnchecked(): void {
  delete process.env[VARIABLE];
}
