import type { NamedOrigin, ToolOrigin } from './prompt.ts'
import { FreeformInput } from '../server/upstream/inference/parts/freeform-input.ts'
import type { CalledTool, WrittenPart } from './parts.ts'

/** Gives the calls of an answer to the tools that the caller declared, where functions stood for them. D6. */
export class OriginalCalls {
  readonly #origins: ReadonlyMap<string, ToolOrigin>
  /** Of the call that is being written; null: its arguments are an object. */
  #input: FreeformInput | null = null

  constructor(origins: readonly NamedOrigin[]) {
    this.#origins = new Map(origins.map(({ called, origin }) => [called, origin]))
  }

  /** @param parts the next ones */
  of(parts: readonly WrittenPart[]): readonly WrittenPart[] {
    return parts.flatMap((part) => {
      if (part.kind === 'tool') return this.#called(part)
      if (part.kind !== 'arguments' || this.#input === null) return part
      const text = this.#input.add(part.text)
      return text === '' ? [] : { ...part, text }
    })
  }

  #called(part: CalledTool): WrittenPart {
    const origin = this.#origins.get(part.name)
    this.#input = origin?.isFreeform === true ? new FreeformInput() : null
    if (origin === undefined) return part
    const { name, namespace, isFreeform } = origin
    return {
      ...part,
      name,
      ...(namespace !== null && { namespace }),
      ...(isFreeform && { isFreeform }),
    }
  }
}
