import {describeJobRuns} from './job-runs.ts';

describeJobRuns(jobs => jobs);
