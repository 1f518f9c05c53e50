import type { NamedOrigin } from '../../../../schemas/inference/forms/prompt.ts'
import type { PartRead, PartStream } from '../protocol.ts'
import { OriginalCalls } from './original-calls.ts'
import { PassedParts } from './passed-parts.ts'

/** A stream whose calls are those of the tools that the caller declared; its last parts have none. D6. */
export class OriginalParts extends PassedParts {
  readonly #calls: OriginalCalls

  constructor(stream: PartStream, origins: readonly NamedOrigin[]) {
    super(stream)
    this.#calls = new OriginalCalls(origins)
  }

  protected override pass({ parts, failure }: PartRead): PartRead {
    return { parts: this.#calls.of(parts), failure }
  }
}
