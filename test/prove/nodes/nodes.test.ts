import { program } from './nodes.ts'
import { short } from '../short.ts'

await short('nodes', program)
