import t from 'tap'
import { KeptBody } from '../../src/schemas/kept-body.ts'
import { locatedObjects } from '../../src/workers/located-objects.ts'
import type { JsonPath } from '../../src/schemas/values/json-path.ts'

const CASES = 1_000
const NAMES = ['a', 'b"', 'type', 'x\\', '']
const KEPT = ['a', 'type']

/** Numbers from 0 to `below`, the same for a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    return (state >>> 8) % below
  }
}

/** JSON with repeated names, escaped letters and white space. */
class Writer {
  readonly #pick: (below: number) => number

  constructor(seed: number) {
    this.#pick = numbers(seed)
  }

  value(depth: number): string {
    const kind = depth > 4 ? 2 + this.#pick(5) : this.#pick(7)
    const items = Array.from({ length: this.#pick(5) })
    const space = (): string => ['', ' ', '\n\t', '\r'][this.#pick(4)] ?? ''
    if (kind < 2 || depth === 0) {
      const members = items.map(() => `${space()}${this.#key()}${space()}:${space()}${this.value(depth + 1)}`)
      return `{${members.join(`${space()},`)}${space()}}`
    }
    if (kind === 2)
      return `[${space()}${items.map(() => this.value(depth + 1)).join(`${space()},`)}${space()}]`
    return ['null', '-1.5e3', '"}],{\\"a\\":1\\\\"', 'true', '"é\\u0061"'][kind - 3] ?? '""'
  }

  #key(): string {
    const name = NAMES[this.#pick(NAMES.length)] ?? ''
    const plain = JSON.stringify(name)
    const isEscaped = this.#pick(3) === 0 && /^[a-z]/.test(name)
    return isEscaped ? `"\\u00${name.charCodeAt(0).toString(16)}${plain.slice(2)}` : plain
  }
}

/** The paths of all objects of a value, as its parser sees it. */
function objectPaths(value: unknown, at: JsonPath = []): readonly JsonPath[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap((one, nth) => objectPaths(one, [...at, nth]))
  return [at, ...Object.entries(value).flatMap(([name, one]) => objectPaths(one, [...at, name]))]
}

function valueAt(value: unknown, path: JsonPath): Readonly<Record<string, unknown>> {
  return path.reduce((one, step) => Reflect.get(one as object, step) as unknown, value) as Record<
    string,
    unknown
  >
}

t.test('finds members where the parser finds them, whatever surrounds them', (t) => {
  for (let seed = 0; seed < CASES; seed++) {
    const text = new Writer(seed).value(0)
    const value: unknown = JSON.parse(text)
    // Names with a backslash or a quote are not looked for.
    const paths = objectPaths(value).filter((path) => !path.some((step) => /["\\]/.test(String(step))))
    const bytes = Buffer.from(text)
    const objects = locatedObjects(bytes, paths, KEPT)
    const places = { members: new Uint32Array(), marks: new Uint32Array(), count: 0, close: 0, objects }
    const body = new KeptBody(bytes, places, { names: [], released: () => undefined })
    for (const [nth, path] of paths.entries()) {
      const members = new Map(body.object(nth, KEPT).map((span) => [span.name, span]))
      const read = Object.fromEntries(
        [...members].map(([name, { start, end }]) => [name, JSON.parse(bytes.toString('utf8', start, end))]),
      )
      const seen = valueAt(value, path)
      const wanted = Object.fromEntries(
        KEPT.flatMap((name) => (Object.hasOwn(seen, name) ? [[name, seen[name]]] : [])),
      )
      if (JSON.stringify(sorted(read)) !== JSON.stringify(sorted(wanted)))
        t.fail(`seed ${seed}: ${text} at ${JSON.stringify(path)}`)
    }
  }
  t.end()
})

function sorted(value: object): readonly unknown[] {
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}
