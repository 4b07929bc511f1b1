import {describeReading} from './input.ts';

describeReading(8);
