import { program } from './chat-affinity.ts'
import { short } from '../short.ts'

await short('chat-affinity', program)
