import { BACKSLASH, CLOSE_LIST, CLOSE_OBJECT, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-bytes.ts'

/** Whether a JSON text nests more levels than these; the outermost value is level 1. */
export function isDeeper(json: string, levelsMax: number): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) isText = !isText
    else if (isText) {
      if (unit === BACKSLASH) at++
    } else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (++depth > levelsMax) return true
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth--
  }
  return false
}
