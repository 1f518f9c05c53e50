/** Signatures that models have given in a conversation, and what they ask of those that come back. */
import { createHash } from 'node:crypto'

/** A signature with what it belongs to. */
export interface SeenSignature {
  readonly signature: string
  /** The format of the provider that made it. */
  readonly format: string
  /** The content that it signs: a change of that invalidates the signature. */
  readonly of: string
  /** Of its item; absent: not reported. */
  readonly id?: string
}

interface Issued extends SeenSignature {
  /** Slug of the model. */
  readonly by: string
}

/** Of real providers they are longer than a hash. */
const HASHES = 4

export class IssuedSignatures {
  readonly #all = new Map<string, Issued>()
  #marks = 0

  get count(): number {
    return this.#all.size
  }

  /** A text that no other step has. @param by slug of the model */
  mark(by: string): string {
    return `${by}-${this.#marks++}`
  }

  /** A new signature, in base64 as providers have it. */
  sign(by: string, of: Omit<SeenSignature, 'signature'>): string {
    const seed = `${by} ${this.#marks} ${JSON.stringify(of)}`
    const hashes = Array.from({ length: HASHES }, (_, nth) =>
      createHash('sha512').update(`${nth} ${seed}`).digest(),
    )
    const signature = Buffer.concat(hashes).toString('base64')
    this.add(by, { ...of, signature })
    return signature
  }

  add(by: string, seen: SeenSignature): void {
    this.#all.set(seen.signature, { ...seen, by })
  }

  /** What each signature of a format was given for. */
  givenIn(format: string): Map<string, string> {
    const ofFormat = [...this.#all.values()].filter((issued) => issued.format === format)
    return new Map(ofFormat.map(({ signature, of }) => [signature, of]))
  }

  /** Whether others have given signatures: in formats that the provider of a model refuses, or in any. */
  hasOthers(by: string, format: string | null): boolean {
    return [...this.#all.values()].some((issued) => issued.by !== by && issued.format !== format)
  }

  /**
   * Looks at the signatures of a request, in their order. Each must be one that was given, for what it was
   * given for, and all that this model has given must be there.
   * @returns what is wrong; null: nothing is
   */
  wrongIn(seen: readonly SeenSignature[], by: string): string | null {
    for (const one of seen) {
      const issued = this.#all.get(one.signature)
      if (issued === undefined || issued.format !== one.format)
        return `Invalid signature: ${one.format} ${one.signature.slice(0, 12)}… was not given`
      if (issued.of !== one.of) return `Invalid signature: it was given for ${issued.of}, not for ${one.of}`
      if (one.id !== undefined && issued.id !== undefined && one.id !== issued.id)
        return `Encrypted content item_id did not match the target item id: ${one.id}, not ${issued.id}`
    }
    const own = [...this.#all.values()].filter((issued) => issued.by === by)
    const back = seen.filter(({ signature }) => this.#all.get(signature)?.by === by)
    const at = own.findIndex(({ signature }, nth) => signature !== back[nth]?.signature)
    if (at !== -1) return `The signature of ${own[at]?.of} is missing, or is not in its place`
    return back.length === own.length ? null : 'A signature stands there twice'
  }

  /** Another conversation begins. */
  clear(): void {
    this.#all.clear()
  }
}
