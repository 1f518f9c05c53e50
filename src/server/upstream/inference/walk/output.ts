import type { ThinksIn } from '../../../../schemas/models/text-models.ts'

/** What an event, or an answer, gives its reader. */
export class Output {
  /** Text, reasoning, a tool call, a picture or a sound. */
  isThere = false
  /** Bytes in UTF-8 of text, reasoning and arguments of tools. */
  bytes = 0
  /** Where a chat had reasoning so far, over all events; null: there was none. */
  thinksIn: ThinksIn | null = null

  clear(): void {
    this.isThere = false
    this.bytes = 0
  }

  thinks(name: ThinksIn): void {
    this.thinksIn = thinksIn(this.thinksIn, name)
  }

  add(bytes: number): void {
    this.bytes += bytes
    if (bytes > 0) this.isThere = true
  }
}

/** @param before what was seen so far */
export function thinksIn(before: ThinksIn | null, name: ThinksIn): ThinksIn {
  return before === null || before === name ? name : 'both'
}
