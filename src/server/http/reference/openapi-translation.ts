import type { BodyName } from '../../../schemas/bodies.ts'
import { fieldRows, type FieldRow } from '../../../dialects/table/field-rows.ts'
import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../schemas/models/text-models.ts'
import type { Json } from './openapi-json.ts'

/**
 * What becomes of each field of a request where the provider speaks another form: `dropped`, `refused`, or the
 * paths that it is mapped to, by the form of the provider. D6.
 */
export function translationOf(body: BodyName | undefined): Json {
  const dialect = DIALECTS.find((one) => one === body)
  return dialect === undefined ? {} : { 'x-sluice-translation': translationsOf(dialect) }
}

function translationsOf(dialect: Dialect): Json {
  const fields: Record<string, Partial<Record<TextProtocol, unknown>>> = {}
  for (const protocol of TEXT_PROTOCOLS)
    if (protocol !== dialect)
      for (const row of fieldRows(dialect, { protocol, isStrict: false }))
        if (row.class !== 'ours') (fields[row.field] ??= {})[protocol] = toldOf(row)
  return fields
}

function toldOf({ class: of, to }: FieldRow): unknown {
  return to ?? of
}
