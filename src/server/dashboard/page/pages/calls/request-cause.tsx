import { h, type ComponentChild } from 'preact'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import { hashOf } from '../../page.ts'
import { duration } from '../../parts/figures.tsx'
import { withCode } from '../../parts/with-code.tsx'
import type { Words } from './request-feed.ts'

interface CauseProps {
  readonly request: RequestShape
  readonly words: Words
}

/** Why a call failed, and what helps: the words of its failure, and what this call adds to them. */
export function Cause({ request, words }: CauseProps): ComponentChild {
  const { error_type: error, docs_url: docs, limit, model, failed_attempts: failed } = request
  if (error === null || docs === null) return null
  const { cause = '', remedy = '', page = null } = words.errors[error] ?? {}
  const [asked, near] = error === MISSPELT && model !== null ? [model, words.nearest_models[model] ?? []] : []
  const last = failed.at(-1)
  return (
    <div class="notice bad">
      <p>
        <b>{error}</b>
        {` ${cause}`}
        {limit !== null && ` It is the limit of the ${limit}.`}
        {asked !== undefined && ` The call asked for ${asked}.`}
        {near !== undefined && near.length > 0 && ` Nearest: ${near.join(', ')}.`}
        {last !== undefined &&
          ` ${last.provider}: ${last.status ?? 'no answer'} (${last.code}) after ${duration(last.duration_ms)}.`}
      </p>
      <p>{withCode(remedy)}</p>
      {page !== null && (
        <a href={hashOf(page, placeOf(page, request, near?.[0] ?? null))}>{`Look at ${page}`}</a>
      )}
      {/* The pages about errors stand beside the dashboard, and need no key. */}
      <a href={docs} target="_blank" rel="noreferrer">
        What it means, and what helps
      </a>
    </div>
  )
}

const MISSPELT = 'model_unknown'

/** What the page shows first. */
function placeOf(
  page: string,
  { key, workspace_id: workspace, model, error_type: error }: RequestShape,
  near: string | null,
): Readonly<Record<string, string | null>> {
  if (page === 'keys') return { key }
  if (page === 'models') return { q: error === MISSPELT ? near : model }
  return { workspace }
}
