import { program } from '../chat-crash.ts'
import { short } from '../../short.ts'

await short('chat-crash', program, 'translated')
