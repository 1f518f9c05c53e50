import { objectOf } from '../../values/members.ts'

/**
 * The arguments of a call as an object, for protocols that take no text. A model may have written text that is
 * no object, which callers give back as it is: it stays readable in the member `text`.
 */
export function argumentsObject(json: string): Readonly<Record<string, unknown>> {
  if (json.trim() === '') return {}
  return parsedObject(json) ?? { text: json }
}

function parsedObject(json: string): Record<string, unknown> | null {
  try {
    return objectOf(JSON.parse(json))
  } catch {
    return null
  }
}
