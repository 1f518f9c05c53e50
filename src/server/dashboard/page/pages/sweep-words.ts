import { count } from '../parts/figures.tsx'

/** What a sweep tells by number, as one thing and as several of it. */
const WORDS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  uploads: ['abandoned upload', 'abandoned uploads'],
  expired: ['expired file', 'expired files'],
  objects: ['orphaned object', 'orphaned objects'],
  staging_files: ['temporary file', 'temporary files'],
  containers: ['unused container', 'unused containers'],
  container_files: ['container file', 'container files'],
  idempotency: ['idempotency record', 'idempotency records'],
}

/** A sweep's report as a sentence or two. */
export function sentenceOf({ recounted = 0, ...removed }: Readonly<Record<string, number>>): string {
  const told = Object.entries(removed)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => {
      const [one, many] = WORDS[kind] ?? [kind.replaceAll('_', ' '), kind.replaceAll('_', ' ')]
      return `${count(number)} ${number === 1 ? one : many}`
    })
  const last = told.pop()
  const first =
    last === undefined
      ? 'There was nothing to delete.'
      : `Deleted ${told.length === 0 ? last : `${told.join(', ')} and ${last}`}.`
  return recounted === 0
    ? first
    : `${first} Corrected the size of ${count(recounted)} container ${recounted === 1 ? 'file' : 'files'}.`
}
