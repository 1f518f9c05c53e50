// Keeps which files and documents `npm run lint` found good: the next run checks only those that changed.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** An installation of the root's packages removes the folder. */
const FILE = 'node_modules/.cache/lint.json'

/** Digests of good inputs, by check (`eslint`) and subject (the path of a file). */
export class Kept {
  #good

  /** @param isForgotten every file is checked again */
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

  /** Replaces all digests of a check: deleted files leave the list. */
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
