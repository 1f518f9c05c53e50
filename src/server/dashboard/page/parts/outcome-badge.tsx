import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { AuditEventShape } from '../../../../schemas/audit/audit.ts'
import { Badge, type Tone } from './badge.tsx'

export type AuditEvent = Static<typeof AuditEventShape>

const TONES: Readonly<Record<AuditEvent['outcome'], Tone>> = {
  changed: 'plain',
  released: 'good',
  refused: 'bad',
}

export function OutcomeBadge({ outcome }: { readonly outcome: AuditEvent['outcome'] }): ComponentChild {
  return <Badge text={outcome} tone={TONES[outcome]} />
}
