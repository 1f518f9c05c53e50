/** What a later version of the same major version must keep of an earlier one, and what it adds. */
import { apiChanges, type Change } from './api-changes.ts'
import type { Definitions, SchemaStep } from './definitions.ts'

export interface Differences {
  readonly api: readonly Change[]
  readonly settings: readonly Change[]
  readonly failures: readonly Change[]
  readonly schema: readonly Change[]
}

export function differencesOf(before: Definitions, after: Definitions): Differences {
  return {
    api: apiChanges(before.api, after.api),
    settings: settingsOf(before, after),
    failures: failuresOf(before, after),
    schema: stepsOf(before.steps, after.steps),
  }
}

/** Those that break what ran with the earlier version, a line each. */
export function breaksOf(differences: Differences): readonly string[] {
  const { api, settings, failures, schema } = differences
  return [...api, ...settings, ...failures, ...schema]
    .filter(({ isBreak }) => isBreak)
    .map(({ place, text }) => `${place}: ${text}`)
}

function settingsOf({ settings: before }: Definitions, { settings: after }: Definitions): readonly Change[] {
  return [
    ...Object.entries(before).flatMap(([place, { usual }]): readonly Change[] => {
      const now = after[place]
      if (now === undefined) return [{ place, text: 'the setting is gone', isBreak: true }]
      if (now.usual === usual) return []
      return [{ place, text: `default ${now.usual ?? 'none'}, was ${usual ?? 'none'}`, isBreak: false }]
    }),
    ...added(before, after, ({ expected, usual }) =>
      usual === undefined ? `new: ${expected}` : `new: ${expected}; default ${usual}`,
    ),
  ]
}

function failuresOf({ failures: before }: Definitions, { failures: after }: Definitions): readonly Change[] {
  return [
    ...Object.entries(before).flatMap(([place, { statuses }]): readonly Change[] => {
      const now = after[place]
      if (now === undefined) return [{ place, text: 'the error type is gone', isBreak: true }]
      const gone = statuses.filter((status) => !now.statuses.includes(status))
      if (gone.length === 0) return []
      return [{ place, text: `is not ${gone.join(', ')} any more`, isBreak: true }]
    }),
    ...added(before, after, ({ statuses, text }) => `new, ${statuses[0]}: ${text}`),
  ]
}

/** A step that was released keeps its place, its name and its tables. */
function stepsOf(before: readonly SchemaStep[], after: readonly SchemaStep[]): readonly Change[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, at): readonly Change[] => {
    const [was, now] = [before[at], after[at]]
    const place = `step ${at + 1}`
    if (was === undefined) {
      const { name = '', tables = [] } = now ?? {}
      const made = tables.length === 0 ? '' : `: ${tables.map((table) => `\`${table}\``).join(', ')}`
      return [{ place, text: `new, \`${name}\`${made}`, isBreak: false }]
    }
    if (now === undefined) return [{ place, text: `\`${was.name}\` is gone`, isBreak: true }]
    if (JSON.stringify(was) === JSON.stringify(now)) return []
    return [{ place, text: `\`${was.name}\` was released and is another`, isBreak: true }]
  }).flat()
}

function added<T>(
  before: Readonly<Record<string, T>>,
  after: Readonly<Record<string, T>>,
  textOf: (entry: T) => string,
): readonly Change[] {
  return Object.entries(after).flatMap(([place, entry]) =>
    place in before ? [] : [{ place, text: textOf(entry), isBreak: false }],
  )
}
