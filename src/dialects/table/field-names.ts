/** Metric names of the members that a provider did not get: a bounded set, since callers choose members. */
import { RESPONSES_STRICT_CUT_BY_TYPE } from '../../schemas/inference/responses-members.ts'
import { STRICT_CUT, STRICT_CUT_BY_ROLE } from '../../schemas/inference/strict-members.ts'
import { CARRIED, OTHERS, topOf } from './field-table.ts'
import { SCHEMA_NAMES } from '../prompt/json-schemas.ts'
import { lostMembers, NESTED, TOOL_SEARCH, WEB_SEARCH, type NestedObject } from './nested-table.ts'

/** Used for names that are not in the table of fields. */
export const OTHER_FIELD = 'other'

/** Items that are left out as a whole, by their names. */
const ITEMS = ['item_reference', WEB_SEARCH, TOOL_SEARCH] as const

/** Members of an object that are left out, by the table. */
function droppedIn(object: NestedObject): readonly string[] {
  const { dropped = [], inner = {} } = object
  return [...dropped, ...lostMembers(object), ...Object.values(inner).flatMap(droppedIn)]
}

const NESTED_NAMES = Object.values(NESTED).flatMap((places) =>
  Object.values(places)
    .flatMap((objects) => Object.values(objects))
    .flatMap((object) => (typeof object === 'string' ? [] : droppedIn(object))),
)

const NAMES: ReadonlySet<string> = new Set([
  ...CARRIED.flatMap(({ names: { chat = [], responses = [], messages = [] } }) =>
    [...chat, ...responses, ...messages].map(topOf),
  ),
  ...Object.values(OTHERS).flatMap((fields) => Object.keys(fields)),
  ...Object.keys(STRICT_CUT),
  ...Object.values(STRICT_CUT_BY_ROLE).flat(),
  ...Object.values(RESPONSES_STRICT_CUT_BY_TYPE).flat(),
  ...ITEMS,
  ...NESTED_NAMES,
  ...SCHEMA_NAMES,
  'transforms',
  'anthropic-beta',
])

/** @param dropped a name of `x-sluice-dropped`; a member of a field is counted as the field */
export function fieldName(dropped: string): string {
  const [top = ''] = dropped.split('.', 1)
  return NAMES.has(top) ? top : OTHER_FIELD
}
