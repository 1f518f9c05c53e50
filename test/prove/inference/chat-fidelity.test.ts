import { program } from './chat-fidelity.ts'
import { short } from '../short.ts'

await short('chat-fidelity', program)
