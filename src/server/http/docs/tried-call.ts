/** A call that the reference sends from its page, as the build writes it into the page. */
export interface TriedCall {
  readonly method: string
  /** With its prefix, and `{name}` for parameters. */
  readonly path: string
  /** True when the last parameter keeps slashes unencoded. */
  readonly keepsSlashes: boolean
  readonly keyHeader: 'Authorization' | 'x-sluice-key'
  readonly contentType: string | null
  readonly upload: 'form' | 'raw' | null
  /** The text of the example's body; null: no body. */
  readonly body: string | null
  readonly inputs: readonly TriedInput[]
}

export interface TriedInput {
  readonly name: string
  readonly place: 'path' | 'query'
  /** The example's. */
  readonly value: string
  readonly isRequired: boolean
}

/** The path and query of a call with these values; inputs of the query without a value are left out. */
export function pathWith(call: TriedCall, values: ReadonlyMap<string, string>): string {
  const path = filledPath(call.path, (name) => values.get(name) ?? '', call.keepsSlashes)
  const query = new URLSearchParams()
  for (const { name, place } of call.inputs) {
    const value = values.get(name) ?? ''
    if (place === 'query' && value !== '') query.append(name, value)
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/** A path with its parameters filled in. @param keepsSlashes true for paths that keep slashes and colons unencoded */
export function filledPath(path: string, valueOf: (name: string) => string, keepsSlashes: boolean): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(valueOf(name))
    return keepsSlashes ? value.replaceAll('%2F', '/').replaceAll('%3A', ':') : value
  })
}
