import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { AuditEventShape } from '../../../../schemas/audit/audit.ts'
import { Badge, type Tone } from './badge.tsx'

export type AuditEvent = Static<typeof AuditEventShape>

type Deed = AuditEvent['outcome'] | 'created' | 'deleted'

const TONES: Readonly<Record<Deed, Tone>> = {
  created: 'good',
  changed: 'plain',
  deleted: 'warn',
  released: 'plain',
  refused: 'bad',
}

/** What an event did to its object: it was not there before, or is gone since. */
export function deedOf({ outcome, before, after }: Pick<AuditEvent, 'outcome' | 'before' | 'after'>): Deed {
  if (outcome !== 'changed' || (before === null && after === null)) return outcome
  return before === null ? 'created' : after === null ? 'deleted' : 'changed'
}

export function OutcomeBadge({ event }: { readonly event: AuditEvent }): ComponentChild {
  const deed = deedOf(event)
  return <Badge text={deed} tone={TONES[deed]} />
}
