import { NONE } from '../parts/figures.tsx'

/** A field of an object before and after, as text. */
export interface Change {
  readonly field: string
  readonly before: string
  readonly after: string
  readonly isOther: boolean
}

/** Fields of both, those that are other first; what is no object is a field of its own. */
export function changesOf(before: unknown, after: unknown): readonly Change[] {
  const [old, now] = [fieldsOf(before), fieldsOf(after)]
  const changes = [...new Set([...Object.keys(old), ...Object.keys(now)])].map((field): Change => {
    const [was, is] = [textOf(old[field]), textOf(now[field])]
    return { field, before: was, after: is, isOther: was !== is }
  })
  return [...changes.filter(({ isOther }) => isOther), ...changes.filter(({ isOther }) => !isOther)]
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (value === null || value === undefined) return {}
  return typeof value === 'object' && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : { value }
}

function textOf(value: unknown): string {
  if (value === undefined) return NONE
  return typeof value === 'string' ? value : JSON.stringify(value)
}
