import { h, type ComponentChild } from 'preact'
import type { WorkspaceShape } from '../../../../../schemas/workspaces/workspaces.ts'
import type { Page, PageContext } from '../../page.ts'
import { Badge } from '../../parts/badge.tsx'
import { LoadedTable, type Column } from '../../parts/data-table.tsx'
import { Time } from '../../parts/figures.tsx'
import { SubjectLink } from '../../parts/subject-link.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'

export const workspacesPage: Page = {
  path: 'workspaces',
  title: 'Workspaces',
  letter: 'o',
  view: (context) => <WorkspacesView {...context} />,
}

const COLUMNS: readonly Column<WorkspaceShape>[] = [
  {
    title: 'Name',
    isName: true,
    sortBy: ({ name }) => name,
    cell: ({ id, name, is_default: isDefault }) => [
      <SubjectLink key="name" to="workspace" id={id} text={name} />,
      ' ',
      isDefault && <Badge key="default" text="default" />,
    ],
  },
  { title: 'Slug', cell: ({ slug }) => <code>{slug}</code>, sortBy: ({ slug }) => slug },
  { title: 'Description', isText: true, cell: ({ description }) => description },
  { title: 'Created', cell: ({ created_at: at }) => <Time at={at} />, sortBy: ({ created_at: at }) => at },
]

function WorkspacesView(context: PageContext): ComponentChild {
  const { loaded } = useWorkspaces(context.api)
  return (
    <div>
      <section class="panel">
        <LoadedTable<WorkspaceShape>
          caption="Workspaces"
          columns={COLUMNS}
          loaded={loaded}
          found={context}
          keyOf={({ id }) => id}
          empty="No workspaces."
        />
      </section>
    </div>
  )
}
