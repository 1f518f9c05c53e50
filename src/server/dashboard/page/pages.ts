import type { Page } from './page.ts'
import { auditPage } from './pages/audit.tsx'
import { filesPage } from './pages/files.tsx'
import { jobsPage } from './pages/jobs.tsx'
import { keysPage } from './pages/keys.tsx'
import { modelsPage } from './pages/models.tsx'
import { nowPage } from './pages/now.tsx'
import { spendPage } from './pages/spend.tsx'
import { webhooksPage } from './pages/webhooks.tsx'

/** In the order of the navigation; the first is where a session begins. */
export const PAGES: readonly Page[] = [
  nowPage,
  spendPage,
  keysPage,
  jobsPage,
  webhooksPage,
  filesPage,
  modelsPage,
  auditPage,
]
