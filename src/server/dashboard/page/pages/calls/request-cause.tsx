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
  const { error_type: error, docs_url: docs, limit, model, reason, failed_attempts: failed } = request
  if (error === null || docs === null) return null
  const { cause = '', remedy = '', page = null } = words.errors[error] ?? {}
  const [asked, near] = error === MISSPELT && model !== null ? [model, words.nearest_models[model] ?? []] : []
  const place = page === null ? null : placeOf(page, request, near?.[0] ?? null)
  const [owner = '', interval = ''] = limit?.split(' ') ?? []
  const last = failed.at(-1)
  return (
    <div class="notice bad">
      <p>
        <b>{error}</b> {withCode(reason?.message ?? cause)}
        {limit !== null && ` Limit: ${owner}${interval === '' ? '' : `, ${interval}`}.`}
        {asked !== undefined && ` Requested model: ${asked}.`}
        {near !== undefined && near.length > 0 && ` Nearest: ${near.join(', ')}.`}
        {last !== undefined &&
          ` ${last.provider}: ${last.status ?? 'no answer'} (${last.code}) after ${duration(last.duration_ms)}.`}
      </p>
      {reason !== null && reason.issues.length > 0 && (
        <div>
          Invalid inputs
          <ul aria-label="Invalid inputs">
            {reason.issues.map(({ path, expected }) => (
              <li>
                <code>{path === '' ? 'the whole body' : path}</code>
                {expected !== null && `: expected ${expected}`}
              </li>
            ))}
          </ul>
        </div>
      )}
      <p>{withCode(remedy)}</p>
      {place !== null && <a href={place[1]}>{`View ${place[0]}`}</a>}
      {/* The pages about errors stand beside the dashboard, and need no key. */}
      <a href={docs} target="_blank" rel="noreferrer">
        Cause and fix
      </a>
    </div>
  )
}

const MISSPELT = 'model_unknown'

/** Where a failure is mended: the page of the key, provider or model that it is about, where there is one. */
function placeOf(page: string, request: RequestShape, near: string | null): readonly [string, string] {
  const { key, provider, model, workspace_id: workspace, error_type: error } = request
  const known = error === MISSPELT ? near : model
  if (page === 'keys' && key !== null) return ['the key', hashOf('key', { id: key })]
  if (page === 'models' && provider !== null) return [provider, hashOf('provider', { id: provider })]
  if (page === 'models' && known !== null) return [known, hashOf('model', { id: known })]
  return [page, hashOf(page, { workspace })]
}
