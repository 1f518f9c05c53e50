/** The scenarios of `npm run bench`: each is a program of its own, `bench/<name>.ts`. */
import { CHAT_OPTIONS_TEXT, readChatOptions } from './chat/options.ts'
import { DEPLOYMENT_OPTIONS_TEXT, readDeploymentOptions } from './deployment/options.ts'
import { EMBEDDINGS_OPTIONS_TEXT, readEmbeddingsOptions } from './embeddings/options.ts'
import { LADDER_OPTIONS_TEXT, readLadderOptions } from './ladder/options.ts'
import { LATENCY_OPTIONS_TEXT, readLatencyOptions } from './latency/options.ts'
import { LIMITS_OPTIONS_TEXT, readLimitsOptions } from './limits/options.ts'
import { MIXED_OPTIONS_TEXT, readMixedOptions } from './mixed/options.ts'
import { OPERATIONS_OPTIONS_TEXT, readOperationsOptions } from './operations/options.ts'
import { NEIGHBOURS_OPTIONS_TEXT, readNeighboursOptions } from './neighbours/options.ts'
import type { ReadOptions } from './options.ts'
import { readScalingOptions, SCALING_OPTIONS_TEXT } from './scaling/options.ts'
import { readSizeOptions, SIZE_OPTIONS_TEXT } from './size/options.ts'
import { readSoakOptions, SOAK_OPTIONS_TEXT } from './soak/options.ts'
import { readSweepOptions, SWEEP_OPTIONS_TEXT } from './sweep/options.ts'
import { readStartOptions, START_OPTIONS_TEXT } from './start/options.ts'
import { readStreamsOptions, STREAMS_OPTIONS_TEXT } from './streams/options.ts'
import { readTransferOptions, TRANSFER_OPTIONS_TEXT } from './transfers/options.ts'
import { readValidatorsOptions, VALIDATORS_OPTIONS_TEXT } from './validators/options.ts'
import { readVaultOptions, VAULT_OPTIONS_TEXT } from './vault/options.ts'
import { readVideosOptions, VIDEOS_OPTIONS_TEXT } from './videos/options.ts'

export interface Scenario {
  readonly name: string
  /** One sentence: the subjects of the comparison and the load. */
  readonly text: string
  readonly options: ReadOptions<object>
  /** The options with their defaults. */
  readonly help: string
  /** The scenario's part in the whole suite; null: it runs only when it is named. */
  readonly suite: { readonly args: readonly string[]; readonly seconds: number } | null
  /** Options without which the scenario does not run. */
  readonly needs?: readonly string[]
  /** True when the scenario compares with packages of `tools/peers`. */
  readonly hasPeers: boolean
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'embeddings',
    text: 'CPU, rate and latency of governed embeddings against nginx, HAProxy, a bare relay, Portkey, proxies with the same checks, our ungoverned pipeline',
    options: readEmbeddingsOptions,
    help: EMBEDDINGS_OPTIONS_TEXT,
    suite: { args: ['--duration', '2', '--repeats', '3'], seconds: 133 },
    hasPeers: true,
  },
  {
    name: 'chat',
    text: 'CPU of an event of a stream and of a whole answer, time to the first output, against nginx, a bare relay on the same libraries, Portkey',
    options: readChatOptions,
    help: CHAT_OPTIONS_TEXT,
    suite: { args: ['--duration', '2', '--repeats', '2', '--against', 'nginx,relay'], seconds: 80 },
    hasPeers: true,
  },
  {
    name: 'ladder',
    text: 'what each part that governs a call costs: a bare relay, then one part of the product after the other, up to the whole node',
    options: readLadderOptions,
    help: LADDER_OPTIONS_TEXT,
    suite: null,
    hasPeers: false,
  },
  {
    name: 'latency',
    text: 'latency against offered load, 10 to 90 % of the ceiling: governed embeddings against nginx and other proxies, and a small read',
    options: readLatencyOptions,
    help: LATENCY_OPTIONS_TEXT,
    suite: {
      args: [
        '--duration',
        '1',
        '--repeats',
        '1',
        '--shares',
        '25,50,90',
        '--against',
        'sluice-ungoverned,nginx',
      ],
      seconds: 45,
    },
    hasPeers: true,
  },
  {
    name: 'mixed',
    text: '90 % embeddings, 5 % reads, 4 % uploads of 1 to 20 MB and 1 % videos at a fixed rate: latency of each kind, CPU and memory of all',
    options: readMixedOptions,
    help: MIXED_OPTIONS_TEXT,
    suite: { args: ['--duration', '10', '--repeats', '1'], seconds: 28 },
    hasPeers: false,
  },
  {
    name: 'uploads',
    text: 'CPU, rate and memory of sealed uploads against nginx, node:http + busboy and @tus/server',
    options: readTransferOptions,
    help: TRANSFER_OPTIONS_TEXT,
    suite: { args: ['--payload', '20MB', '--repeats', '3', '--sections', 'speed'], seconds: 45 },
    hasPeers: true,
  },
  {
    name: 'downloads',
    text: 'CPU, rate and memory of plain and sealed downloads against nginx and node:http',
    options: readTransferOptions,
    help: TRANSFER_OPTIONS_TEXT,
    suite: { args: ['--payload', '20MB', '--repeats', '3', '--sections', 'speed'], seconds: 25 },
    hasPeers: true,
  },
  {
    name: 'egress',
    text: 'CPU, rate and added latency of the egress route against nginx as a reverse proxy to the same target over TLS',
    options: readTransferOptions,
    help: TRANSFER_OPTIONS_TEXT,
    suite: { args: ['--payload', '20MB', '--repeats', '3', '--sections', 'speed'], seconds: 38 },
    hasPeers: true,
  },
  {
    name: 'validators',
    text: 'CPU of checking small, large and wrong bodies by typebox 1.x as the product has it, typebox 0.34, ajv and zod',
    options: readValidatorsOptions,
    help: VALIDATORS_OPTIONS_TEXT,
    suite: { args: ['--duration', '1', '--repeats', '1'], seconds: 25 },
    hasPeers: true,
  },
  {
    name: 'vault',
    text: 'latency of a small read beside 300 secrets a second, against the same beside an equal CPU burner; CPU of a write',
    options: readVaultOptions,
    help: VAULT_OPTIONS_TEXT,
    suite: { args: ['--duration', '3', '--repeats', '1'], seconds: 38 },
    hasPeers: false,
  },
  {
    name: 'neighbours',
    text: 'p99 of the calls of one organization beside each cheap attack of another one, over that beside an equal CPU burner; memory of a front',
    options: readNeighboursOptions,
    help: NEIGHBOURS_OPTIONS_TEXT,
    suite: null,
    hasPeers: false,
  },
  {
    name: 'limits',
    text: 'CPU of a call with all limits against one with none; the limiter beside rate-limiter-flexible; what rate limits let through on 1 to 4 fronts',
    options: readLimitsOptions,
    help: LIMITS_OPTIONS_TEXT,
    suite: { args: ['--duration', '1', '--repeats', '1', '--only', 'cpu,beside'], seconds: 45 },
    hasPeers: true,
  },
  {
    name: 'videos',
    text: 'accepted video jobs a second and their latency against an insert and an enqueue with BullMQ alone and pg-boss alone',
    options: readVideosOptions,
    help: VIDEOS_OPTIONS_TEXT,
    suite: { args: ['--duration', '1', '--repeats', '3'], seconds: 47 },
    hasPeers: true,
  },
  {
    name: 'start',
    text:
      'time from exec to the first good answer: on empty data, on data that is there, by npm start, and with --clone ' +
      'from a fresh clone; with --memory what a node takes at rest',
    options: readStartOptions,
    help: START_OPTIONS_TEXT,
    suite: { args: ['--repeats', '2'], seconds: 25 },
    hasPeers: false,
  },
  {
    name: 'soak',
    text: 'memory, descriptors and event-loop delay of every process under 1,000 governed embeddings a second that go on',
    options: readSoakOptions,
    help: SOAK_OPTIONS_TEXT,
    suite: { args: ['--duration', '10'], seconds: 32 },
    hasPeers: false,
  },
  {
    name: 'deployment',
    text: 'a load test of a running deployment from outside, bounded in rate and time: --target URL --key KEY, also behind other names',
    options: readDeploymentOptions,
    help: DEPLOYMENT_OPTIONS_TEXT,
    suite: null,
    needs: ['--target', 'https://sluice.example', '--key', 'KEY'],
    hasPeers: false,
  },
  {
    name: 'streams',
    text: 'a load test of the streams of a running deployment: --target URL --key KEY --stream; time to the first token, gaps between tokens, cut streams',
    options: readStreamsOptions,
    help: STREAMS_OPTIONS_TEXT,
    suite: null,
    needs: ['--target', 'https://sluice.example', '--stream', '--key', 'KEY'],
    hasPeers: false,
  },
  {
    name: 'size',
    text: 'CPU of calls on a node with a million keys, 100,000 models and a million files, against the same on one with few',
    options: readSizeOptions,
    help: SIZE_OPTIONS_TEXT,
    suite: {
      args: [
        '--keys',
        '100000',
        '--models',
        '10000',
        '--files',
        '100000',
        '--duration',
        '1',
        '--repeats',
        '1',
      ],
      seconds: 55,
    },
    hasPeers: false,
  },
  {
    name: 'scaling',
    text: 'what a second front brings calls that its handlers bound, and 1, 2 and 4 worker threads sealed uploads, until the cores are used',
    options: readScalingOptions,
    help: SCALING_OPTIONS_TEXT,
    suite: { args: ['--duration', '2', '--repeats', '1'], seconds: 35 },
    hasPeers: false,
  },
  {
    name: 'sweep',
    text: 'how many fronts and worker threads this machine wants for a mix, in one sentence with its reason; also as --sweep',
    options: readSweepOptions,
    help: SWEEP_OPTIONS_TEXT,
    suite: null,
    hasPeers: false,
  },
  {
    name: 'operations',
    text: 'CPU of a request and rate of each operation of the API, from the list of operations',
    options: readOperationsOptions,
    help: OPERATIONS_OPTIONS_TEXT,
    suite: { args: ['--duration-ms', '150'], seconds: 50 },
    hasPeers: false,
  },
]

export function scenarioOf(name: string): Scenario | null {
  return SCENARIOS.find((one) => one.name === name) ?? null
}
