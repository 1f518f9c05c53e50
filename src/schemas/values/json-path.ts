import { below } from '../issues.ts'

/** The way from a value of JSON to one within it: names of members, and indices of elements. */
export type JsonPath = readonly (string | number)[]

/** The path as a JSON pointer, in which long names of callers are cut. */
export function pointerOf(path: JsonPath): string {
  return path.reduce<string>(below, '')
}
