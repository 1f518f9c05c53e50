import { useMemo } from 'preact/hooks'
import type { WorkspaceShape } from '../../../../schemas/workspaces/workspaces.ts'
import type { Api } from '../api.ts'
import { useLoaded, type Loaded } from './loaded.tsx'

/** Workspaces that a list to choose from holds at most, and those of one answer. */
const CHOICES_MAX = 500
const PAGE = 100

export interface Workspaces {
  readonly loaded: Loaded<readonly WorkspaceShape[]>
  /** For a select: each by its id, behind what stands for none. */
  options(none?: string): readonly (readonly [value: string, text: string])[]
  /** Its name, or the first characters of an id that is not known. */
  nameOf(id: string): string
}

export function useWorkspaces(api: Api): Workspaces {
  const loaded = useLoaded((signal) => allOf(api, signal), [api])
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

async function allOf(api: Api, signal: AbortSignal): Promise<readonly WorkspaceShape[]> {
  const found: WorkspaceShape[] = []
  for (let offset = 0; offset < CHOICES_MAX; offset += PAGE) {
    const { data } = await api.get<{ data: WorkspaceShape[] }>(
      ['workspaces'],
      { limit: PAGE, offset },
      signal,
    )
    found.push(...data)
    if (data.length < PAGE) break
  }
  return found
}
