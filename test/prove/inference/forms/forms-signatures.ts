/** Reasoning that providers sign comes back to them as they gave it, whatever form its caller speaks. */
import type { Program, Proof } from '../../proof.ts'
import { openProtocolFront } from '../protocols/protocol-front.ts'
import type { Converser } from '../signatures/callers/converser.ts'
import { anthropic, openAiChat, openAiResponses } from '../signatures/callers/makers.ts'
import { openRouterChat, openRouterResponses } from '../signatures/callers/openrouter.ts'
import { ownCaller } from '../signatures/callers/own.ts'
import { VERCEL } from '../signatures/callers/vercel.ts'
import { converse, type Cell, type SigningWorld } from '../signatures/converse.ts'
import { IssuedSignatures } from '../signatures/issued.ts'
import { modelsOf } from '../signatures/models.ts'
import { routesAmong } from '../signatures/routes.ts'
import { TURNS } from '../signatures/steps.ts'
import { Faults } from '../streams/faults.ts'

const OWN: readonly Converser[] = [ownCaller('chat'), ownCaller('responses'), ownCaller('messages')]
const CLIENTS: readonly Converser[] = [
  ...[openAiChat, openAiResponses, anthropic, openRouterChat, openRouterResponses],
  ...VERCEL,
]
/** Clients in the short form, and conversations of each caller. */
const SHORT = { clients: 3, one: 1, several: 1 }

export const program: Program = {
  text: 'Five turns of signed reasoning and tools by each client at each protocol, and at models that change in the middle: 0 refused',
  async run(proof) {
    const issued = new IssuedSignatures()
    const models = modelsOf(issued)
    const { base } = await openProtocolFront(proof, models)
    const world = { base, issued, models }
    const routes = routesAmong(models)
    const stays = models.map((model) => ({ name: model.slug, at: () => model }))
    for (const caller of [...OWN, ...chosen(proof, CLIENTS, SHORT.clients)]) {
      await prove(proof, world, {
        text: `${caller.name}: ${TURNS} turns at one model, all signatures come back`,
        cells: chosen(proof, cellsOf(caller, stays), SHORT.one),
      })
      await prove(proof, world, {
        text: `${caller.name}: models that change refuse nothing, and what is left out is named`,
        cells: chosen(proof, cellsOf(caller, routes), SHORT.several),
      })
    }
  },
}

interface NamedCell extends Cell {
  readonly name: string
}

/** Streamed and whole, where the client can both. */
function cellsOf(caller: Converser, routes: readonly Pick<NamedCell, 'name' | 'at'>[]): readonly NamedCell[] {
  const forms = ['whole', 'streamed'].filter((form) => caller.only === undefined || caller.only === form)
  return routes.flatMap(({ name, at }) =>
    forms.map((form) => ({ name: `${name}, ${form}`, caller, at, isStream: form === 'streamed' })),
  )
}

function chosen<T>(proof: Proof, all: readonly T[], count: number): readonly T[] {
  if (!proof.isShort) return all
  const left = [...all]
  return Array.from({ length: count }, () => left.splice(proof.random(left.length), 1)).flat()
}

interface Row {
  readonly text: string
  readonly cells: readonly NamedCell[]
}

async function prove(proof: Proof, world: SigningWorld, { text, cells }: Row): Promise<void> {
  const faults = new Faults()
  const all = { signatures: 0, calls: 0 }
  for (const cell of cells) {
    const { wrong, signatures, calls } = await converse(world, cell)
    all.signatures += signatures
    all.calls += calls
    if (wrong !== null) faults.add(`${cell.name}: ${wrong}`)
    else if (signatures < TURNS) faults.add(`${cell.name}: ${signatures} signatures`)
  }
  proof.check(
    text,
    faults.isNone,
    `${faults.reported(cells.length)}; ${all.calls} calls, ${all.signatures} signatures`,
  )
}
