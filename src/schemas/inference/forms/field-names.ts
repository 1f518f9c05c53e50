/**
 * Names by which metrics know what a provider did not get: a bounded set, since callers choose members. D36.
 */
import { STRICT_CUT } from '../strict-members.ts'
import { CARRIED, OTHERS, topOf } from './field-table.ts'

/** Stands for names that the table of fields does not have. */
export const OTHER_FIELD = 'other'

/** What is dropped within turns, parts and tools, by the names that writers have for it. */
const WITHIN = ['item_reference', 'detail', 'web_search', 'tool_search'] as const

const NAMES: ReadonlySet<string> = new Set([
  ...CARRIED.flatMap(({ names: { chat = [], responses = [], messages = [] } }) =>
    [...chat, ...responses, ...messages].map(topOf),
  ),
  ...Object.values(OTHERS).flatMap((fields) => Object.keys(fields)),
  ...Object.keys(STRICT_CUT),
  ...WITHIN,
  'transforms',
])

/** @param dropped a name of `x-sluice-dropped`; a member of a field is counted as the field */
export function fieldName(dropped: string): string {
  const [top = ''] = dropped.split('.', 1)
  return NAMES.has(top) ? top : OTHER_FIELD
}
