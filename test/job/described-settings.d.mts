import type {describeSettings} from '../../src/job/settings.ts';

export function describedSettings(settings: ReturnType<typeof describeSettings>): string;
