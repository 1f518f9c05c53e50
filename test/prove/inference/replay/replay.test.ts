import { program } from './replay.ts'
import { short } from '../../short.ts'

await short('replay', program)
