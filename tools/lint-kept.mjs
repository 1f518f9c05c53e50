// What `npm run lint` has found good, so that the next run looks at the rest alone.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** In a folder that an installation of the root's packages removes. */
const FILE = 'node_modules/.cache/lint.json'

/** By check and subject, such as `eslint` and a file's path, the digest of all that the finding rests on. */
export class Kept {
  #good

  /** @param isForgotten everything is looked at again */
  constructor(isForgotten) {
    this.#good = isForgotten ? {} : read()
  }

  isGood(check, subject, digest) {
    return this.#good[check]?.[subject] === digest
  }

  keep(check, subject, digest) {
    this.#good[check] = { ...this.#good[check] }
    this.#good[check][subject] = digest
  }

  /** Replaces what is kept of a check, so that files that are gone leave it. */
  keepAll(check, digests) {
    this.#good[check] = Object.fromEntries(digests)
  }

  write() {
    mkdirSync(dirname(FILE), { recursive: true })
    writeFileSync(FILE, JSON.stringify(this.#good))
  }
}

export function digestOf(...texts) {
  const hash = createHash('sha256')
  for (const text of texts) hash.update(`${text.length}:`).update(text)
  return hash.digest('base64url')
}

function read() {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'))
  } catch {
    return {}
  }
}
