/** Release notes that are made of the definitions of two versions. */
import type { Change } from './api-changes.ts'
import type { Differences } from './promise.ts'

const TITLES: Readonly<Record<keyof Differences, string>> = {
  api: 'API',
  settings: 'Settings',
  failures: 'Error types',
  schema: 'Schema',
}

/** Markdown: first what breaks callers, then what is new or otherwise different, by kind. */
export function notesOf(differences: Differences): string {
  const kinds = Object.entries(TITLES).map(([kind, title]) => ({
    title,
    changes: differences[kind as keyof Differences],
  }))
  const breaks = kinds.flatMap(({ changes }) => changes.filter(({ isBreak }) => isBreak))
  const parts = [
    partOf('Breaks callers of the earlier version', breaks),
    ...kinds.map(({ title, changes }) =>
      partOf(
        title,
        changes.filter(({ isBreak }) => !isBreak),
      ),
    ),
  ].filter((part) => part !== '')
  return parts.length === 0 ? 'The definitions are the same.\n' : parts.join('\n')
}

function partOf(title: string, changes: readonly Change[]): string {
  if (changes.length === 0) return ''
  return `## ${title}\n\n${changes.map(({ place, text }) => `- \`${place}\`: ${text}\n`).join('')}`
}
