import { membersOf } from '../../schemas/values/members.ts'
import type { TextProtocol } from '../../schemas/models/text-models.ts'
import { isRefused, needsOf, refusedBy } from './needs.ts'
import { toldName, turnsPathOf } from '../table/told-names.ts'
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

  /**
   * @param path of the member; a member of a member has a dot between them
   * @param value null: the body has no such member
   */
  set(path: string, value: unknown): void {
    if (value === null) return
    const [top, inner] = namesOf(path)
    this.#body[top] = inner === undefined ? value : { ...membersOf(this.#body[top]), [inner]: value }
  }

  /** @param path as of `set` */
  has(path: string): boolean {
    const [top, inner] = namesOf(path)
    return Object.hasOwn(inner === undefined ? this.#body : membersOf(this.#body[top]), inner ?? top)
  }

  /** Where the turns are in the caller's body. */
  get turnsPath(): string {
    return turnsPathOf(this.prompt.dialect)
  }

  /** Takes a member out again, and what it was the last member of. @param path as of `set` */
  leave(path: string): void {
    const [top, inner] = namesOf(path)
    if (inner === undefined) delete this.#body[top]
    else {
      const { [inner]: _, ...rest } = membersOf(this.#body[top])
      if (Object.keys(rest).length > 0) this.#body[top] = rest
      else delete this.#body[top]
    }
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

function namesOf(path: string): readonly [top: string, inner?: string] {
  const dot = path.indexOf('.')
  return dot === -1 ? [path] : [path.slice(0, dot), path.slice(dot + 1)]
}
