import { readFileSync } from 'node:fs'
import type { Issue } from '../../schemas/failures.ts'
import { explain, pointer } from './explain.ts'
import { CatalogueFile, type ModelEntry, type ProviderEntry } from './format.ts'

/** One mistake in a catalogue: which file, a JSON pointer into it, what is wrong and what would be right. */
export interface CatalogueProblem extends Issue {
  readonly file: string
}

/** An entry and where it was written, so that a later check can still point at it. */
export interface Placed<T> {
  readonly entry: T
  readonly file: string
  readonly path: string
}

export interface Source {
  readonly isReplacing: boolean
  readonly providers: readonly Placed<ProviderEntry>[]
  readonly models: readonly Placed<ModelEntry>[]
}

export type SourceResult =
  | { readonly ok: true; readonly source: Source }
  | { readonly ok: false; readonly problems: readonly CatalogueProblem[] }

/** Reads one catalogue file and checks its shape. Every departure is told, not the first one only. */
export function readSource(file: string): SourceResult {
  const read = parse(file)
  if (!read.ok) return read
  const value = read.value
  const problems = explain(CatalogueFile, value, '').map((issue) => ({ file, ...issue }))
  if (problems.length > 0) return { ok: false, problems }
  // The explanation was empty, so the value has the shape.
  const { replace = false, providers = [], models = [] } = value as CatalogueFile
  return {
    ok: true,
    source: { isReplacing: replace, providers: place(file, '/providers', providers), models: place(file, '/models', models) },
  }
}

function parse(file: string): { ok: true; value: unknown } | { ok: false; problems: readonly CatalogueProblem[] } {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable'
    return { ok: false, problems: [{ file, path: '', message: `cannot be read (${reason})`, expected: 'a readable file' }] }
  }
  try {
    return { ok: true, value: JSON.parse(text.replace(/^\uFEFF/, '')) }
  } catch (error) {
    const where = error instanceof Error ? positionOf(error.message, text) : ''
    return { ok: false, problems: [{ file, path: '', message: `is not JSON${where}`, expected: 'a JSON object' }] }
  }
}

/** Line and column from the parser's "at position N": a count of characters helps nobody in a file of lines. */
function positionOf(message: string, text: string): string {
  const at = /at position (\d+)/.exec(message)?.[1]
  if (at === undefined) return ''
  const before = text.slice(0, Number(at)).split('\n')
  return ` (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`
}

function place<T>(file: string, path: string, entries: readonly T[]): readonly Placed<T>[] {
  return entries.map((entry, at) => ({ entry, file, path: pointer(path, at) }))
}
