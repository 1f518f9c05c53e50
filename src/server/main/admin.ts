import type { Config } from '../config.ts'
import type { Ports } from '../ports/ports.ts'
import type { VideoViews } from '../ports/videos.ts'
import { openAdmin } from '../store/admin/open-admin.ts'
import type { Store } from '../store/open.ts'
import { VERSION } from '../supervisor/version.ts'

export interface AdminMeans {
  readonly store: Store
  readonly views: Pick<VideoViews, 'wake'>
}

/** What a front serves to operators. */
export function openAdminParts({ operatorOrganization }: Pick<Config, 'operatorOrganization'>, { store, views }: AdminMeans): Pick<Ports, 'admin'> {
  return { admin: openAdmin({ store, operatorOrganization, version: VERSION, wake: (what) => views.wake(what) }) }
}
