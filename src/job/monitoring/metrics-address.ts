/** True if metrics go to a Pushgateway rather than a file. */
export function isAddress(metrics: string | undefined): metrics is string {
  return metrics !== undefined && /^https?:\/\//i.test(metrics);
}

export const METRICS_TARGET =
  'expected a file, or a URL such as https://pushgateway.example.com; name and password are set by BULK_ENRICH_METRICS_AUTH';

/** False for an invalid URL, or one with a name or password, which job files and command lines would show. */
export function isMetricsTarget(metrics: string): boolean {
  if (!isAddress(metrics)) return true;
  if (!URL.canParse(metrics)) return false;
  const {username, password} = new URL(metrics);
  return username === '' && password === '';
}

/**
 * Address for a job's metrics at a Pushgateway. A URL that names a job (`/metrics/job/NAME…`) stays as it is. To
 * any other URL, `/metrics/job/` and the job's name are added.
 */
export function pushAddress(metrics: string, job: string | null): URL {
  const url = new URL(metrics);
  if (!/\/metrics\/job(@base64)?\//.test(url.pathname))
    url.pathname = `${url.pathname.replace(/\/+$/, '')}/metrics/job/${encodeURIComponent(job ?? 'bulk-enrich')}`;
  return url;
}
