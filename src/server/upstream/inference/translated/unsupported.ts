import type { Issue } from '../../../../schemas/failure-metadata.ts'
import { fail, type Outcome } from '../../../../schemas/failures.ts'
import { nativeIssue } from '../../../../dialects/table/lost-members.ts'
import type { TextRequest } from '../../../../schemas/inference/text-request.ts'
import { ISSUES_MAX } from '../../../../schemas/limits/limits.ts'
import { isDropRefused } from './translation-job.ts'

/** @param issues members that an endpoint would refuse, one or more */
export function unsupported(issues: readonly Issue[]): Outcome<never> {
  return fail('field_unsupported', { metadata: { issues: issues.slice(0, ISSUES_MAX) } })
}

/**
 * What an endpoint of the caller's own form may not leave out, where the caller wants nothing to be.
 * @param dropped members that it leaves out
 */
export function lostOf(
  request: Pick<TextRequest, 'dialect' | 'provider'>,
  dropped: readonly string[],
): readonly Issue[] {
  if (dropped.length === 0 || !isDropRefused(request)) return NOTHING
  return dropped.map((name) => nativeIssue(request.dialect, name))
}

const NOTHING: readonly Issue[] = []
