/** Tools of presets in the form of chat. */

type Members = Readonly<Record<string, unknown>>

/**
 * What makes two tools the same one: the name of a function, else the type, with a name where the tool has
 * one. B2.2.
 */
export function toolIdentity(tool: unknown): string {
  const { type, name, ...more } = membersOf(tool)
  const named = membersOf(more[String(type)])['name'] ?? name ?? ''
  return JSON.stringify([type, named])
}

/**
 * A tool that another form saved, in the form of chat.
 * @returns null: chat has no such tool, which a server runs
 */
export function chatToolOf(tool: unknown, source: 'responses' | 'messages'): object | null {
  const members = membersOf(tool)
  const { type = 'custom', name, description, strict } = members
  if (type !== (source === 'responses' ? 'function' : 'custom') || typeof name !== 'string') return null
  const parameters = members[source === 'responses' ? 'parameters' : 'input_schema'] ?? undefined
  const parts = { name, description: description ?? undefined, parameters, strict: strict ?? undefined }
  return { type: 'function', function: parts }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}
