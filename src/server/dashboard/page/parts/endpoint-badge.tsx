import { h, type ComponentChild } from 'preact'
import type { EndpointStatus } from '../../../../schemas/endpoints/private-endpoints.ts'
import { Badge, type Tone } from './badge.tsx'

const TONES: Readonly<Record<EndpointStatus, Tone>> = { draft: 'plain', active: 'good', disabled: 'warn' }

export function EndpointBadge({ status }: { readonly status: EndpointStatus }): ComponentChild {
  return <Badge text={status} tone={TONES[status]} />
}
