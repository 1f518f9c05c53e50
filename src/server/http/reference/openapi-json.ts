export type Json = Readonly<Record<string, unknown>>

export function exampleOf(value: unknown): Json {
  return value === undefined ? {} : { example: value }
}

export function reference(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}
