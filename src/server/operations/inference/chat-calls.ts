import type { CalledTool } from '../../../dialects/parts.ts'

/** The calls of a streamed message of chat, as the fragments that tell of them. */
export class CallFragments {
  #count = 0
  #isFreeform = false

  /** JSON of the delta that begins a call. */
  begin(call: CalledTool): string {
    this.#isFreeform = call.isFreeform === true
    return deltaOf({ index: this.#count++, ...wholeCall(call, '') })
  }

  /** JSON of the delta with the next of its arguments, or of its text. */
  add(text: string): string {
    const member = this.#isFreeform ? { custom: { input: text } } : { function: { arguments: text } }
    return deltaOf({ index: Math.max(0, this.#count - 1), ...member })
  }
}

/** A call of a message of chat. @param text its arguments, or its text */
export function wholeCall({ id, name, isFreeform }: CalledTool, text: string): object {
  return isFreeform === true
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } }
}

function deltaOf(call: object): string {
  return JSON.stringify({ tool_calls: [call] })
}
