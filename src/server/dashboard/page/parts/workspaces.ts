import { useMemo } from 'preact/hooks'
import type { WorkspaceShape } from '../../../../schemas/workspaces/workspaces.ts'
import type { Api, Path } from '../api.ts'
import { useLoaded, type Loaded } from './loaded.tsx'

/** Workspaces that a select lists at most, and workspaces on one page. */
const CHOICES_MAX = 500
const PAGE = 100

export interface Workspaces {
  readonly loaded: Loaded<readonly WorkspaceShape[]>
  /** Options of a select: an entry for none, then each workspace by its id. */
  options(none?: string): readonly (readonly [value: string, text: string])[]
  /** The name of a workspace, or the first characters of an unknown id. */
  nameOf(id: string): string
}

export function useWorkspaces(api: Api): Workspaces {
  const loaded = useLoaded(
    (signal) => listAll<WorkspaceShape>(api, ['workspaces'], CHOICES_MAX, signal),
    [api],
  )
  const all = loaded.value
  return useMemo(() => {
    const names = new Map(all?.map(({ id, name }) => [id, name]))
    return {
      loaded,
      options: (none?: string) => [
        ...(none === undefined ? [] : [['', none] as const]),
        ...[...names].map(([id, name]) => [id, name] as const),
      ],
      nameOf: (id: string) => names.get(id) ?? `${id.slice(0, 8)}…`,
    }
  }, [loaded.value, loaded.problem, loaded.isLoading])
}

/** The first rows of a list that is read page by page; `most` is a multiple of a page. */
export async function listAll<Row>(
  api: Api,
  path: Path,
  most: number,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const found: Row[] = []
  while (found.length < most) {
    const query = { limit: PAGE, offset: found.length }
    const page = await api.get<{ data: readonly Row[]; has_more: boolean }>(path, query, signal)
    found.push(...page.data)
    if (!page.has_more || page.data.length === 0) break
  }
  return found
}
