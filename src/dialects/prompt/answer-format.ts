import { isObject, type Members } from '../../schemas/values/members.ts'
import type { JsonPath } from '../../schemas/values/json-path.ts'
import { JSON_SCHEMA } from '../form-fit.ts'
import { flagOf, textOf, type Others } from './others.ts'
import type { AnswerFormat } from './prompt.ts'

/** The members that Sluice reads in a format of type `json_object`. */
const OBJECT: ReadonlySet<string> = new Set(['type', 'schema', 'name', 'description', 'strict'])

/** The name of a format whose caller gives none: OpenAI requires one. */
const FORMAT_NAME = 'output'

/** Some providers also accept a schema in a format of this type. */
export function readJsonObject(
  format: Members,
  { path, others }: { readonly path: JsonPath; readonly others: Others },
): AnswerFormat {
  others.addRest(format, OBJECT, { path, prefix: `${path.join('.')}.` })
  if (isObject(format['schema'])) return schemaFormat(format)
  others.addUnread(path.join('.'), format['schema'], [...path, 'schema'])
  return { kind: 'json_object' }
}

export function schemaFormat(members: Members): AnswerFormat {
  return {
    kind: JSON_SCHEMA,
    name: textOf(members['name']) ?? FORMAT_NAME,
    description: textOf(members['description']),
    schema: isObject(members['schema']) ? members['schema'] : {},
    isStrict: flagOf(members['strict']),
  }
}
