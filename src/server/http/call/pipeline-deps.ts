import type { Access, RegionalHosts } from '../../access/access.ts'
import type { Admission } from '../../limits/admission.ts'
import type { LoopShare } from '../../limits/loop-share.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import type { Observer } from '../../ports/observe.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { Cors } from './cors.ts'
import type { ExchangeHost } from '../exchange-deps.ts'
import type { RouteTable } from './route-table.ts'
import type { Site } from '../reference/site.ts'

export interface PipelineDeps {
  readonly table: RouteTable
  readonly access: Pick<Access, 'authenticate' | 'checkKey'>
  readonly regional: RegionalHosts
  readonly admission: Admission
  readonly loop: LoopShare
  readonly budget: LoopBudget
  readonly jobs: ShortJobs
  readonly ports: Ports
  readonly observer: Observer
  readonly host: ExchangeHost
  readonly cors: Cors
  readonly site: Site
  nextRequestId(): string
}

/** Operation name of calls without a route, in logs and metrics. */
export const UNROUTED = 'none'
