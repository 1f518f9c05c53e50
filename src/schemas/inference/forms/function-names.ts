import { HASH_BEGIN, hashed } from '../conversation.ts'

/** Characters of the names of functions that all providers take. */
export const FUNCTION_NAME_CHARS_MAX = 64
const OTHER_CHARACTERS = /[^\w-]/g
const BETWEEN = '__'
const BASE = 36

/**
 * Names of the functions that stand for tools of namespaces, which other forms lack: those of one request are
 * never the same, and a tool has the same name in each request that declares the same tools. D6.
 */
export class FunctionNames {
  readonly #taken: Set<string>
  readonly #names = new Map<string, string>()

  /** @param names of tools that are of no namespace */
  constructor(names: Iterable<string>) {
    this.#taken = new Set(names)
  }

  of(namespace: string | null, name: string): string {
    if (namespace === null) return name
    const key = JSON.stringify([namespace, name])
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const made = this.#free(joined(namespace, name), key)
    this.#names.set(key, made)
    this.#taken.add(made)
    return made
  }

  #free(wanted: string, key: string): string {
    let name = wanted
    for (let nth = 0; name.length > FUNCTION_NAME_CHARS_MAX || this.#taken.has(name); nth++) {
      const end = `_${(hashed(HASH_BEGIN, `${key}${nth}`) >>> 0).toString(BASE)}`
      name = wanted.slice(0, FUNCTION_NAME_CHARS_MAX - end.length) + end
    }
    return name
  }
}

/** Clients write the namespace with a separator at its end, within the name of the tool, or in neither. */
function joined(namespace: string, name: string): string {
  const isWithin = name.startsWith(namespace)
  const between = namespace.endsWith(BETWEEN) || name.startsWith(BETWEEN) ? '' : BETWEEN
  return (isWithin ? name : namespace + between + name).replace(OTHER_CHARACTERS, '_')
}
