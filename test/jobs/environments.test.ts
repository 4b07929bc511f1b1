import {describeJobRuns} from './job-runs.ts';

// All of them in the first environment, then one of them in turn: each in two of the others.
describeJobRuns((jobs, n) => (n === 0 ? jobs : jobs.filter((_, index) => index === n % jobs.length)));
