import type { Endpoint } from '../../ports/models/models.ts'

/**
 * True for a private endpoint. A provider of the catalogue under the workspace's own key has no destination
 * of its own.
 */
export function isPrivate({ ownWay }: Pick<Endpoint, 'ownWay'>): boolean {
  return ownWay !== undefined && ownWay.destination !== null
}
