import { h, type ComponentChild } from 'preact'
import type { AdminDeliveryShape } from '../../../../schemas/operator/admin.ts'
import { hashOf } from '../page.ts'
import { DeliveryBadge, lastAnswerOf } from '../parts/deliveries.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { count, NONE, Time } from '../parts/figures.tsx'

interface DeliveryDialogProps {
  readonly delivery: AdminDeliveryShape
  replay(delivery: AdminDeliveryShape): void
  onClose(): void
}

/** A webhook delivery: its receiver, its result, and a way to send it again. */
export function DeliveryDialog({ delivery, replay, onClose }: DeliveryDialogProps): ComponentChild {
  const { id, host, state, job_id: job, workspace_slug: workspace, attempts } = delivery
  const [due, ended] = [delivery.due_at, delivery.ended_at]
  // Closes the dialog first: it would cover the message about the delivery, or a question.
  const again = (): void => (onClose(), replay(delivery))
  return (
    <Dialog title={`Webhook to ${host}`} onClose={onClose}>
      <div class="body">
        <Facts
          facts={[
            ['State', <DeliveryBadge state={state} />],
            ['Last answer', lastAnswerOf(delivery) || NONE],
            ['Attempts', count(attempts)],
            ['Job', <a href={hashOf('jobs', { job })}>{job}</a>],
            ['Workspace', workspace],
            ['Created', <Time at={delivery.created_at} />],
            ['Next attempt', due !== null && <Time at={due} />],
            ['Ended', ended !== null && <Time at={ended} />],
            ['Id', <code>{id}</code>],
          ]}
        />
      </div>
      {state !== 'waiting' && (
        <footer>
          <button type="button" class={state === 'dead' ? 'primary' : undefined} onClick={again}>
            Replay
          </button>
        </footer>
      )}
    </Dialog>
  )
}
