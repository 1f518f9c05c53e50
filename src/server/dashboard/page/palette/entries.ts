/** A command of the palette: a place to open, or an action. */
export interface Entry {
  /** Unique among all entries. */
  readonly id: string
  readonly kind: 'Page' | 'Action' | 'Request' | 'Job' | 'Key' | 'Model' | 'Provider' | 'Workspace'
  readonly text: string
  /** Distinguishes entries with the same name; it is searched too. */
  readonly note?: string
  /** An id that is searched but not shown. */
  readonly hidden?: string
  run(): void
}

/** Entries that are shown at most; a more precise search finds others. */
export const ENTRIES_MAX = 40

/** Entries that contain each word, first those whose name begins with the typed text. */
export function matching(entries: readonly Entry[], typed: string): readonly Entry[] {
  const text = typed.trim().toLowerCase()
  const words = text.split(/\s+/)
  return entries
    .flatMap((entry) => {
      const name = entry.text.toLowerCase()
      const all = [name, entry.note, entry.kind, entry.hidden].join(' ').toLowerCase()
      return words.every((word) => all.includes(word)) ? [{ entry, rank: rankOf(name, text) }] : []
    })
    .sort((a, b) => a.rank - b.rank)
    .slice(0, ENTRIES_MAX)
    .map(({ entry }) => entry)
}

/** Less is nearer. */
function rankOf(name: string, text: string): number {
  if (name === text) return 0
  if (name.startsWith(text)) return 1
  const at = name.indexOf(text)
  if (at < 0) return 4
  return /[\s/._-]/.test(name[at - 1] ?? '') ? 2 : 3
}

/** A text that may be the id of a call, as people find it in their logs: with a digit and without spaces. */
const REQUEST_ID = /^(?=.*\d)[\w.-]{8,128}$/
const JOB_ID = /^vid_\w+$/

export const isRequestId = (text: string): boolean => REQUEST_ID.test(text) && !JOB_ID.test(text)
export const isJobId = (text: string): boolean => JOB_ID.test(text)
