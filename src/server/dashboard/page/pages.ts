import type { Page } from './page.ts'
import { keysPage } from './pages/keys.ts'
import { nowPage } from './pages/now.ts'
import { spendPage } from './pages/spend.ts'

/** In the order of the navigation; the first is where a session begins. */
export const PAGES: readonly Page[] = [nowPage, spendPage, keysPage]
