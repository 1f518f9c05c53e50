import { program } from '../chat-framing.ts'
import { short } from '../../short.ts'

await short('chat-framing', program, 'translated')
