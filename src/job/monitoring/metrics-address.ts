/** True if metrics go to a Pushgateway rather than a file. */
export function isAddress(metrics: string | undefined): metrics is string {
  return metrics !== undefined && /^https?:\/\//i.test(metrics);
}

export const METRICS_TARGET =
  'expected a file, or a URL of http or https such as https://pushgateway.example.com; name and password are set by BULK_ENRICH_METRICS_AUTH';

/**
 * False for an invalid URL, one that is not of HTTP, or one with a name or password, which job files and command
 * lines would show.
 */
export function isMetricsTarget(metrics: string): boolean {
  // A path such as `s3://…` would be a directory `s3:`, which is not meant.
  if (!isAddress(metrics)) return !/^[a-z][a-z\d+.-]+:\/\//i.test(metrics);
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
