import { HASH_BEGIN, hashed } from '../conversation.ts'

/** Characters of a function's name that all providers take. */
const FITTING_CHARS_MAX = 64
/** Google's names begin with no digit. */
const FITTING = /^[A-Za-z_][\w-]*$/
const OTHER_CHARACTERS = /[^\w-]/g
const WRONG_BEGIN = /^[\d-]/
const BETWEEN = '__'
const BASE = 36

/** Whether all providers take a function of this name. */
export function isFitting(name: string): boolean {
  return name.length <= FITTING_CHARS_MAX && FITTING.test(name)
}

/**
 * Names of the functions that stand for tools whose own names other forms lack, or not all providers take:
 * those of one request are never the same, and a tool has the same name in each request that declares the same
 * tools. D6.
 */
export class FunctionNames {
  readonly #taken: Set<string>
  readonly #names = new Map<string, string>()

  /** @param names that are taken: those of tools which keep theirs */
  constructor(names: Iterable<string>) {
    this.#taken = new Set(names)
  }

  /** A tool of no namespace keeps its name. */
  of(namespace: string | null, name: string): string {
    return namespace === null ? name : this.#made([namespace, name], joined(namespace, name))
  }

  /** The name itself where all providers take it. */
  fitting(name: string): string {
    return isFitting(name) ? name : this.#made([name], name)
  }

  #made(own: readonly string[], wanted: string): string {
    const key = JSON.stringify(own)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const made = this.#free(wanted, key)
    this.#names.set(key, made)
    this.#taken.add(made)
    return made
  }

  #free(wanted: string, key: string): string {
    const fit = wanted.replace(OTHER_CHARACTERS, '_').replace(WRONG_BEGIN, '_$&')
    let name = fit
    for (let nth = 0; name.length > FITTING_CHARS_MAX || this.#taken.has(name); nth++) {
      const end = `_${(hashed(HASH_BEGIN, `${key}${nth}`) >>> 0).toString(BASE)}`
      name = fit.slice(0, FITTING_CHARS_MAX - end.length) + end
    }
    return name
  }
}

/** Clients write the namespace with a separator at its end, within the name of the tool, or in neither. */
function joined(namespace: string, name: string): string {
  const isWithin = name.startsWith(namespace)
  const between = namespace.endsWith(BETWEEN) || name.startsWith(BETWEEN) ? '' : BETWEEN
  return isWithin ? name : namespace + between + name
}
