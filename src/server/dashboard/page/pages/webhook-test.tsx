import { h, type ComponentChild } from 'preact'
import type { TestWebhookAnswer } from '../../../../schemas/webhooks/operator-webhooks.ts'
import type { PageContext } from '../page.ts'
import { Confirm } from '../parts/dialog.tsx'
import type { Workspaces } from '../parts/workspaces.ts'

interface SendTestProps {
  readonly context: PageContext
  /** Empty: the default workspace. */
  readonly workspace: string
  readonly workspaces: Workspaces
}

/** Makes the node send a test event, and shows the receiver's answer. */
export function SendTest({ context, workspace, workspaces }: SendTestProps): ComponentChild {
  const { api, say, query, setQuery } = context
  const name = workspace === '' ? 'the default workspace' : workspaces.nameOf(workspace)
  const run = async (): Promise<void> => {
    const body = workspace === '' ? {} : { workspace_id: workspace }
    const { data } = await api.send<TestWebhookAnswer>('POST', ['admin', 'webhooks', 'test'], body)
    const answered = `${data.host} answered ${data.status ?? 'nothing'} after ${data.duration_ms} ms`
    // The dialog shows the error, and the user can try again.
    if (!data.delivered) throw new Error(`Not delivered: ${answered} (${data.reason ?? ''}).`)
    say(`Delivered: ${answered}.`)
  }
  return (
    <span>
      <button type="button" onClick={() => setQuery({ do: 'test' })}>
        Send test
      </button>
      {query.get('do') === 'test' && (
        <Confirm
          title="Send test event?"
          action="Send"
          run={run}
          onClose={() => setQuery({ do: null })}
          text={`Sends one signed webhook.test event to the default callback URL of ${name}.`}
        />
      )}
    </span>
  )
}
