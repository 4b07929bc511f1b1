import {describeReading} from './input.ts';

describeReading(Number(process.env.SOAK_RUNS ?? 2_000));
