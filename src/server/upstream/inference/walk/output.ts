/** What an event, or an answer, gives its reader. */
export class Output {
  /** Text, reasoning, a tool call, a picture or a sound. */
  isThere = false
  /** Bytes in UTF-8 of text, reasoning and arguments of tools. */
  bytes = 0

  clear(): void {
    this.isThere = false
    this.bytes = 0
  }

  add(bytes: number): void {
    this.bytes += bytes
    if (bytes > 0) this.isThere = true
  }
}
