import type { NamedOrigin } from '../../../../dialects/prompt.ts'
import { OriginalCalls } from '../../../../dialects/original-calls.ts'
import { PassedParts } from '../../../../dialects/passed-parts.ts'
import type { WrittenPart, PartRead, PartStream } from '../../../../dialects/parts.ts'

/** A stream whose calls are those of the tools that the caller declared. D6. */
export class OriginalParts extends PassedParts {
  readonly #calls: OriginalCalls

  constructor(stream: PartStream, origins: readonly NamedOrigin[]) {
    super(stream)
    this.#calls = new OriginalCalls(origins)
  }

  override get finalParts(): readonly WrittenPart[] {
    return this.#calls.of(super.finalParts)
  }

  protected override pass({ parts, failure }: PartRead): PartRead {
    return { parts: this.#calls.of(parts), failure }
  }
}
