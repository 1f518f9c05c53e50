import type { Page } from './page.ts'
import { auditPage } from './pages/audit.ts'
import { filesPage } from './pages/files.ts'
import { jobsPage } from './pages/jobs.ts'
import { keysPage } from './pages/keys.ts'
import { modelsPage } from './pages/models.ts'
import { nowPage } from './pages/now.ts'
import { spendPage } from './pages/spend.ts'
import { webhooksPage } from './pages/webhooks.ts'

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
