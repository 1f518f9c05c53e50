import type { Config } from '../config.ts'
import type { Ports } from '../ports/ports.ts'
import type { VideoViews } from '../ports/videos/videos.ts'
import { openAdmin } from '../store/operator/open-admin.ts'
import { openOperators } from '../store/operator/operator.ts'
import { openCaps } from '../store/base/caps.ts'
import type { Store } from '../store/base/open.ts'
import { VERSION } from '../supervisor/version.ts'

export interface AdminDeps {
  readonly store: Store
  readonly views: Pick<VideoViews, 'wake'>
}

export function openAdminPorts(
  { operatorOrganization }: Pick<Config, 'operatorOrganization'>,
  { store, views }: AdminDeps,
): Pick<Ports, 'admin' | 'operators' | 'caps'> {
  return {
    admin: openAdmin({ store, operatorOrganization, version: VERSION, wake: (what) => views.wake(what) }),
    operators: openOperators(store, operatorOrganization),
    caps: openCaps(store),
  }
}
