import type { AssistantPart, Turn, UserPart } from '../../../dialects/prompt.ts'

type Run =
  | { readonly role: 'user'; readonly parts: UserPart[] }
  | { readonly role: 'assistant'; readonly parts: AssistantPart[] }

/** Turns of which those of one side that follow each other are one. A turn that says nothing is none. */
export class TurnRuns {
  readonly #turns: Turn[] = []
  #open: Run | null = null

  get turns(): readonly Turn[] {
    return this.#turns
  }

  add(turn: Turn): void {
    if (turn.role === 'user') for (const part of turn.parts) this.#userParts().push(part)
    else if (turn.role === 'assistant') for (const part of turn.parts) this.#modelParts().push(part)
    else if (turn.role === 'tool' || turn.parts.length > 0) {
      this.#open = null
      this.#turns.push(turn)
    }
  }

  #userParts(): UserPart[] {
    if (this.#open?.role === 'user') return this.#open.parts
    const run: Run = { role: 'user', parts: [] }
    this.#begin(run)
    return run.parts
  }

  #modelParts(): AssistantPart[] {
    if (this.#open?.role === 'assistant') return this.#open.parts
    const run: Run = { role: 'assistant', parts: [] }
    this.#begin(run)
    return run.parts
  }

  #begin(run: Run): void {
    this.#open = run
    this.#turns.push(run)
  }
}
