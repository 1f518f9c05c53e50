import { below } from '../issues.ts'

/** The path from a JSON value to a value inside it: names of members, and indices of elements. */
export type JsonPath = readonly (string | number)[]

/** The path as a JSON pointer; long names chosen by callers are shortened. */
export function pointerOf(path: JsonPath): string {
  return path.reduce<string>(below, '')
}
