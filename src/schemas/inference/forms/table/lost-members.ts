/** Members that are dropped, where the caller wants none to be. D6. */
import type { Issue } from '../../../failure-metadata.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../models/text-models.ts'
import type { Dialect } from '../../text-request.ts'
import { fieldClass } from '../field-table.ts'
import type { Prompt } from '../prompt.ts'
import type { WrittenPrompt } from '../write-terms.ts'

/** All that keeps an endpoint from answering a request of which nothing may be left out. */
export function lostIssues(
  { dialect, others }: Pick<Prompt, 'dialect' | 'others'>,
  { refused, dropped }: Pick<WrittenPrompt, 'refused' | 'dropped'>,
): readonly Issue[] {
  const paths = new Map(others.map(({ name, path }) => [name, path]))
  return [...refused, ...dropped.map((name) => lostIssue(dialect, name, paths.get(name)))]
}

/**
 * @param name as `x-sluice-dropped` has it
 * @param path of the member in the caller's body, where it is known
 */
export function lostIssue(dialect: Dialect, name: string, path = `/${name.replaceAll('.', '/')}`): Issue {
  const takers = TEXT_PROTOCOLS.filter((protocol) => isTaken(dialect, name, protocol))
  const expected = `an endpoint that speaks ${takers.join(' or ')}, or \`require_parameters\` that is not true`
  return { path, message: 'would be left out', expected }
}

/** A provider of the caller's own form gets what it is sent. */
function isTaken(dialect: Dialect, name: string, protocol: TextProtocol): boolean {
  return protocol === dialect || fieldClass(dialect, name, { protocol, isStrict: false }) === 'mapped'
}
