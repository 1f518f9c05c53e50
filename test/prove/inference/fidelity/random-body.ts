/** Requests as callers may write them, of which every member has its place by chance. */
import { onceOnly, type FaithfulDialect } from './faithful-dialect.ts'
import { CASE, MODEL } from './faithful-stand.ts'
import { bytesOf } from './raw-members.ts'
import type { RawJson, Written } from './raw-json.ts'

export type Size = 'inline' | 'job' | 'large'

/** Bytes of the one text that makes a body large; of the middle ones it is some more. */
const LONG_BYTES = { job: 300_000, large: 10 * 1_048_576 } as const
const TURNS_MAX = 4

/** @returns a body with a character for each byte */
export function randomBody(
  json: RawJson,
  { dialect, size, id }: { readonly dialect: FaithfulDialect; readonly size: Size; readonly id: number },
): string {
  const turns = Array.from({ length: 1 + json.random(TURNS_MAX) }, () => dialect.turn(json))
  const long = size === 'inline' ? [] : [json.long(LONG_BYTES[size] * (1 + json.random(50) / 100))]
  const isTurn = json.once(2)
  if (isTurn) turns.push(...long.map((text) => `{"role":"user","content":${text}}`))
  const checked = dialect.checked.filter(() => json.once(3))
  const unknown = Array.from({ length: json.random(6) }, (): Written => [json.name(), json.value()])
  const members: readonly Written[] = [
    ['model', `"${MODEL}"`],
    [dialect.turns, json.list(turns)],
    ...dialect.required,
    ...(json.once(3) ? [['stream', 'true'] as const] : []),
    ...checked,
    ...unknown,
    ...(isTurn ? [] : long.map((text): Written => ['x_long', text])),
  ]
  const all = json.shuffled([...members, ...repeated(json, dialect, members)])
  return bytesOf(json.object([...early(json, dialect, members), ...all, [CASE, String(id)]]))
}

/** Unknown members, once more with another value: both go out. */
function repeated(json: RawJson, dialect: FaithfulDialect, members: readonly Written[]): readonly Written[] {
  const known = onceOnly(dialect)
  const unknown = members.filter(([name]) => !known.has(name) && name.startsWith('x_'))
  return unknown.filter(() => json.once(4)).map(([name]) => [name, json.value()])
}

/** Members that are known, before those that count: they do not go out. */
function early(json: RawJson, dialect: FaithfulDialect, members: readonly Written[]): readonly Written[] {
  const known = onceOnly(dialect)
  return members.filter(([name]) => known.has(name) && json.once(12)).map(([name]) => [name, json.value()])
}
