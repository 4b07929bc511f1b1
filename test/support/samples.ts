/** How many samples a property gets: a quarter of them in `npm test`, all in `npm run test:soak`. */
export function samples(all: number): number {
  return process.env.SOAK === undefined ? Math.ceil(all / 4) : all;
}
