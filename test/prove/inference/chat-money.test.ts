import { program } from './chat-money.ts'
import { short } from '../short.ts'

await short('chat-money', program)
