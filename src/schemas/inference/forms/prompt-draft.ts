import type { TextProtocol } from '../../models/text-models.ts'
import { isRefused, needsOf, refusedBy } from './needs.ts'
import { toldName, turnsPathOf } from './table/told-names.ts'
import type { Prompt } from './prompt.ts'
import type { WriteTerms, WrittenPrompt } from './write-terms.ts'

/** A body that a writer is making, and what it leaves out. */
export class PromptDraft {
  readonly prompt: Prompt
  readonly protocol: TextProtocol
  readonly terms: WriteTerms
  readonly #body: Record<string, unknown> = {}
  /** With the paths of those that are not where their names say. */
  readonly #dropped = new Map<string, string | undefined>()

  constructor(prompt: Prompt, protocol: TextProtocol, terms: WriteTerms) {
    this.prompt = prompt
    this.protocol = protocol
    this.terms = terms
    this.set('model', terms.upstreamModel)
  }

  /** The caller's own form has the same protocol. */
  get isSameForm(): boolean {
    return this.prompt.dialect === this.protocol
  }

  /** The answer is for a caller of another form, who may see other things of it by default. */
  get isForOthers(): boolean {
    return !this.isSameForm && this.terms.isOfPreset !== true
  }

  /** @param value null: the body has no such member */
  set(name: string, value: unknown): void {
    if (value !== null) this.#body[name] = value
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#body, name)
  }

  /** Where the turns are in the caller's body. */
  get turnsPath(): string {
    return turnsPathOf(this.prompt.dialect)
  }

  /** Takes a member out again. */
  leave(name: string): void {
    delete this.#body[name]
  }

  /** Takes a member out again, and names it. */
  cut(name: string): void {
    this.leave(name)
    this.drop(name)
  }

  /**
   * @param name as chat has it
   * @param path in the caller's body; absent: where the name says
   */
  drop(name: string, path?: string): void {
    this.#add(toldName(name, this.prompt.dialect), path)
  }

  #add(name: string, path?: string): void {
    if (!this.#dropped.has(name)) this.#dropped.set(name, path)
  }

  written(): WrittenPrompt {
    for (const { name, path } of this.prompt.others)
      if (!isRefused(this.prompt, { name, path })) this.#add(name, path)
    return {
      body: this.#body,
      dropped: [...this.#dropped.keys()],
      paths: new Map(
        [...this.#dropped].flatMap(([name, path]) => (path === undefined ? [] : [[name, path]])),
      ),
      refused: refusedBy(needsOf(this.prompt), this.protocol, this.terms),
    }
  }
}
