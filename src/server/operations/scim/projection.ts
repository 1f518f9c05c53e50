import {
  GROUP_SCHEMA,
  isComplex,
  USER_SCHEMA,
  type Attributes,
} from '../../../schemas/scim/scim-attributes.ts'
import type { ScimSearchBody, ScimShownQuery } from '../../../schemas/scim/scim-resources.ts'

/** The attributes of resources that a reply shows. RFC 7644 §3.9. */
export interface Selection {
  /** Null = all attributes that `without` does not list. */
  readonly only: readonly string[] | null
  readonly without: readonly string[]
}

const ALWAYS = new Set(['id', 'schemas'])
const CORE = [USER_SCHEMA, GROUP_SCHEMA].map((schema) => `${schema.toLowerCase()}:`)

export function selectionOf({
  attributes,
  excludedAttributes,
}: ScimShownQuery | Pick<ScimSearchBody, 'attributes' | 'excludedAttributes'>): Selection {
  const only = namesOf(attributes)
  return { only: only.length === 0 ? null : only, without: namesOf(excludedAttributes) }
}

function namesOf(given: string | readonly string[] | undefined): readonly string[] {
  const names = typeof given === 'string' ? given.split(',') : (given ?? [])
  return names
    .map((text) => {
      const name = text.trim().toLowerCase()
      const core = CORE.find((prefix) => name.startsWith(prefix))
      return core === undefined ? name : name.slice(core.length)
    })
    .filter((name) => name !== '')
}

/** True when any part of an attribute is shown. */
export function isShown({ only, without }: Selection, name: string): boolean {
  const lower = name.toLowerCase()
  if (ALWAYS.has(lower)) return true
  if (only !== null) return only.some((wanted) => wanted === lower || isBelow(wanted, lower))
  return !without.includes(lower)
}

export function shown(resource: Attributes, selection: Selection): Attributes {
  const { only, without } = selection
  const answered: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(resource)) {
    if (!isShown(selection, name)) continue
    const lower = name.toLowerCase()
    const isWhole =
      ALWAYS.has(lower) ||
      (only === null ? !without.some((name) => isBelow(name, lower)) : only.includes(lower))
    answered[name] = isWhole
      ? value
      : partOf(value, (sub) => {
          const isNamed = (names: readonly string[]): boolean =>
            names.some((name) => isBelow(name, lower) && isOrIsBelow(name.slice(lower.length + 1), sub))
          return only === null
            ? !without.includes(`${lower}.${sub}`) && !without.includes(`${lower}:${sub}`)
            : isNamed(only)
        })
  }
  return answered
}

/** True for `name.familyname` below `name`, and for `urn:…:user:department` below the extension. */
function isBelow(name: string, parent: string): boolean {
  return name.startsWith(`${parent}.`) || name.startsWith(`${parent}:`)
}

function isOrIsBelow(name: string, parent: string): boolean {
  return name === parent || isBelow(name, parent)
}

function partOf(value: unknown, isKept: (sub: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => partOf(item, isKept))
  return isComplex(value)
    ? Object.fromEntries(Object.entries(value).filter(([sub]) => isKept(sub.toLowerCase())))
    : value
}
