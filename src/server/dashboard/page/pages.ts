import type { Page } from './page.ts'
import { auditPage } from './pages/audit.tsx'
import { directoryPage } from './pages/setup/directory.tsx'
import { filesPage } from './pages/files.tsx'
import { jobsPage } from './pages/jobs.tsx'
import { keysPage } from './pages/keys.tsx'
import { modelsPage } from './pages/models.tsx'
import { nowPage } from './pages/now.tsx'
import { requestsPage } from './pages/calls/requests.tsx'
import { presetsPage } from './pages/setup/presets.tsx'
import { spendPage } from './pages/spend.tsx'
import { startPage } from './pages/start.tsx'
import { keyPage } from './pages/subjects/key-page.tsx'
import { modelPage } from './pages/subjects/model-page.tsx'
import { providerPage } from './pages/subjects/provider-page.tsx'
import { workspacePage } from './pages/subjects/workspace-page.tsx'
import { workspacesPage } from './pages/subjects/workspaces-page.tsx'
import { webhooksPage } from './pages/webhooks.tsx'

/** In the order of the navigation. */
export const PAGES: readonly Page[] = [
  startPage,
  nowPage,
  requestsPage,
  spendPage,
  keysPage,
  workspacesPage,
  jobsPage,
  webhooksPage,
  filesPage,
  modelsPage,
  presetsPage,
  directoryPage,
  auditPage,
  keyPage,
  modelPage,
  providerPage,
  workspacePage,
]

/** Where a session begins: while no model was ever called there is nothing to see. */
export const landingOf = (isFresh: boolean): Page => (isFresh ? startPage : nowPage)

/** Pages of the navigation: Start while one of its steps is open. */
export const shownPages = (isStarting: boolean): readonly Page[] =>
  PAGES.filter((page) => page.under === undefined && (isStarting || page !== startPage))
