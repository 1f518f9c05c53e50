import { useMemo } from 'preact/hooks'
import type { WorkspaceShape } from '../../../../schemas/workspaces/workspaces.ts'
import type { Api, Path } from '../api.ts'
import { useLoaded, type Loaded } from './loaded.tsx'

/** Workspaces that a list to choose from holds at most, and those of one answer. */
const CHOICES_MAX = 500
const PAGE = 100

export interface Workspaces {
  readonly loaded: Loaded<readonly WorkspaceShape[]>
  /** For a select: each by its id, after the entry for none. */
  options(none?: string): readonly (readonly [value: string, text: string])[]
  /** Its name, or the first characters of an id that is not known. */
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
