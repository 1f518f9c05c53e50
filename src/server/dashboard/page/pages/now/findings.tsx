import { h, type ComponentChild } from 'preact'
import type { LiveView } from '../../../../../schemas/operator/live-view.ts'
import { hashOf } from '../../page.ts'
import { count, withCode } from '../../parts/figures.tsx'
import { failedLately } from '../calls/request-filters.tsx'

type Finding = LiveView['findings'][number]

/** The problems in one line: the number of findings, and the worst of them. It expands to all findings with their fixes. */
export function Findings({ latest: { findings } }: { readonly latest: LiveView }): ComponentChild {
  const [worst] = findings
  const failed = (
    <a class="hint" href={hashOf('requests', failedLately())}>
      Failed calls of the last hour
    </a>
  )
  if (worst === undefined)
    return (
      <section class="head" aria-label="Findings">
        <p class="notice good">No problems found.</p>
        {failed}
      </section>
    )
  const keys = keysOf(findings)
  return (
    <section class="head" aria-label="Findings">
      <details class={`findings ${worst.severity}`}>
        <summary>
          <strong>{countText(findings.length)}</strong> <span>{withCode(sentence(worst.text))}</span>
        </summary>
        <ul>
          {findings.map((finding, at) => (
            <li key={keys[at]} class={finding.severity}>
              <FindingText {...finding} />
            </li>
          ))}
        </ul>
      </details>
      {failed}
    </section>
  )
}

function FindingText({ text, fix, page }: Finding): ComponentChild {
  return [
    <strong key="text">{withCode(sentence(text))}</strong>,
    <span key="fix" class="hint">
      {withCode(sentence(fix))}
    </span>,
    page !== undefined && <a key="page" href={`#/${page}`}>{`View ${page.replace(/\?.*/, '')}`}</a>,
  ]
}

export const countText = (findings: number): string =>
  findings === 1 ? '1 finding' : `${count(findings)} findings`

/** Adds a capital letter and a full stop. A text that begins with a command is not capitalized. */
export function sentence(text: string): string {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(begun) ? begun : `${begun}.`
}

/** Keeps the key of a finding while only its figures change: an element must not be recreated under the pointer. */
function keysOf(findings: LiveView['findings']): readonly string[] {
  const counts = new Map<string, number>()
  return findings.map(({ text }) => {
    const kind = text.replace(/[\d.,]+/g, '#')
    const nth = counts.get(kind) ?? 0
    counts.set(kind, nth + 1)
    return `${kind} ${nth}`
  })
}
