import type { Issue } from '../schemas/failure-metadata.ts'
import { PROMPT_WRITERS } from './writers.ts'
import { promptFor, readSent, valueIssues, type SentRequest, type WriteTarget } from './translate.ts'
import { lostIssues } from './table/lost-members.ts'
import { needsOf, refusedBy, type Need } from './prompt/prompt-draft.ts'
import type { TextProtocol } from '../schemas/models/protocols.ts'

export interface RefusalsJob {
  readonly sent: SentRequest
  readonly targets: readonly WriteTarget[]
}

/** Issues for each target, in order; none if it accepts the request. */
export function refusalsOf({ sent, targets }: RefusalsJob): readonly (readonly Issue[])[] {
  const many = valueIssues(sent)
  if (many.length > 0) return targets.map(() => many)
  const read = readSent(sent)
  // Only the writers know which members they leave out for a model.
  if (sent.isDropRefused === true)
    return targets.map(({ protocol, terms }) => {
      const prompt = promptFor(read, sent, protocol)
      return lostIssues(prompt, terms, PROMPT_WRITERS[protocol](prompt, terms))
    })
  const needs = new Map<TextProtocol, readonly Need[]>()
  return targets.map(({ protocol, terms }) => {
    const known = needs.get(protocol) ?? needsOf(promptFor(read, sent, protocol))
    needs.set(protocol, known)
    return refusedBy(known, protocol, terms)
  })
}
