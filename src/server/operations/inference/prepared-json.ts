/** The JSON of a text that stands in several places, written once: that of a long one takes milliseconds. */
export class PreparedJson {
  readonly bytes: Uint8Array

  constructor(value: string) {
    this.bytes = Buffer.from(JSON.stringify(value))
  }
}

/** Texts one behind the other in UTF-8, with values of JSON among them. */
export class JsonWriter {
  readonly #written: Uint8Array[] = []
  /** Behind what is written. */
  #text = ''

  add(text: string): this {
    this.#text += text
    return this
  }

  /** Adds what `JSON.stringify` makes of plain data, with prepared texts as they are. */
  value(value: unknown): this {
    if (value instanceof PreparedJson) return this.#bytes(value.bytes)
    if (Array.isArray(value)) return this.#list(value)
    return typeof value === 'object' && value !== null
      ? this.#members(Object.entries(value))
      : this.add(JSON.stringify(value))
  }

  whole(): Uint8Array {
    return Buffer.concat([...this.#written, Buffer.from(this.#text)])
  }

  #bytes(bytes: Uint8Array): this {
    this.#written.push(Buffer.from(this.#text), bytes)
    this.#text = ''
    return this
  }

  #list(values: readonly unknown[]): this {
    this.add('[')
    for (const [at, value] of values.entries()) this.add(at === 0 ? '' : ',').value(value)
    return this.add(']')
  }

  #members(members: readonly (readonly [string, unknown])[]): this {
    let before = '{'
    for (const [name, value] of members) {
      if (value === undefined) continue
      this.add(`${before}${JSON.stringify(name)}:`).value(value)
      before = ','
    }
    return this.add(before === '{' ? '{}' : '}')
  }
}
