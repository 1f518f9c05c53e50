import { useEffect, useState } from 'preact/hooks'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { Model } from '../../../../schemas/models/models.ts'
import type { ProviderShape } from '../../../../schemas/models/providers.ts'
import type { RequestShape } from '../../../../schemas/requests/requests.ts'
import type { WorkspaceShape } from '../../../../schemas/workspaces/workspaces.ts'
import type { Api, Path, Query } from '../api.ts'
import { hashOf } from '../page.ts'
import { listKeys } from '../parts/key-names.ts'
import { useLoaded } from '../parts/loaded.tsx'
import { useWorkspaces } from '../parts/workspaces.ts'
import { isJobId, isRequestId, type Entry } from './entries.ts'

/** Milliseconds after the last letter in which the node is not asked yet. */
const TYPING_MS = 150
/** Models that are asked for at once. */
const MODELS_SHOWN = 8
/** Characters of a hash that tell keys apart for the eye. */
const HASH_CHARS = 12

export interface Found {
  readonly entries: readonly Entry[]
  /** The node is still being asked for what was typed. */
  readonly isLoading: boolean
}

const go =
  (path: string, query: Readonly<Record<string, string>>): (() => void) =>
  () => {
    location.hash = hashOf(path, query)
  }

/** What the node knows by the name or the id that was typed. */
export function useFound(api: Api, typed: string): Found {
  const text = typed.trim()
  const settled = useSettled(text)
  const keys = useLoaded((signal) => listKeys(api, signal), [api])
  const workspaces = useWorkspaces(api).loaded
  const providers = useLoaded((signal) => rowsOf<ProviderShape>(api, ['providers'], {}, signal), [api])
  const asked = useLoaded((signal) => askedFor(api, settled, signal), [api, settled])
  // An answer to what was typed before is none to this text.
  const isLate = asked.value?.text !== text
  const named = [
    ...(keys.value ?? []).map(keyEntry),
    ...(workspaces.value ?? []).map(workspaceEntry),
    ...(providers.value ?? []).map(providerEntry),
  ]
  const jobs = isJobId(text) ? [jobEntry(text)] : []
  return {
    entries: text === '' ? [] : [...jobs, ...(isLate ? [] : (asked.value?.entries ?? [])), ...named],
    isLoading: text !== '' && (isLate || keys.isLoading || workspaces.isLoading),
  }
}

/** A text that has stood for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

interface Asked {
  readonly text: string
  readonly entries: readonly Entry[]
}

/** Models by their words, and a call by its id. What cannot be asked for leaves the rest as it is. */
async function askedFor(api: Api, text: string, signal: AbortSignal): Promise<Asked> {
  if (text === '') return { text, entries: [] }
  const query = { q: text, output_modalities: 'all', limit: MODELS_SHOWN }
  const [calls, models] = await Promise.all([
    isRequestId(text)
      ? rowsOf<RequestShape>(api, ['admin', 'requests'], { request_id: text, limit: 1 }, signal).catch(
          () => [],
        )
      : [],
    rowsOf<Model>(api, ['models'], query, signal).catch(() => []),
  ])
  return { text, entries: [...calls.map(requestEntry), ...models.map(modelEntry)] }
}

async function rowsOf<Row>(api: Api, path: Path, query: Query, signal: AbortSignal): Promise<readonly Row[]> {
  return (await api.get<{ data: readonly Row[] }>(path, query, signal)).data
}

function requestEntry({ id, request_id: name, operation, status }: RequestShape): Entry {
  return {
    id: `request ${id}`,
    kind: 'Request',
    text: name,
    note: `${operation} ${status ?? ''}`,
    run: go('requests', { request_id: name, call: id }),
  }
}

const jobEntry = (id: string): Entry => ({ id, kind: 'Job', text: id, run: go('jobs', { job: id }) })

function keyEntry({ hash, name, kind, disabled }: ApiKey): Entry {
  const state = disabled ? ', disabled' : ''
  return {
    id: `key ${hash}`,
    kind: 'Key',
    text: name,
    note: `${kind}${state} ${hash.slice(0, HASH_CHARS)}`,
    hidden: hash,
    run: go('key', { id: hash }),
  }
}

const modelEntry = ({ id, name }: Model): Entry => ({
  id: `model ${id}`,
  kind: 'Model',
  text: name,
  note: id,
  run: go('model', { id }),
})

const workspaceEntry = ({ id, name, slug }: WorkspaceShape): Entry => ({
  id: `workspace ${id}`,
  kind: 'Workspace',
  text: name,
  note: slug,
  hidden: id,
  run: go('workspace', { id }),
})

const providerEntry = ({ slug, name }: ProviderShape): Entry => ({
  id: `provider ${slug}`,
  kind: 'Provider',
  text: name,
  note: slug,
  run: go('provider', { id: slug }),
})
