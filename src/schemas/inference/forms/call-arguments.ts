import { isDeeper } from '../../values/json-depth.ts'
import { parseMarked } from '../../values/long-integers.ts'
import { objectOf } from '../../values/members.ts'
import { INFERENCE_DEPTH_MAX } from '../inference-limits.ts'

/**
 * The arguments of a call as an object, for protocols that take no text; long integers stand in it as marks. A
 * model may have written text that is no object, which callers give back as it is: it stays readable in the
 * member `text`.
 */
export function argumentsObject(json: string): Readonly<Record<string, unknown>> {
  if (json.trim() === '') return {}
  return objectOf(parsedArguments(json)) ?? { text: json }
}

/**
 * Long integers stand in it as marks. Null: the text is no JSON, or has more levels than a body may have, which
 * could not be written again.
 */
export function parsedArguments(json: string): unknown {
  if (isDeeper(json, INFERENCE_DEPTH_MAX)) return null
  try {
    return parseMarked(json)
  } catch {
    return null
  }
}
