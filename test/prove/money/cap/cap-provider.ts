/** A provider that answers as the prompt says: tokens, tier, and whether it waits. */
import { answersChat, bodyOf, refusesChat } from '../../../support/inference/fake-chat.ts'
import { answersMessages } from '../../../support/inference/fake-messages.ts'
import {
  startFakeProvider,
  type FakeAnswer,
  type FakeCall,
  type FakeProvider,
} from '../../../support/inference/fake-provider.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import type { CapTiers } from './cap-prices.ts'

/** JSON in the prompt. */
export interface CapOrder {
  readonly id: string
  readonly input: number
  readonly output: number
  readonly reported: CapTiers
  /** The stream stops after its first words, until it is let go. */
  readonly isHeld: boolean
  /** Makes the prompt as long as it is to be. */
  readonly pad: string
}

/** Writes of a held stream that go out at once: head, role and a word. */
const HELD_WRITES = 3
const MANY = 1_000
/** Words of an answer, whatever tokens it reports. */
export const WORDS = 4

export interface CapProviders {
  readonly origin: string
  /** Of the one that answers 500, once it is let go. */
  readonly failing: string
  /** Calls that wait there. */
  readonly waiting: number
  /** Those that wait, and those that come later. */
  letGo(): void
  /** From here on calls wait again. Drops what was received. */
  hold(): void
}

export async function startCapProviders(
  after: (close: () => Promise<unknown>) => void,
): Promise<CapProviders> {
  const held: Steps[] = []
  let [isOpen, waiting] = [false, 0]
  let go: () => void = () => undefined
  let gone = new Promise<void>((resolve) => (go = resolve))
  const answering = await startFakeProvider((call, reply) => {
    const steps = new Steps()
    steps.allow(isOpen ? MANY : HELD_WRITES)
    held.push(steps)
    return answerOf(call, steps)(call, reply)
  })
  const failing = await startFakeProvider(async (call, reply) => {
    waiting++
    await gone
    waiting--
    return refusesChat(500)(call, reply)
  })
  const all: readonly FakeProvider[] = [answering, failing]
  after(() => Promise.all(all.map((one) => one.close())))
  return {
    origin: answering.origin,
    failing: failing.origin,
    get waiting() {
      return waiting
    },
    letGo() {
      isOpen = true
      go()
      for (const steps of held.splice(0)) steps.allow(MANY)
    },
    hold() {
      isOpen = false
      gone = new Promise((resolve) => (go = resolve))
      for (const one of all) one.forget()
    },
  }
}

function answerOf(call: FakeCall, steps: Steps): FakeAnswer {
  const { input, output, reported, isHeld } = orderOf(call)
  const plan = isHeld ? { steps } : {}
  const words = Array<string>(WORDS).fill(' abc')
  if (call.path.endsWith('/messages')) {
    const usage = { input_tokens: input, output_tokens: output, ...reported }
    return answersMessages({ words, usage }, plan)
  }
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  return answersChat({ words, usage, more: { service_tier: reported.service_tier ?? null } }, plan)
}

function orderOf(call: FakeCall): CapOrder {
  const { messages } = bodyOf(call) as { messages: readonly { content: unknown }[] }
  const content = messages.at(-1)?.content
  const text = Array.isArray(content) ? (content[0] as { text: string }).text : String(content)
  return JSON.parse(text) as CapOrder
}
