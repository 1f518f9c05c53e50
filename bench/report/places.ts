/** Colours and dashes of lines: a subject has the same in every plot of the page. */

/** The subjects of most scenarios, each with its place among the colours. */
export const KNOWN = [
  'sluice',
  'sluice-ungoverned',
  'nginx',
  'fastify',
  'node',
  'portkey',
  'direct',
  'relay',
  'haproxy',
  'lean-relay',
]
/** Colours of lines in the style sheet. */
const COLOURS = 8
const DASHES = 4

/** Other names take the places that no known one of them has. */
export function placesOf(names: readonly string[]): ReadonlyMap<string, number> {
  const taken = new Set(names.map((name) => KNOWN.indexOf(name)))
  const free = Array.from({ length: names.length + KNOWN.length }, (_, at) => at).filter(
    (at) => !taken.has(at),
  )
  let next = 0
  return new Map(
    [...new Set(names)].map((name) => [
      name,
      KNOWN.includes(name) ? KNOWN.indexOf(name) : (free[next++] ?? 0),
    ]),
  )
}

/** Beyond the last colour all come again but the first, which is the product's. */
export function colourAt(place: number): number {
  return place < COLOURS ? place : 1 + ((place - COLOURS) % (COLOURS - 1))
}

/** Lines of the same colour have different dashes. */
export function dashAt(place: number): number {
  return (place + 2 * Math.floor(place / COLOURS)) % DASHES
}
