import type { TSchema } from 'typebox'

/** Descriptions of parameters by name, for shapes without a description of their own. C39. */
const BY_NAME: Readonly<Record<string, string>> = {
  author: "What stands before the slash of a model's id.",
  slug: "What stands behind the slash of a model's id, with its variant if any; or the slug of a preset.",
  model: 'Id of a model, its slash encoded as %2F, or an alias.',
  limit: 'Entries of a page at most.',
  offset: 'Entries before the page.',
  sort: 'The order of the list; where nothing is measured, that of the catalogue.',
  min_intelligence_index: 'Least score of that benchmark.',
  min_coding_index: 'Least score of that benchmark.',
  min_agentic_index: 'Least score of that benchmark.',
  min_tool_success_rate: 'Least share of tool calls that succeed, from 0 to 1.',
  job_id: 'Id of a video job.',
  file_id: 'Id of a file.',
  intern_id: 'Id of an intern.',
  name: 'Name of a secret.',
  id: 'Id of the object.',
  interval: 'The time that a budget is for.',
  include_disabled: 'Disabled keys are listed too.',
  key_hash: 'Hash of an API key: what belongs to it alone.',
  outcome: 'Entries of that outcome alone.',
  status: 'Entries of that status alone.',
  state: 'Entries of that state alone.',
  provider: 'Slug of a provider: its entries alone.',
}

/**
 * The description of a parameter as a member: that of its shape or of its name; empty when there is neither.
 */
export function parameterDescription(name: string, schema: TSchema): { readonly description?: string } {
  const own: unknown = Reflect.get(schema, 'description')
  const description = typeof own === 'string' && own !== '' ? own : BY_NAME[name]
  return description === undefined ? {} : { description }
}
