/** Members that would be dropped although the caller forbids that. */
import type { Issue } from '../../schemas/failure-metadata.ts'
import { RESPONSES_STRICT_CUT_BY_TYPE } from '../../schemas/inference/responses-members.ts'
import { STRICT_CUT_BY_ROLE } from '../../schemas/inference/strict-members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import { isForeign, topOf } from './field-table.ts'
import { PROMPT_WRITERS } from '../writers.ts'
import type { Prompt } from '../prompt/prompt.ts'
import type { WriteTerms, WrittenPrompt } from '../prompt/write-terms.ts'
import { turnsPathOf } from '../prompt/prompt-draft.ts'
import { anyClaude } from '../../schemas/models/openai-maker.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../schemas/models/protocols.ts'

/** All issues that prevent an endpoint from answering a request from which nothing may be dropped. */
export function lostIssues(
  prompt: Prompt,
  terms: WriteTerms,
  { refused, dropped, paths }: Pick<WrittenPrompt, 'refused' | 'dropped' | 'paths'>,
): readonly Issue[] {
  if (dropped.length === 0) return refused
  const others = TEXT_PROTOCOLS.filter((protocol) => protocol !== prompt.dialect)
  const losses = others.map((protocol) => lossOf(prompt, protocol, terms))
  const lost = dropped.map((name) => {
    const takers = [ownTaker(prompt.dialect, name), ...losses.map((loss) => takerOf(loss, name))]
    return issueOf(name, takers, paths.get(name))
  })
  return [...refused, ...lost]
}

/** @param name of a member that a provider of the caller's own form does not get, as `x-sluice-dropped` has it */
export function nativeIssue(dialect: Dialect, name: string): Issue {
  const isGiven = GIVEN[dialect].includes(name)
  const path = isGiven || WITHIN_TURNS[dialect].includes(name) ? turnsPathOf(dialect) : pathOf(name)
  return lostAt(
    path,
    isGiven ? 'the provider that created it' : `an endpoint that supports ${dialect} ${WITH_MORE}`,
  )
}

/** Parts of turns that only the provider which signed or stored them can continue. */
const GIVEN: Readonly<Record<Dialect, readonly string[]>> = {
  chat: [],
  responses: ['reasoning', 'item_reference'],
  messages: ['reasoning'],
}

/** Members of turns that a strict provider does not get. */
const WITHIN_TURNS: Readonly<Record<Dialect, readonly string[]>> = {
  chat: Object.values(STRICT_CUT_BY_ROLE).flat(),
  responses: Object.values(RESPONSES_STRICT_CUT_BY_TYPE).flat(),
  messages: [],
}

/** Members that are left out for endpoints of a protocol. */
interface Loss {
  readonly protocol: TextProtocol
  readonly lax: ReadonlySet<string>
  readonly strict: ReadonlySet<string>
}

/** For each protocol, a model for which its writer drops the fewest members. */
const MODELS: Readonly<Partial<Record<TextProtocol, string>>> = {
  messages: anyClaude(''),
  gemini: 'gemini-2.5-pro',
}

/** Only writers know it. */
function lossOf(prompt: Prompt, protocol: TextProtocol, terms: WriteTerms): Loss {
  const upstreamModel = MODELS[protocol] ?? terms.upstreamModel
  const by = (isStrict: boolean) =>
    new Set(PROMPT_WRITERS[protocol](prompt, { ...terms, upstreamModel, isStrict, isMaker: false }).dropped)
  return { protocol, lax: by(false), strict: by(true) }
}

/** The protocol's providers that accept the member; null: none. */
function takerOf({ protocol, lax, strict }: Loss, name: string): string | null {
  if (isIn(lax, name)) return null
  return isIn(strict, name) ? `${protocol} ${WITH_MORE}` : protocol
}

/** Whether the member or its top-level parent is left out. */
function isIn(names: ReadonlySet<string>, name: string): boolean {
  return names.has(name) || names.has(topOf(name))
}

/** A provider of the caller's own dialect gets every member, unless it accepts only the maker's members. */
function ownTaker(dialect: Dialect, name: string): string {
  return isForeign(topOf(name), dialect) ? `${dialect} ${WITH_MORE}` : dialect
}

const WITH_MORE = "with more fields than OpenAI's"

function pathOf(name: string): string {
  return `/${name.replaceAll('.', '/')}`
}

function issueOf(name: string, takers: readonly (string | null)[], path = pathOf(name)): Issue {
  const forms = takers.filter((one) => one !== null).join(' or ')
  return lostAt(path, `an endpoint that supports ${forms}`)
}

function lostAt(path: string, taker: string): Issue {
  const expected = `${taker}, or no \`require_parameters: true\``
  return { path, message: 'would be dropped', expected }
}
