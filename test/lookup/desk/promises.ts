import {playRandomNights} from './nights.ts';
import {playService, services} from './services.ts';

/** The promises that some nights and the services break, in a few seconds. */
export function brokenPromises(): readonly string[] {
  const nights = playRandomNights(1, 300);
  if (nights.length > 0) return nights;
  return services.flatMap(service => playService(service, service[1].values ?? 1_500));
}
